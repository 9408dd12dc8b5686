package tracefile

import (
	"io"
	"math"
	"runtime/debug"
	"strings"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome"
	"github.com/gaprof/gaprof/trace/csv"
	"github.com/gaprof/gaprof/trace/text"
)

// format is one row of the table of formats.
type format struct {
	name       string
	extensions []string // of files to write
	known      []string // names that a directory is searched for
	sniff      func(head []byte) bool
	read       func(src *Source, o Options) ([]*trace.Trace, error)
	write      func(w io.Writer, t *trace.Trace) error

	// density is how many bytes of memory a byte of text takes at most, while it is read
	// and analysed, besides the windows and tables that any reader has: the columns of
	// the trace, their arguments, the facts, and a quarter of garbage. Readers that call
	// Options.Tables need not cover odd files here.
	density float64
}

// formats is the table; the first that recognises a file reads it.
var formats = []format{
	{
		name: "chrome", extensions: []string{".json"}, known: []string{".json"},
		sniff: chrome.Sniff, read: readChrome, write: chrome.Write,
		density: 0.5, // measured: 0.25 to 0.55, docs/performance.md
	},
	{
		name: text.Format, extensions: []string{".txt"}, known: []string{".trace.txt"},
		sniff: text.Sniff, read: readText, write: text.Write,
		density: 0.5,
	},
	{
		name: "csv", extensions: []string{".csv"},
		write: csv.Write,
	},
}

// densest is the density to reckon with where the format is not known.
func densest() float64 {
	most := 0.0
	for _, f := range formats {
		most = max(most, f.density)
	}
	return most
}

func readChrome(src *Source, o Options) ([]*trace.Trace, error) {
	opts := chrome.Options{
		File: src.File, KeepArgs: o.KeepArgs, Strict: o.Strict, Reach: o.Reach, SizeHint: src.Length, Tables: o.Tables,
		Panicked: o.Panicked, Alone: src.Alone,
	}
	opts.At, opts.Size = src.At()
	opts.Again = src.Again()
	if opts.Map = src.Mapped(); opts.Map == nil {
		return chrome.Read(src, opts)
	}
	traces, faulted, err := readMapped(src, opts)
	if faulted {
		opts.Map = nil
		traces, err = chrome.Read(io.NewSectionReader(opts.At, 0, math.MaxInt64), opts)
	}
	return traces, err
}

// readMapped reads a file that is mapped. It reports whether that came upon a page that is
// gone because somebody cut the file: then the file is to be read as it is now.
func readMapped(src *Source, o chrome.Options) (traces []*trace.Trace, faulted bool, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // of this goroutine
	defer func() {
		bug := recover()
		if _, faulted = bug.(interface{ Addr() uintptr }); bug != nil && !faulted {
			panic(bug)
		}
	}()
	traces, err = chrome.Read(src, o)
	return traces, false, err
}

func readText(src *Source, o Options) ([]*trace.Trace, error) {
	t, err := text.ReadWith(src, text.Options{File: src.File, Reach: o.Reach, Tables: o.Tables})
	if err != nil {
		return nil, err
	}
	for _, p := range t.Problems() {
		if o.Strict && p.Code.Info().Strict {
			return nil, &trace.FormatError{File: src.File, Offset: max(p.Offset, 0), Reason: p.Message()}
		}
	}
	return []*trace.Trace{t}, nil
}

// Writable returns the names of the formats that Write knows.
func Writable() []string {
	var names []string
	for _, f := range formats {
		if f.write != nil {
			names = append(names, f.name)
		}
	}
	return names
}

// sniff returns the format that the first bytes of the text belong to.
func sniff(head []byte) (format, bool) {
	for _, f := range formats {
		if f.sniff != nil && f.sniff(head) {
			return f, true
		}
	}
	return format{}, false
}

// writer returns the format to write: the one called name, or where name is empty
// the one that path's extension belongs to.
func writer(path, name string) (format, bool) {
	path, _ = compressionOf(path)
	for _, f := range formats {
		if f.name == name {
			return f, true
		}
		for _, ext := range f.extensions {
			if name == "" && strings.HasSuffix(path, ext) {
				return f, true
			}
		}
	}
	return format{}, false
}

// compressionOf splits .gz or .zst off a path.
func compressionOf(path string) (rest, ext string) {
	for _, ext := range []string{".gz", ".zst"} {
		if rest, ok := strings.CutSuffix(path, ext); ok {
			return rest, ext
		}
	}
	return path, ""
}

// isKnown reports whether a directory that holds a file called name holds a trace by
// that name.
func isKnown(name string) bool {
	name, _ = compressionOf(name)
	if strings.HasPrefix(name, ".") {
		return false
	}
	for _, f := range formats {
		for _, end := range f.known {
			if strings.HasSuffix(name, end) {
				return true
			}
		}
	}
	return false
}
