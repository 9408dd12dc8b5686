// Package release says which version of gaprof this is, for the command and for the
// packages that name it in reports.
package release

// Version is the release.
const Version = "0.1"
