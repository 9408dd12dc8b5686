package chrome

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/input"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// Options tells Read how to read. Its zero value is right for analysing.
type Options struct {
	File     string // for messages
	KeepArgs bool   // keep every argument, else only those that trace.FixedKey knows
	Strict   bool   // the first damage whose Info().Strict is true becomes a *trace.FormatError
	Reach    int    // bytes that one event or header value may span, 0 for 256 MiB; longer ones are left out as damage
	SizeHint int64  // decompressed bytes if known, else 0: room is made at once

	// At, where it is not nil, gives the same bytes as the reader, at any place and to
	// several goroutines at once, and Size is how many there are: then the events of a
	// large input are read on all cores. The result is the same.
	At   io.ReaderAt
	Size int64
	Map  Mapped // nil, or the same once more, which is used where it can be

	// Again, where it is not nil, says that the reader is slow, as decompression is, and
	// gives the same bytes once more from their beginning, which is hardly ever asked
	// for: then the reader is read ahead in another goroutine, and the events of a large
	// input are read on all cores. The result is the same. A reader that is an
	// inflate.Filler saves a copy.
	Again func() (io.Reader, error)

	// Tables is told now and then how many bytes of memory reading takes, or will take
	// when the trace is built. Its error ends reading and is what Read returns.
	Tables func(bytes int64) error

	chunk int64 // bytes of a chunk that a core reads at a time; 0 for what suits Size
	rules bool  // nothing is learned, every event goes by the rules: what is fast is tested against this
}

// Sniff tells whether an input that begins with head could be Chrome JSON.
func Sniff(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte(mark)), " \t\r\n")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

// mark is the byte-order mark of UTF-8.
const mark = "\xef\xbb\xbf"

// maxValue is how many bytes one event or header value may span.
const maxValue = 256 << 20

// maxDocuments is how many traces one file may hold: each has tables of its own.
const maxDocuments = 2_000

