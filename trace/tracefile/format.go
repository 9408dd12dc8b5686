// Package tracefile is the only place that knows files: which of them are traces,
// how they are compressed and in which format they are.
//
// A file is told by its content, never by its name:
//
//  1. Expand turns what a user names (files, directories, globs, lists) into files.
//  2. Read looks at the first bytes, takes gzip and zstd off, and asks each row of
//     the table of formats whether the text is its own.
//  3. The format reads through a small reused window; nothing holds the whole file.
//
// What cannot be opened or recognised is an *Error, what cannot be read from some
// byte on is a *trace.FormatError; a damaged compressed stream is read up to the
// damage.
package tracefile

import (
	"io"
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
	read       func(src source, file string, o Options) ([]*trace.Trace, error)
	write      func(w io.Writer, t *trace.Trace) error
}

// formats is the table; the first that recognises a file reads it.
var formats = []format{
	{
		name: "chrome", extensions: []string{".json"}, known: []string{".json"},
		sniff: chrome.Sniff, read: readChrome, write: chrome.Write,
	},
	{
		name: text.Format, extensions: []string{".txt"}, known: []string{".trace.txt"},
		sniff: text.Sniff, read: readText, write: text.Write,
	},
	{
		name: "csv", extensions: []string{".csv"},
		write: csv.Write,
	},
}

// source is the text of a file as a format reads it.
type source struct {
	io.Reader
	hint int64 // bytes, guessed; 0: unknown
	// at gives the same text at any place where that is possible, else it is nil, and
	// size is its length in bytes.
	at   io.ReaderAt
	size int64
	text *mapping // the same in memory, or nil
	// again gives the text once more where it is decompressed, else it is nil; then it
	// is for the format to read ahead.
	again func() (io.Reader, error)
}

func readChrome(src source, file string, o Options) ([]*trace.Trace, error) {
	opts := chrome.Options{File: file, KeepArgs: o.KeepArgs, Strict: o.Strict, Reach: o.Reach, SizeHint: src.hint,
		At: src.at, Size: src.size, Again: src.again, Tables: o.Tables}
	if src.text != nil {
		opts.Map = src.text
	}
	return chrome.Read(src, opts)
}

func readText(src source, file string, o Options) ([]*trace.Trace, error) {
	t, err := text.Read(src, file)
	if err != nil {
		return nil, err
	}
	for _, p := range t.Problems() {
		if o.Strict && p.Code.Info().Strict {
			return nil, &trace.FormatError{File: file, Offset: max(p.Offset, 0), Reason: p.Message()}
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

// isKnown tells whether a directory that holds a file called name holds a trace by
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
