package tracegen

import (
	"bufio"
	"math/rand/v2"
)

// output is the text of a trace on its way out. Errors of the writer stay in err until the
// end, so that what generates events need not ask after each.
type output struct {
	w       *bufio.Writer
	layout  layout
	shuffle *rand.Rand // by which the keys of some events change places; nil: of none

	waiting []event // begun or complete, in the order of the file
	events  int     // written so far
	written int64   // bytes
	buf     []byte  // scratch
	err     error   // the first one
}

// emit puts one event behind those that wait.
func (o *output) emit(e event) { o.waiting = append(o.waiting, e) }

// hold keeps a place for an event that is known only later: Kineto writes parents before
// their children.
func (o *output) hold() (place int) {
	o.waiting = append(o.waiting, event{})
	return len(o.waiting) - 1
}

// fill puts an event in the place that hold kept for it.
func (o *output) fill(place int, e event) { o.waiting[place] = e }

// release writes the events that wait, of which no place may still be empty.
func (o *output) release() {
	for _, e := range o.waiting {
		o.event(e)
	}
	o.waiting = o.waiting[:0]
}

func (o *output) event(e event) {
	if o.events > 0 {
		o.text(",")
	}
	o.events++
	if o.shuffle != nil && o.shuffle.IntN(100) == 0 {
		o.shuffle.Shuffle(len(e.fields), func(i, j int) { e.fields[i], e.fields[j] = e.fields[j], e.fields[i] })
	}
	o.buf = o.layout(o.buf[:0], e)
	o.note(o.w.Write(o.buf))
}

func (o *output) text(s string) { o.note(o.w.WriteString(s)) }

// note counts what was written.
func (o *output) note(n int, err error) {
	o.written += int64(n)
	if o.err == nil {
		o.err = err
	}
}

// close writes what is still buffered and returns the first error of all.
func (o *output) close() error {
	if o.err != nil {
		return o.err
	}
	return o.w.Flush()
}
