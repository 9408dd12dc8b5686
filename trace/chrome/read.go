package chrome

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
)

// Options tells Read how to read. Its zero value is right for analysing.
type Options struct {
	File     string // for messages
	KeepArgs bool   // keep every argument, else only those that trace.FixedKey knows
	Strict   bool   // the first damage whose Info().Strict is true becomes a *trace.FormatError
	Reach    int    // bytes that one event or header value may span, 0 for 256 MiB; longer ones are dropped as damage
	SizeHint int64  // decompressed bytes if known, else 0: room for the columns is made at once

	// At, if not nil, gives the same bytes as the reader, at any offset and to several
	// goroutines at once, and Size is how many there are. The events of a large input are
	// then read on all cores, with the same result.
	At   io.ReaderAt
	Size int64
	// Map, if not nil, gives the bytes of At in memory, which saves copies. Read may then
	// fault if the file is truncated meanwhile.
	Map Mapped

	// Again, if not nil, says that the reader is slow, as decompression is, and reopens the
	// same bytes from their beginning, which is hardly ever needed. The reader is then read
	// ahead in another goroutine, and the events of a large input are read on all cores,
	// with the same result. A reader that is an inflate.Filler saves a copy.
	Again func() (io.Reader, error)

	// Alone says that other goroutines are busy: this one reads everything.
	Alone bool

	// Tables, if not nil, is told now and then how many bytes of memory reading takes, or
	// will take when the trace is built. Its error ends reading and is what Read returns.
	Tables func(bytes int64) error

	// Panicked, if not nil, is called when reading ends if any of the goroutines that read
	// ahead panicked: how many, and what the first of them said, with its stack. The result
	// is right all the same, because their chunks were read again, only slower; but each is
	// a bug of this program.
	Panicked func(workers int64, first string)

	chunk int64 // bytes of a chunk that a worker reads at a time; 0 for what suits Size
	rules bool  // nothing is learned, every event is read by the rules: tests compare with this
}

// Sniff reports whether an input that begins with head could be Chrome JSON.
func Sniff(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte(mark)), " \t\r\n")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

// mark is the byte-order mark of UTF-8.
const mark = "\xef\xbb\xbf"

// maxValue is how many bytes one event or header value may span.
const maxValue = 256 << 20

// maxDocuments is how many traces one file may hold, because each has tables of its own.
const maxDocuments = 2_000

// Read reads every document in r, usually one, each into a trace of its own. What
// was repaired or dropped is listed in Trace.Problems; a read error from r counts as
// the end of the input. err is a *trace.FormatError if nothing could be read, or if
// o.Strict is set and anything was damaged; or it is what o.Tables returned.
func Read(r io.Reader, o Options) ([]*trace.Trace, error) {
	reach := maxValue
	if o.Reach > 0 {
		reach = min(o.Reach, maxValue)
	}
	d := newReader(r, o, reach)
	defer d.close()
	defer d.tellPanics()
	defer d.Release()
	defer d.readAhead()()
	doc, err := d.first()
	if err != nil {
		return nil, err
	}
	var docs []*document
	for ; doc != nil; doc = d.next() {
		if docs = append(docs, doc); len(docs) == maxDocuments {
			if i := d.Space(d.pos); i < d.N {
				d.b.Problem(trace.TrailingData, d.At(i), "")
			}
			break
		}
	}
	if d.memory.refused != nil {
		return nil, d.memory.refused
	}
	if d.Err != nil {
		d.b.Problem(trace.CompressionDamage, d.At(d.N), d.Err.Error())
	}
	return build(docs, o)
}

// build makes a trace of each document.
func build(docs []*document, o Options) ([]*trace.Trace, error) {
	traces := make([]*trace.Trace, len(docs))
	for i, doc := range docs {
		if len(docs) > 1 {
			doc.b.Problem(trace.SeveralDocuments, doc.offset, fmt.Sprintf("%d in this file", len(docs)))
		}
		if !doc.kineto {
			adaptXLA(doc.b)
		}
		traces[i] = doc.b.Build()
		if err := strictError(traces[i], o); err != nil {
			return nil, err
		}
	}
	return traces, nil
}

// strictError is the first damage of t where the options refuse any.
func strictError(t *trace.Trace, o Options) error {
	if !o.Strict {
		return nil
	}
	var first *trace.Problem
	for i, p := range t.Problems() {
		if !p.Code.Info().Strict {
			continue
		}
		if first == nil || p.Offset >= 0 && (p.Offset < first.Offset || first.Offset < 0) {
			first = &t.Problems()[i]
		}
	}
	if first == nil {
		return nil
	}
	return &trace.FormatError{File: o.File, Offset: max(first.Offset, 0), Reason: first.Message()}
}

// Mapped is a text that is in memory because its file is mapped.
type Mapped = input.Mapped
