//go:build linux || darwin

package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/gaprof/gaprof/internal/tracegen"
)

// default.pgo is what the compiler goes by when it decides which calls are worth taking
// into their callers. It is written anew, after changes to what is hot, by
//
//	make profile
var profileFile = flag.String("profile", "", "with -bench EndToEnd: write the profile that builds go by to this file")

func init() {
	profiled = func(b *testing.B) bool {
		if *profileFile != "" {
			writeProfile(b)
		}
		return *profileFile != ""
	}
}

// profileRuns is how often each input is read for the profile; recorded ones are what
// people have.
const profileRuns, recordedRuns = 12, 24

// writeProfile writes the profile of the program on all kinds of inputs.
func writeProfile(b *testing.B) {
	var files []string
	for _, in := range inputs {
		if in.bytes != 100e6 {
			continue
		}
		path, _ := benchFile(b, in.shape, in.bytes)
		if in.packed {
			path = pack(b, path)
		}
		files = append(files, slices.Repeat([]string{path}, profileRuns)...)
	}
	if path, _ := recordedFile(b, 10); path != "" {
		files = append(files, slices.Repeat([]string{path}, recordedRuns)...)
	} else {
		b.Log("recorded traces are not in it: ../shared is not here")
	}
	small, _ := benchFile(b, tracegen.AsIs, 10e6)
	files = append(files, slices.Repeat([]string{small}, profileRuns)...)

	var raw bytes.Buffer
	must(b, pprof.StartCPUProfile(&raw))
	for _, path := range files {
		code := run([]string{"analyze", "--format", "json", "-o", os.DevNull, path}, nil, io.Discard, io.Discard)
		if code != exitOK {
			b.Fatalf("exit %d", code)
		}
	}
	pprof.StopCPUProfile()
	p, err := profile.Parse(&raw)
	must(b, err)
	p, err = forCompiler(p)
	must(b, err)
	f, err := os.Create(*profileFile)
	must(b, err)
	must(b, p.Write(f))
	must(b, f.Close())
}

// forCompiler is p with what the compiler asks for, functions and lines, and nothing of
// the machine that it was made on.
func forCompiler(p *profile.Profile) (*profile.Profile, error) {
	p.Mapping, p.Comments, p.TimeNanos = nil, nil, 0
	for _, f := range p.Function {
		f.Filename = ""
	}
	for _, l := range p.Location {
		l.Mapping, l.Address = nil, 0
	}
	return profile.Merge([]*profile.Profile{p}) // what has become equal
}

// TestBuildProfile: the profile that builds go by knows the hot loop by its name of today,
// and says nothing of the machine that it was made on.
func TestBuildProfile(t *testing.T) {
	p := readProfile(t, "default.pgo")
	hot := false
	for _, f := range p.Function {
		hot = hot || strings.HasSuffix(f.Name, "trace/chrome/event.(*Reader).repeat")
		if f.Filename != "" {
			t.Errorf("%s stands in %q", f.Name, f.Filename)
		}
	}
	if !hot || len(p.Mapping) > 0 || len(p.Comments) > 0 {
		t.Errorf("knows the hot loop: %v; mappings: %v; comments: %v", hot, p.Mapping, p.Comments)
	}
}
