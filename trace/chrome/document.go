package chrome

import (
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/event"
	"github.com/gaprof/gaprof/trace/chrome/input"
	"github.com/gaprof/gaprof/trace/chrome/pool"
)

// document is one trace of the input that is not built yet.
type document struct {
	b      *trace.Builder
	offset int64
	kineto bool
}

// reader reads one input: its documents, and the header and the event list of each. Events
// are read by the embedded Reader, and ahead of it by a pool of workers.
type reader struct {
	event.Reader
	opts   Options
	source input.Text
	pos    int // between documents: where the next one begins
	memory memory

	b        *trace.Builder // of the document, whose other state follows
	start    int64          // its offset
	marked   bool           // a byte-order mark stands before it
	cutOff   bool           // the input ended within an event
	rescan   int64          // bytes that were read again to find the next event
	reserved int64          // rows there is room for

	pool   *pool.Pool  // those who read the list at hand with this reader; nil for none
	taken  int64       // bytes of the document that they read
	alone  bool        // no pool is to be formed
	panics pool.Panics // of all pools so far
}

// readers are readers that are done: much of their tables has a fixed size, which is more
// than many a file.
var readers = sync.Pool{New: func() any { return new(reader) }}

// close gives back what d takes. Nobody may use d afterwards.
func (d *reader) close() {
	d.Close()
	*d = reader{}
	readers.Put(d)
}

// newReader returns a reader of src; an event may span reach bytes.
func newReader(src io.Reader, o Options, reach int) *reader {
	d := readers.Get().(*reader)
	d.opts, d.source = o, input.Text{At: o.At, Size: o.Size, Map: o.Map, Again: o.Again}
	d.Window, d.Reach = input.NewWindow(src), reach
	d.alone = o.Alone || runtime.GOMAXPROCS(0) < 2 && o.chunk == 0
	if d.alone { // else workers read what is mapped, and d what they leave
		d.source.ReadMapped(&d.Window)
	}
	return d
}

// eventOptions is how events are read, by whomever.
func (d *reader) eventOptions() event.Options {
	return event.Options{KeepArgs: d.opts.KeepArgs, RulesOnly: d.opts.rules}
}

// begin makes the reader ready for a document whose first byte is at i.
func (d *reader) begin(i int) {
	d.b = trace.NewBuilder()
	d.start, d.cutOff = d.At(i), false
	d.reserved, d.taken = 0, 0
	o := d.eventOptions()
	o.Window = d.widen
	d.Begin(d.b, o)
	if d.marked {
		d.b.Problem(trace.ByteOrderMark, 0, "")
	}
}

// widen widens the profiler's own window to the span from start to end, in ns.
func (d *reader) widen(start, end int64) {
	m := d.b.Meta()
	if m.WindowStart == 0 && m.WindowEnd == 0 {
		m.WindowStart, m.WindowEnd = start, end
	}
	m.WindowStart, m.WindowEnd = min(m.WindowStart, start), max(m.WindowEnd, end)
}

func (d *reader) finish() *document {
	d.isRefused()
	d.memory.finished.add(d.b)
	m := d.b.Meta()
	m.EventsInFile = d.Counts.Events
	m.Format = "chrome"
	if d.Counts.Kineto {
		m.Format = "kineto"
	}
	return &document{b: d.b, offset: d.start, kineto: d.Counts.Kineto}
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
	// which names were the last to find room depends on the order in which they came
	if d.taken > 0 && d.b.Full() && d.memory.refused == nil {
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
	if reason == "" && d.Counts.Events == 0 && d.Counts.Others > 0 {
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
