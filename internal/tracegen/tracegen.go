package tracegen

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
)

// Shape is a way in which real traces differ in what a reader has to do.
type Shape string

// The shapes.
const (
	AsIs     Shape = "as-is"    // Kineto's own layout, about 320 bytes an event
	Stacks   Shape = "stacks"   // with Python stacks in the arguments
	Compact  Shape = "compact"  // no white space
	Indented Shape = "indented" // one value a line
	Names    Shape = "names"    // 100,000 distinct names
	Shuffled Shape = "shuffled" // the keys of 1 % of the events in another order
)

// Shapes lists all shapes.
func Shapes() []Shape { return []Shape{AsIs, Stacks, Compact, Indented, Names, Shuffled} }

// Options tells Write what to write.
type Options struct {
	Shape Shape  // AsIs where empty
	Size  int64  // bytes to reach; the step begun before is finished
	Seed  uint64 // another seed gives other durations
	Steps int    // steps to write whatever Size says; 0: as many as Size takes

	// WorldSize is how many ranks the run has that the trace is of, and Rank is the
	// trace's own; 0 is one trace by itself. The ranks of one run have one Shape,
	// Seed and number of Steps; see rank.go for what they share.
	Rank, WorldSize int
	NoSeq           bool // leave Seq out of the messages, as older versions do
}

// distinctNames is how many names the shape Names has.
const distinctNames = 100_000

// Write writes a trace to w. The only errors are those of w.
func Write(w io.Writer, o Options) error {
	out := bufio.NewWriterSize(w, 1<<16)
	g := &generator{out: out, shape: o.Shape, layout: kineto, rng: rand.New(rand.NewPCG(o.Seed, 1)), now: startTime}
	g.run = newRunOf(o)
	switch o.Shape {
	case Compact:
		g.layout = dense
	case Indented:
		g.layout = indented
	}
	g.text(g.run.header())
	g.names()
	g.release()
	for (g.steps < o.Steps || o.Steps == 0 && g.written < o.Size) && g.err == nil {
		g.step()
		g.release()
	}
	g.text("\n  ],\n  \"traceName\": \"synthetic.json\"\n}")
	if g.err != nil {
		return g.err
	}
	return out.Flush()
}

// generator holds the state of one trace: clocks in ns, ids, and the output.
type generator struct {
	out     *bufio.Writer
	err     error
	written int64
	waiting []event
	events  int
	buf     []byte
	shape   Shape
	layout  layout
	rng     *rand.Rand
	run     runOf

	now      int64 // host
	device   int64 // end of what runs on the compute stream
	comm     int64 // end of what runs on the communication stream
	external int
	corr     int
	seq      int
	steps    int
	named    int
}

func (g *generator) text(s string) {
	n, err := g.out.WriteString(s)
	g.written += int64(n)
	if g.err == nil {
		g.err = err
	}
}

// emit puts one event behind those that wait, hold keeps a place there for one
// that is known only later: Kineto writes parents before their children.
func (g *generator) emit(e event) { g.waiting = append(g.waiting, e) }

func (g *generator) hold() (place int) {
	g.waiting = append(g.waiting, event{})
	return len(g.waiting) - 1
}

// release writes the events that wait.
func (g *generator) release() {
	for _, e := range g.waiting {
		g.write(e)
	}
	g.waiting = g.waiting[:0]
}

func (g *generator) write(e event) {
	if g.events > 0 {
		g.text(",")
	}
	g.events++
	if g.shape == Shuffled && g.rng.IntN(100) == 0 {
		g.rng.Shuffle(len(e.fields), func(i, j int) { e.fields[i], e.fields[j] = e.fields[j], e.fields[i] })
	}
	g.buf = g.layout(g.buf[:0], e)
	n, err := g.out.Write(g.buf)
	g.written += int64(n)
	if g.err == nil {
		g.err = err
	}
}

// distinct makes a name one of many where the shape asks for it.
func (g *generator) distinct(name string) string {
	if g.shape != Names {
		return name
	}
	g.named++
	return fmt.Sprintf("%s_%d", name, g.named%distinctNames)
}

func micros(ns int64) string { return fmt.Sprintf("%d.%03d", ns/1000, ns%1000) }

func quote(s string) string { return `"` + s + `"` }

func num(n int) string { return fmt.Sprint(n) }
