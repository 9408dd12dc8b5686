package event

import (
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/template"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// Options say how to read events. The zero value is right for analysing.
type Options struct {
	KeepArgs bool // keep every argument, else only those that trace.FixedKey knows
	// RulesOnly says that nothing is learned: every event is read by the rules. Tests
	// compare what templates give with what this gives.
	RulesOnly bool

	// Window is told of each span of the profiler's own window, in ns.
	// It may be nil.
	Window func(start, end int64)
}

// Counts says what became of the entries of an event list.
type Counts struct {
	Events  int64 // entries that are events
	Others  int64 // entries that could not be read as events
	ByRules int64 // entries that repeat no earlier one: what a reader is slow at
	Kineto  bool  // an event has a category of Kineto's, or the owner saw other signs of it
}

// Add adds the counts of another stretch of the same list.
func (c *Counts) Add(more Counts) {
	c.Events += more.Events
	c.Others += more.Others
	c.ByRules += more.ByRules
	c.Kineto = c.Kineto || more.Kineto
}

// Reader reads events from the text in its window and adds them to a trace under
// construction. Begin must be called first. A Reader is used by one goroutine and shares
// nothing that it learns.
type Reader struct {
	token.Scanner
	Counts Counts // since Begin or Cut

	opts    Options
	rows    rows
	ev      event
	args    argList
	digits  []byte // scratch
	learned learned
}

// learned is what a Reader knows of the events before.
type learned struct {
	fields  template.Table
	unknown template.Field // the one at hand, where it is not learned
	gap     template.Gap
	moment  scan.Moment
	names   template.Names
	values  template.Values
	cats    template.Cats
	labels  template.Labels

	slow slow
}

// slow counts what took the slower of two ways to the same result, for tests: a reader
// that always takes it is right, and of no use.
type slow struct {
	lessons int // stretches that were read by the rules
	reads   int // values of arguments that were neither passed nor recalled in the loop
	scans   int // those of them that were not recalled at all
	gaps    int // gaps between two events that were not the last one again
}

// Begin makes r ready to add events to a trace that is still empty. What was learned is
// forgotten, because ids of names and tracks belong to one trace.
func (r *Reader) Begin(to *trace.Builder, o Options) {
	r.opts = o
	r.rows = rows{builder: to, window: o.Window}
	r.Counts = Counts{}
	r.learned = learned{values: template.NewValues()}
	r.learned.fields.Forget(r.args.event)
}

// Cut moves what was added since the last Cut into p, as trace.Builder.Cut does, and
// returns its counts. What was learned stays.
func (r *Reader) Cut(p *trace.Part) Counts {
	counts := r.Counts
	r.rows.builder.Cut(p)
	r.rows.part++
	r.Counts = Counts{}
	return counts
}

// The memory of an entry of the tables of a Reader, in bytes.
const (
	fieldBytes = 900 // with its event template, its text and its places in maps
	valueBytes = 160 // without its text
	nameBytes  = 80  // likewise
)

// Bytes estimates the memory of r, without the trace under construction, in bytes.
func (r *Reader) Bytes() int64 {
	l := &r.learned
	return int64(len(r.Buf))*3/2 + int64(l.fields.Len())*fieldBytes + int64(l.values.Len())*valueBytes +
		l.values.TextLen() + int64(l.names.Len())*nameBytes
}

// Strict reads the event at i by the strict rules, adds it, and returns the place behind
// it, negative if it breaks a rule: then nothing is added. The window may slide.
func (r *Reader) Strict(i int) (next int) {
	for {
		if next = r.read(i); scan.Broken(next) && r.Wants(i, ^next) {
			r.Slide(i)
			i = 0
			continue
		}
		if !scan.Broken(next) {
			r.accept(i)
		}
		return next
	}
}

// Entry reads the entry of the event list at i by the strict rules or else by the careful
// ones, and adds it. The window may slide, so the place of the entry is returned too. If
// neither will do ok is false, and next is where the entry breaks a rule.
func (r *Reader) Entry(i int) (start, next int, ok bool) {
	for r.Mode = token.Strict; r.Mode < token.NumModes; {
		next = r.attempt(i)
		if !scan.Broken(next) {
			if r.Mode != token.Strict && len(r.Notes) == 0 {
				r.Note(trace.BrokenEvent, i) // no rule may be broken in silence
			}
			r.accept(i)
			r.Mode = token.Strict
			return i, next, true
		}
		if r.Wants(i, ^next) {
			r.Slide(i)
			i = 0
			continue
		}
		r.Mode++
	}
	r.Mode, r.Notes = token.Strict, r.Notes[:0]
	return i, ^next, false
}

// attempt reads one entry; what is not an object is no event.
func (r *Reader) attempt(i int) (next int) {
	if r.Buf[i] == '{' {
		return r.read(i)
	}
	r.start()
	_, next = r.Value(i, ']')
	return next
}

// Try reports whether an event stands at the brace at i: only one that is complete and
// has a phase and a time counts. Nothing is added. The window may slide: at is the place
// of the brace now, and end how far it was read.
func (r *Reader) Try(i int) (found bool, at, end int) {
	if next := scan.SkipSpace(r.Buf, i+1); r.Buf[next] != '"' {
		return false, i, i
	}
	for {
		end = r.read(i)
		if scan.Broken(end) && r.Wants(i, ^end) {
			r.Slide(i)
			i = 0
			continue
		}
		found = !scan.Broken(end) && r.ev.ph != 0 && (r.ev.hasTime || r.ev.ph == 'M')
		if scan.Broken(end) {
			end = ^end
		}
		r.Notes = r.Notes[:0]
		return found, i, end
	}
}

// start makes r ready for an event.
func (r *Reader) start() {
	r.ev = event{}
	r.ev.row.NoDur = true
	r.args.start()
	r.Notes = r.Notes[:0]
}

// accept adds the event that began at i and was read into r.ev to the trace, and what was
// noted of it to the problems.
func (r *Reader) accept(i int) {
	ev := &r.ev
	ev.row.Offset = r.At(i)
	r.Counts.Events++
	r.Counts.ByRules++
	r.Counts.Kineto = r.Counts.Kineto || ev.row.Cat.IsKnown()
	switch {
	case ev.ph == 0:
		r.Counts.Events--
		if !r.isEmptyObject(i) { // some writers end the list with {}
			r.Counts.Others++
			r.Note(trace.NotAnEvent, i)
		}
	case ev.ph == 'M':
		r.rows.metadata(ev, r.args.list)
	case !ev.hasTime:
		r.Note(trace.NoTimestamp, i)
	default:
		r.args.list = r.rows.add(ev, r.args.list)
	}
	r.Flush(ev.row.Name)
}

func (r *Reader) isEmptyObject(i int) bool {
	return r.Buf[i] == '{' && r.Buf[scan.SkipSpace(r.Buf, i+1)] == '}'
}

// longestDetail is how many bytes of a name stand in a problem.
const longestDetail = 80

// Flush turns what was noted into problems of the trace, with the name of the event that
// it was noted of; 0 is none.
func (r *Reader) Flush(name trace.StringID) {
	for _, n := range r.Notes {
		r.rows.builder.Problem(n.Code, n.At, string(scan.Cut([]byte(r.rows.builder.String(name)), longestDetail)))
	}
	r.Notes = r.Notes[:0]
}
