// Package readertest tests the reader of a trace format, as testing/fstest tests file
// systems.
//
// Every reader reads the same small trace, each in the syntax of its format: package
// testdata holds it as canonical.FORMAT.EXT, written as writers of that format write it.
// Test compares what was read with Events, Tracks and Meta, which are that trace as values,
// and then looks at what becomes of it when it is empty, cut or damaged.
//
//	readertest.Test(t, readertest.Reader{
//		Format: "nsys",
//		Read:   func(name string, content []byte, strict bool) ([]*trace.Trace, error) { ... },
//		Lacks:  map[readertest.Part]string{readertest.Flows: "has none: correlation ids say the same"},
//	})
//
// What all of it must amount to, that steps, launches and collectives are found in what
// was read, is tested where analyses are at hand, with the same files (internal/ingest).
// docs/formats/readers.md says what a reader must fill, and why.
//
//	readertest.go  Reader, what is tested
//	canonical.go   the canonical trace as values
//	whole.go       the whole trace
//	damage.go      a trace that is empty, cut or damaged
package readertest

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// Reader is a reader to be tested.
type Reader struct {
	Format string // its name in the table of formats

	// Read reads a file that is called name, with all arguments kept; strict refuses
	// damage.
	Read func(name string, content []byte, strict bool) ([]*trace.Trace, error)

	// Lacks are the parts of the canonical trace that the format cannot hold, with the
	// reason. Everything else must be there.
	Lacks map[Part]string

	// NoEnd says that nothing ends a file, so that a cut cannot always be noticed, and the
	// last event before it may be a part of one.
	NoEnd bool

	Damage []Damage
}

// Damage is an edit of the canonical file that its reader notices.
type Damage struct {
	Name     string
	Old, New string     // Old stands in the file exactly once
	Code     trace.Code // under which it is counted, once; empty: the file is refused at its place
	Event    string     // events whose names begin so may be left out or changed; all others must be as they were
}

// Part is a part of the canonical trace that a format may lack.
type Part string

// The parts. What is not among them every format must hold: host spans with their
// categories, device activity on streams, times, correlation ids and nesting.
const (
	ExternalIDs Part = "External ids"
	Flows       Part = "flow events"
	Instants    Part = "instant events"
	Counters    Part = "counter events"
	Arguments   Part = "arguments"
	Names       Part = "names of processes and threads"
	Devices     Part = "names of devices"
	Distributed Part = "distributed information"
	Window      Part = "the span of the profiler"
	BaseTime    Part = "the date"
)

//go:embed testdata
var files embed.FS

// File is the canonical trace in the syntax of a format, and the name of that file.
func File(format string) (name string, content []byte, err error) {
	names, err := fs.Glob(files, "testdata/canonical."+format+".*")
	if err != nil || len(names) != 1 {
		return "", nil, fmt.Errorf("%d files testdata/canonical.%s.*, error %w", len(names), format, err)
	}
	content, err = files.ReadFile(names[0])
	return path.Base(names[0]), content, err
}

// Formats are the formats of which there is a file.
func Formats() []string {
	names, _ := fs.Glob(files, "testdata/canonical.*.*") // the pattern is valid
	for i, name := range names {
		names[i] = strings.Split(path.Base(name), ".")[1]
	}
	return names
}

// Test runs all tests of a reader.
func Test(t *testing.T, r Reader) {
	name, content, err := File(r.Format)
	if err != nil {
		t.Fatal(err)
	}
	f := file{r, name, content}
	t.Run("whole", func(t *testing.T) { f.testWhole(t) })
	t.Run("empty", func(t *testing.T) { f.testEmpty(t) })
	t.Run("cut", func(t *testing.T) { f.testCut(t) })
	for _, d := range r.Damage {
		t.Run("damage/"+d.Name, func(t *testing.T) { f.testDamage(t, d) })
	}
}

// report is the part of testing.T that tests use, so that they can be tested.
type report interface {
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Failed() bool
}

// file is a reader with its canonical file.
type file struct {
	Reader
	name    string
	content []byte
}
