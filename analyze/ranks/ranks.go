package ranks

import (
	"cmp"
	"slices"
)

// Options are the choices of a matching.
type Options struct {
	// AlignClocks subtracts each rank's residual from its times. It is done without
	// being asked where a group's ranks run on several hosts.
	AlignClocks bool
	// Link is what a rank can send or receive at the most, in bytes/s, 0 unknown.
	Link func(s Source) int64
}

// Result is what several ranks say together. Ranks are meant by their place in
// the list of sources.
type Result struct {
	Sources   []Source
	Groups    []*Group
	Figures   []Figures // by source
	Straggler int       // the source that causes the most wait; -1 where none is known to cause any
	Steps     Steps
}

// Figures are those of one rank over all groups, times in ns. Those of waiting say
// nothing where Known is false.
type Figures struct {
	Collectives  int // point-to-point messages are not among them
	PointToPoint int
	Matched      int
	Known        bool // a group with figures has this rank
	Wait         int64
	Caused       int64 // wait of all others that this rank causes
	Last         int   // collectives that this rank enters last
	Residual     *int64
	Drift        *int64
}

// Match puts the collectives of several ranks beside each other. It takes time
// linear in the number of collectives, but for sorting.
func Match(sources []Source, o Options) *Result {
	r := &Result{Sources: sources, Figures: make([]Figures, len(sources)), Straggler: -1, Steps: compareSteps(sources)}
	sequences, pointToPoint := sortIntoGroups(sources)
	for i, n := range pointToPoint {
		r.Figures[i].PointToPoint = n
	}
	keys := make([]groupKey, 0, len(sequences))
	for key := range sequences {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b groupKey) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.members, b.members), cmp.Compare(a.size, b.size))
	})
	for _, key := range keys {
		g := newGroup(key, sequences[key], sources)
		g.match(sources)
		g.clocks(sources, o)
		g.figures(sources, o)
		r.Groups = append(r.Groups, g)
	}
	r.sum()
	return r
}

// sum adds the figures of groups by rank and names the straggler.
func (r *Result) sum() {
	most := make([]int, len(r.Sources)) // collectives of the group that a residual is of
	for _, g := range r.Groups {
		for k, source := range g.Ranks {
			f := &r.Figures[source]
			f.Collectives += g.Count[k]
			if g.Status != Matched {
				continue
			}
			f.Matched += len(g.Collectives)
			if n := len(g.Collectives); n > most[source] && len(g.Ranks) > 1 {
				most[source], f.Residual, f.Drift = n, &g.Residual[k], &g.Drift[k]
			}
			if g.NoFigures == "" {
				f.Known = true
				f.Wait += g.Wait[k]
				f.Caused += g.Caused[k]
				f.Last += g.Last[k]
			}
		}
	}
	for i, f := range r.Figures {
		if f.Caused > 0 && (r.Straggler < 0 || f.Caused > r.Figures[r.Straggler].Caused) {
			r.Straggler = i
		}
	}
}

// Distribution returns end skews and transfers, in ns, of all collectives with
// figures, each ascending.
func (r *Result) Distribution() (skews, transfers []int64) {
	for _, g := range r.Groups {
		if g.NoFigures != "" {
			continue
		}
		for i := range g.Collectives {
			if c := &g.Collectives[i]; !c.Impossible {
				skews, transfers = append(skews, c.Skew), append(transfers, c.Transfer)
			}
		}
	}
	slices.Sort(skews)
	slices.Sort(transfers)
	return skews, transfers
}
