package trace

import "slices"

// Phase is the kind of an event, by the letter that Chrome's format has for it under "ph":
// 'X' complete, 'i' instant, 's', 't' and 'f' ends of a flow, 'C' counter, 'b', 'n', 'e'
// asynchronous. 'B' and 'E' are paired into 'X' when a Trace is built, and 'M' rows become
// names of tracks. What part of a training step runs is another matter: see package facts.
type Phase byte

// The phases that analyses ask for.
const (
	Complete  Phase = 'X'
	Begin     Phase = 'B'
	End       Phase = 'E'
	Instant   Phase = 'i'
	FlowStart Phase = 's'
	FlowStep  Phase = 't'
	FlowEnd   Phase = 'f'
	Counter   Phase = 'C'
)

// IsFlow reports whether events of p are ends of an arrow between two others.
func (p Phase) IsFlow() bool { return p == FlowStart || p == FlowStep || p == FlowEnd }

// NoParent marks an event that no other event of its track contains.
const NoParent int32 = -1

// Columns is read access to all rows of a Trace. The slices belong to the Trace: they have
// equal length, one element per event, and must not be written. Columns and not a list of
// structs, because an analysis that looks at two of ten fields then reads a fifth of the
// memory.
type Columns struct {
	Start    []int64    // ns on the clock of the recording; may be negative
	Dur      []int64    // ns, >= 0; 0 also where the event has no duration
	Name     []StringID // see Trace.String
	Cat      []Cat      // see Trace.CatName; CatNone where the file gives none
	Phase    []Phase    // never Begin or End
	Track    []TrackID  // index into Trace.Tracks; ascends
	Parent   []int32    // row of the innermost complete event open at Start on this track, or NoParent
	Corr     []ID       // correlation id; the flow id for flows; 0 where absent. See Trace.Number
	External []ID       // External id; 0 where absent. See Trace.Number
	Args     []uint32   // opaque; use Event.Arg
}

// reserve makes room for n rows in all.
func (c *Columns) reserve(n int) {
	if n <= cap(c.Start) {
		return
	}
	c.Start, c.Dur = reserve(c.Start, n), reserve(c.Dur, n)
	c.Corr, c.External = reserve(c.Corr, n), reserve(c.External, n)
	c.Name, c.Track, c.Args = reserve(c.Name, n), reserve(c.Track, n), reserve(c.Args, n)
	c.Cat, c.Phase = reserve(c.Cat, n), reserve(c.Phase, n)
}

// reserve copies in pieces: a copy cannot be interrupted, and a collector that waits for
// its end keeps another core busy.
func reserve[T any](col []T, n int) []T {
	grown := make([]T, len(col), n)
	for i := 0; i < len(col); {
		i += copy(grown[i:], col[i:min(i+1<<14, len(col))])
	}
	return grown
}

// lengthen adds n rows, to be filled by the caller.
func (c *Columns) lengthen(n int) {
	c.Start, c.Dur = longer(c.Start, n), longer(c.Dur, n)
	c.Corr, c.External = longer(c.Corr, n), longer(c.External, n)
	c.Name, c.Track, c.Args = longer(c.Name, n), longer(c.Track, n), longer(c.Args, n)
	c.Cat, c.Phase = longer(c.Cat, n), longer(c.Phase, n)
}

func longer[T any](col []T, n int) []T { return slices.Grow(col, n)[:len(col)+n] }

// permute puts the rows in the order of perm: row i becomes the one that was row perm[i].
// Parents are left out; they are found in the finished order.
func (c *Columns) permute(perm []int32) {
	if inOrder(perm) {
		return
	}
	free := make([]int64, len(perm))
	c.Start, free = gather(c.Start, perm, free), c.Start
	c.Dur, free = gather(c.Dur, perm, free), c.Dur
	move(c.Corr, perm, free)
	move(c.External, perm, free)
	move(c.Name, perm, free)
	move(c.Track, perm, free)
	move(c.Args, perm, free)
	move(c.Cat, perm, free)
	move(c.Phase, perm, free)
}

func inOrder(perm []int32) bool {
	for i, p := range perm {
		if int(p) != i {
			return false
		}
	}
	return true
}

// gather puts col in the order of perm into another column that is as long.
func gather(col []int64, perm []int32, into []int64) []int64 {
	split(len(perm), func(from, to int) {
		for i, p := range perm[from:to] {
			into[from+i] = col[p]
		}
	})
	return into[:len(perm)]
}

// move puts col in the order of perm by way of free, which is as long. Following
// the cycles of perm would need no room, but jumps through memory.
func move[T ~int32 | ~uint32 | ~uint16 | ~uint8](col []T, perm []int32, free []int64) {
	split(len(perm), func(from, to int) {
		for i, p := range perm[from:to] {
			free[from+i] = int64(col[p])
		}
	})
	split(len(perm), func(from, to int) {
		for i, v := range free[from:to] {
			col[from+i] = T(v)
		}
	})
}

// drop takes out the rows of phase p, in place.
func (c *Columns) drop(p Phase) {
	c.Start, c.Dur = without(c.Start, c.Phase, p), without(c.Dur, c.Phase, p)
	c.Corr, c.External = without(c.Corr, c.Phase, p), without(c.External, c.Phase, p)
	c.Name, c.Track = without(c.Name, c.Phase, p), without(c.Track, c.Phase, p)
	c.Args, c.Cat = without(c.Args, c.Phase, p), without(c.Cat, c.Phase, p)
	c.Phase = without(c.Phase, c.Phase, p) // last: all others go by it
}

// without returns col without the rows whose phase is p. It may be the column of phases
// itself: what is overwritten was looked at before.
func without[T any](col []T, phases []Phase, p Phase) []T {
	kept := col[:0]
	for i, phase := range phases {
		if phase != p {
			kept = append(kept, col[i])
		}
	}
	return kept
}

// selected copies some rows without their arguments; names and parents are left to the
// caller.
func (c *Columns) selected(rows []int32) Columns {
	return Columns{
		Start: pick(c.Start, rows), Dur: pick(c.Dur, rows),
		Corr: pick(c.Corr, rows), External: pick(c.External, rows),
		Name: pick(c.Name, rows), Track: pick(c.Track, rows),
		Cat: pick(c.Cat, rows), Phase: pick(c.Phase, rows),
		Args: make([]uint32, len(rows)), Parent: make([]int32, len(rows)),
	}
}

func pick[T any](col []T, rows []int32) []T {
	picked := make([]T, len(rows))
	for i, row := range rows {
		picked[i] = col[row]
	}
	return picked
}
