package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// reportReader reads reports, all of them together within the memory that a command may
// take.
type reportReader struct {
	limit int64 // bytes
	left  int64 // of them
}

// programMemory is what the program takes besides what it reads, in bytes.
const programMemory = 32e6

func newReportReader(l ingest.Limits) *reportReader {
	return &reportReader{l.Memory, max(l.Memory-programMemory, 0)}
}

// reportHead is how many bytes of a file are looked at to tell a report from a trace.
const reportHead = 512

// sized is text of a file of so many bytes, which may be compressed.
type sized struct {
	io.Reader
	bytes int
}

func (s sized) Len() int { return s.bytes }

// open reads a file that holds a report, compressed or not. It returns nil for any other
// file, which the readers of traces judge.
func (r *reportReader) open(s streams, file string) (*report.Report, error) {
	var in *bufio.Reader
	size := 0
	stdin, peeked := s.in.(*bufio.Reader)
	switch {
	case file == tracefile.Stdin && peeked:
		in = stdin
	default:
		text, err := tracefile.OpenText(file)
		if err != nil {
			return nil, nil
		}
		defer text.Close()
		in, size = bufio.NewReader(text), int(text.Stored)
	}
	if head, _ := in.Peek(reportHead); !report.Sniff(head) {
		return nil, nil
	}
	ingest.CollectSeldom() // what is decoded has pointers everywhere, and stays
	made, used, err := report.ReadWithin(sized{in, size}, r.left)
	if err != nil {
		return nil, r.unreadable(file, err)
	}
	r.left -= used
	if len(made.Source.Ranks) == 0 {
		return nil, &codeError{
			code: exitInput,
			err:  fmt.Errorf("%s: the report has no ranks", strings.TrimSpace(file)),
		}
	}
	return made, nil
}

// unreadable is the error of a report that could not be read.
func (r *reportReader) unreadable(file string, err error) error {
	var much *bounded.TooMuch
	var bomb *tracefile.Error
	switch {
	case errors.As(err, &bomb):
		return bomb
	case !errors.As(err, &much):
		return &codeError{exitInput, fmt.Errorf("%s: %w", file, err), "write it with gaprof analyze --format json"}
	}
	reason := fmt.Sprintf("byte %d: the report needs more than %s of memory; the limit is %s", much.Offset,
		units.Bytes(r.left), units.Bytes(r.limit))
	if r.left < r.limit-programMemory {
		reason += ", of which other reports hold " + units.Bytes(r.limit-programMemory-r.left)
	}
	return &codeError{exitInput, fmt.Errorf("%s: %s", file, reason), "raise --mem-limit, or analyze fewer steps"}
}

// isReport reports whether a file that could not be read as a trace begins like a
// report.
func isReport(file string) bool {
	f, _, err := bounded.Plain(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, reportHead)
	n, _ := io.ReadFull(f, head)
	return report.Sniff(head[:n])
}