// Read reads every document in r, usually one, each into a trace of its own. What
// was repaired or left out stands in Trace.Problems; a read error from r counts as
// the end of the input. err is a *trace.FormatError where nothing could be read,
// or where o.Strict is set and anything was damaged.
func Read(r io.Reader, o Options) ([]*trace.Trace, error) {
	reach := maxValue
	if o.Reach > 0 {
		reach = min(o.Reach, maxValue)
	}
	d := newReader(r, o, reach)
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
	if d.refused != nil {
		return nil, d.refused
	}
	if d.Err != nil {
		d.b.Problem(trace.CompressionDamage, d.At(d.N), d.Err.Error())
	}
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

// document is one trace of the input while it is built.
type document struct {
	b      *trace.Builder
	offset int64
	kineto bool
}

// reader reads one input.
type reader struct {
	token.Scanner
	opts   Options
	source input.Text
	pos    int // between documents: where the next one begins

	b      *trace.Builder
	kineto bool  // the category of an event or a header entry is Kineto's
	events int64 // that stood in the document
	others int64 // entries of the event list that could not be read as events
	marked bool  // a byte-order mark stood before the document
	start  int64 // offset of the document

	ev      event
	args    []trace.Arg
	eventNo int64

	digits   []byte
	keyEvent []int64 // by key: the event that carried it last
	reserved int64   // rows there is room for
	cutOff   bool    // the input ended within an event
	rescan   int64   // bytes that were read again to find the next event
	known    map[trace.Code]bool
	finished size  // of the documents before
	refused  error // by Options.Tables

	team   *team      // those who read the list at hand with this reader; nil for none
	taken  int64      // bytes of the document that they read
	alone  bool       // no team is to be formed
	isHand bool       // this reader is one of a team
	spans  [][2]int64 // of the profiler's own window, noted by one of a team

	gap      gap
	moment   scan.Moment
	part     int // number of the part that is being made, where this reader is one of a team
	hops     map[hopKey]*hop
	learning int64 // eventNo when learning them began
	opening  *hop  // what the next event's first hop is looked up in
	unknown  hop   // the hop at hand, where it is not learned

	cats   catTable
	labels [slots]label
	names  nameTable
	memos  memoTable
	tracks trackTable
}

// newReader returns a reader of src; an event may span reach bytes.
func newReader(src io.Reader, o Options, reach int) *reader {
	d := &reader{opts: o, source: input.Text{At: o.At, Size: o.Size, Map: o.Map, Again: o.Again}}
	d.Window, d.Reach = input.NewWindow(src), reach
	return d
}

// flush counts what was noted, with the event's name where it is the first.
func (d *reader) flush() {
	for _, n := range d.Notes {
		detail := ""
		if !d.known[n.Code] {
			d.known[n.Code] = true
			detail = string(scan.Cut([]byte(d.b.String(d.ev.row.Name)), 80))
		}
		d.b.Problem(n.Code, n.At, detail)
	}
	d.Notes = d.Notes[:0]
}

// begin makes the reader ready for a document whose first byte is at i.
func (d *reader) begin(i int) {
	d.b = trace.NewBuilder()
	d.cutOff, d.reserved, d.taken = false, 0, 0
	d.kineto, d.events, d.others, d.start = false, 0, 0, d.At(i)
	d.known = make(map[trace.Code]bool)
	d.forgetHops()
	d.cats, d.labels, d.tracks = catTable{}, [slots]label{}, trackTable{}
	d.names, d.memos = nameTable{}, newMemoTable()
	d.ev, d.Notes = event{}, d.Notes[:0]
	if d.marked {
		d.b.Problem(trace.ByteOrderMark, 0, "")
	}
}

func (d *reader) finish() *document {
	d.isRefused()
	d.finished.add(d.b)
	m := d.b.Meta()
	m.EventsInFile = d.events
	m.Format = "chrome"
	if d.kineto {
		m.Format = "kineto"
	}
	return &document{b: d.b, offset: d.start, kineto: d.kineto}
}

// first reads the first document of the input.
func (d *reader) first() (*document, error) {
	d.Fill()
	if d.marked = d.Has(0, mark); d.marked {
		d.pos = len(mark)
	}
	i := d.Space(d.pos)
	if i >= d.N {
		return nil, d.refuse(i, "the input is empty")
	}
	if c := d.Buf[i]; c != '{' && c != '[' {
		return nil, d.refuse(i, notJSON(d.Buf[i:d.N]))
	}
	at := d.At(i)
	if reason := d.body(i); reason != "" {
		return nil, d.refuse(int(at-d.Base), reason)
	}
	d.marked = false
	return d.finish(), nil
}

// next reads one more document; it is nil at the end of the input, or where
// something else follows, which is noted to the document before.
func (d *reader) next() *document {
	before, i := d.b, d.Space(d.pos)
	if i >= d.N {
		return nil
	}
	at := d.At(i)
	if c := d.Buf[i]; c == '{' || c == '[' {
		if d.body(i) == "" {
			return d.finish()
		}
	}
	d.b = before
	d.b.Problem(trace.TrailingData, at, "")
	return nil
}

// body reads the document at i and sets d.pos behind it; reason says why it is
// not a trace.
func (d *reader) body(i int) (reason string) {
	at, rescan := d.At(i), d.rescan
	reason = d.document(i)
	if d.taken > 0 && d.b.Full() && d.refused == nil { // which names were the last to find room depends on the order
		d.source.Restart(&d.Window, at)
		alone := d.alone
		d.alone, d.rescan = true, rescan
		reason = d.document(0)
		d.alone = alone
	}
	return reason
}

func (d *reader) document(i int) (reason string) {
	d.begin(i)
	if d.Buf[i] == '{' {
		reason = d.object(i)
	} else {
		d.pos, _ = d.list(i+1, inList)
	}
	if reason == "" && d.events == 0 && d.others > 0 {
		reason = "an event list without any trace event in it"
	}
	return reason
}

func (d *reader) refuse(i int, reason string) error {
	if d.Err != nil {
		reason += fmt.Sprintf(" (reading ended with: %v)", d.Err)
	}
	return &trace.FormatError{File: d.opts.File, Offset: d.At(i), Reason: reason}
}

// Mapped is a text that stands in memory because its file is mapped.
type Mapped = input.Mapped
