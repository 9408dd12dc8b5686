// Package drawing computes the data of figures that need the whole trace: which spans are
// on which row of a timeline. It draws nothing; that is up to package render, which sees
// only the result.
//
//	x := timeline.New(t)
//	r := facts.Compute(x)[0]
//	d := drawing.Draw(x.Ranks[0], r, r.Steps[0].Windows[0])
//	for _, s := range d.Strips {
//		fmt.Println(s.Row, s.Class, s.Spans)
//	}
//
// A [Timeline] is a value without references into the trace. Its size is bounded by its
// resolution and the number of its rows, not by the number of events: a step of a large
// model has hundreds of thousands, of which a screen shows a few thousand.
package drawing
