package release

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// BuildSchema names the JSON form of a Build.
const BuildSchema = "gaprof.version/1"

// Build says what this program was built from and how. What is not known is left out.
type Build struct {
	Schema  string   `json:"schema"`           // BuildSchema
	Version string   `json:"version"`          // Version
	Module  string   `json:"module,omitempty"` // version of the Go module: a tag, or a pseudo-version of a commit
	Commit  string   `json:"commit,omitempty"` // full hash
	Date    string   `json:"date,omitempty"`   // of the commit, RFC 3339, UTC
	Dirty   bool     `json:"dirty"`            // built from files that differ from the commit
	Go      string   `json:"go"`               // version of Go, such as go1.26.1
	OS      string   `json:"os"`               // as Go names it: linux, darwin, windows
	Arch    string   `json:"arch"`             // as Go names it: amd64, arm64
	Tags    []string `json:"tags"`             // build tags, as given
	CGO     bool     `json:"cgo"`              // built with cgo, so not static
}

// What builds from an archive, which knows no repository, may say of themselves:
//
//	-ldflags "-X github.com/gaprof/gaprof/internal/release.commit=... -X ...date=... -X ...dirty=true"
var commit, date, dirty string

// Info returns how this program was built.
func Info() Build {
	b := Build{Schema: BuildSchema, Version: Version, Commit: commit, Date: date, Dirty: dirty == "true",
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Tags: []string{}}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "(devel)" {
		b.Module = v
	}
	for _, s := range info.Settings {
		b.take(s.Key, s.Value)
	}
	return b
}

// take takes one setting of the build.
func (b *Build) take(key, value string) {
	switch key {
	case "vcs.revision":
		b.Commit = value
	case "vcs.time":
		b.Date = value
	case "vcs.modified":
		b.Dirty = value == "true"
	case "CGO_ENABLED":
		b.CGO = value == "1"
	case "-tags":
		b.Tags = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
	}
}

// String is the build in one line.
func (b Build) String() string {
	line := "gaprof " + b.Version + " " + b.OS + "/" + b.Arch + " " + b.Go
	if b.Module != "" {
		line += " module " + b.Module
	}
	if b.Commit != "" {
		line += " commit " + b.Commit
	}
	if b.Dirty {
		line += " modified"
	}
	return line
}
