package gaprof

import (
	"fmt"
	"io"

	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// Open reads the trace in a file, with all arguments of its events. A file that holds
// several traces is an error: [OpenAll] returns all of them. Errors are *tracefile.Error
// where the file cannot be opened or is no trace, and *trace.FormatError where it cannot be
// read from some byte on.
func Open(file string) (*trace.Trace, error) {
	list, err := ingest.ReadFile(file, ingest.Options{KeepArgs: true})
	if err != nil {
		return nil, err
	}
	return only(list, file)
}

// OpenAll reads all traces that paths name, in the order of the paths, with all arguments
// of their events. A path is a file, a folder with everything in and below it, a pattern
// with *, ?, [a-z] and **, or @FILE for a list of paths. All of them are in memory together;
// Analyze needs far less. A file that cannot be read is an error.
func OpenAll(paths ...string) ([]Input, error) {
	files, err := tracefile.Expand(paths)
	if err != nil {
		return nil, err
	}
	var inputs []Input
	for _, file := range files {
		list, err := ingest.ReadFile(file, ingest.Options{KeepArgs: true})
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			inputs = append(inputs, Input{File: file, Trace: t})
		}
	}
	return inputs, nil
}

// Read reads the trace in a stream, compressed or not, with all arguments of its events.
// Several traces in it are an error.
func Read(r io.Reader) (*trace.Trace, error) {
	list, err := tracefile.ReadFrom(r, "stream", tracefile.Options{KeepArgs: true})
	if err != nil {
		return nil, err
	}
	return only(list, "stream")
}

// only is the one trace of a file or stream.
func only(list []*trace.Trace, file string) (*trace.Trace, error) {
	if len(list) == 1 {
		return list[0], nil
	}
	return nil, &tracefile.Error{File: file, Reason: fmt.Sprintf("holds %d traces, not one", len(list))}
}
