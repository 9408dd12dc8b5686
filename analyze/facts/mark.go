package facts

import (
	"cmp"

	"github.com/gaprof/gaprof/internal/runs"
	"github.com/gaprof/gaprof/trace"
)

// marked is a row and what its name says.
type marked struct {
	row   int32
	class nameClass
}

// mark goes once over all rows and notes, by track, those whose names say more than
// that they are an operator, and what classes of names stand on the track at all. They
// are few, so everything that looks for a class but operators looks at these only.
func (c *computer) mark() {
	tracks := c.t.Tracks()
	c.marked, c.trackClass = make([][]marked, len(tracks)), make([]nameClass, len(tracks))
	for id, track := range tracks {
		if track.Activity {
			continue
		}
		c.marked[id], c.trackClass[id] = c.markTrack(track)
	}
}

func (c *computer) markTrack(track trace.Track) (rows []marked, all nameClass) {
	class, n := c.names.class, 0
	names := c.col.Name[track.First : track.First+track.N]
	for _, name := range names {
		all |= class[name]
		if class[name]&^operator != 0 {
			n++
		}
	}
	rows = make([]marked, 0, n)
	for i, name := range names {
		if class[name]&^operator != 0 && c.col.Phase[track.First+i] == trace.Complete {
			rows = append(rows, marked{int32(track.First + i), class[name]})
		}
	}
	return rows, all
}

// eachOf calls do for the complete rows of some classes on some tracks of the host, by
// track and start.
func (c *computer) eachOf(tracks []trace.TrackID, class nameClass, do func(row int32)) {
	for _, id := range tracks {
		switch {
		case c.trackClass[id]&class == 0:
		case class&operator != 0:
			track := c.t.Tracks()[id]
			for i := int32(track.First); i < int32(track.First+track.N); i++ {
				if c.names.is(c.col.Name[i], class) && c.col.Phase[i] == trace.Complete {
					do(i)
				}
			}
		default:
			for _, m := range c.marked[id] {
				if m.class&class != 0 {
					do(m.row)
				}
			}
		}
	}
}

// sortOps sorts spans by start; those that start together stay as they are.
func sortOps(list []hostOp) {
	runs.Sort(list, func(a, b hostOp) int { return cmp.Compare(a.start, b.start) }, nil)
}
