//go:build !unix

package bounded

// nonblocking is not needed where pipes are no files.
const nonblocking = 0
