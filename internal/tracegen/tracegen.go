package tracegen

import (
	"bufio"
	"io"
	"math/rand/v2"
)

// Shape is a way in which real traces differ in what a reader has to do.
type Shape string

// The shapes. Each asks for something else of a reader: short and long arguments, white
// space or none, many texts to intern, and objects whose keys come in no fixed order.
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

// Options say what Write writes. The zero value is the shortest possible trace: the
// header and no step.
type Options struct {
	Shape Shape  // AsIs where empty
	Size  int64  // bytes to reach; the step begun before is finished
	Seed  uint64 // another seed gives other durations
	Steps int    // steps to write whatever Size says; 0: as many as Size takes

	// WorldSize is how many ranks the run has that the trace is of, and Rank is the
	// trace's own, from 0; a WorldSize of 0 is one trace by itself. The ranks of one run
	// have one Shape, Seed and number of Steps; see rank.go for what they share.
	Rank, WorldSize int

	NoSeq bool // leave Seq out of the collectives, as older versions of PyTorch do
}

// Write writes a trace to w. The only errors are those of w.
func Write(w io.Writer, o Options) error {
	rng := rand.New(rand.NewPCG(o.Seed, 1))
	g := &generator{run: newRunOf(o), shape: o.Shape, rng: rng, now: startTime}
	g.out = output{w: bufio.NewWriterSize(w, 1<<16), layout: kineto}
	switch o.Shape {
	case Compact:
		g.out.layout = dense
	case Indented:
		g.out.layout = indented
	case Shuffled:
		g.out.shuffle = rng
	}
	g.out.text(g.run.header())
	g.names()
	g.out.release()
	for (g.steps < o.Steps || o.Steps == 0 && g.out.written < o.Size) && g.out.err == nil {
		g.step()
		g.out.release()
	}
	g.out.text("\n  ],\n  \"traceName\": \"synthetic.json\"\n}")
	return g.out.close()
}
