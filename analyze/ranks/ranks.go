package ranks

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/internal/bounded"
)

// Options are the choices of a matching. The zero value works.
type Options struct {
	// AlignClocks subtracts each rank's clock residual from its times. Groups whose ranks
	// run on several hosts are always aligned, since their clocks are known to differ.
	AlignClocks bool
	// Link returns what a rank can send or receive at most, in bytes/s, 0 if unknown.
	// A transfer faster than that is impossible. Nil: no transfer is.
	Link func(s Source) int64
}

// Result is what the traces of several ranks say together. It refers to ranks by their
// position in Sources.
type Result struct {
	Sources   []Source  // as they were given
	Groups    []*Group  // process groups by name
	Figures   []Figures // by source
	Straggler int       // the source that causes the most wait, the first of equals; -1 if none causes any
	Steps     Steps     // whether the ranks recorded the same steps
}

// Figures are the figures of one rank over all its groups. Wait, Caused and Last mean
// something only where Known is true.
type Figures struct {
	Collectives  int    // without those of the next two
	PointToPoint int    // sends and receives, which concern two ranks and are not matched
	Ungrouped    int    // kernels of libraries that do not record who takes part; not matched
	Matched      int    // those of Collectives that every rank of their group recorded
	Known        bool   // the rank is in a group with figures
	Wait         int64  // ns: how long it waits in collectives for the last rank to enter
	Caused       int64  // ns: the wait of all others that it causes by entering last
	Last         int    // collectives that it enters last
	Residual     *int64 // ns: its clock against the others' in its largest group; nil if unmatched
	Drift        *int64 // ns: how much Residual changes over the recording; nil if unmatched
}

// Match matches the collectives of several ranks and measures how long they wait for each
// other. It takes time linear in the number of collectives, but for sorting.
func Match(sources []Source, o Options) *Result {
	r := &Result{
		Sources:   sources,
		Figures:   make([]Figures, len(sources)),
		Straggler: -1,
		Steps:     compareSteps(sources),
	}
	sequences, out := sortIntoGroups(sources)
	for i, n := range out {
		r.Figures[i].PointToPoint, r.Figures[i].Ungrouped = n.pointToPoint, n.ungrouped
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

// sum adds up the figures of all groups by rank and names the straggler. Of the residuals
// that a rank has in its groups, that of the largest counts: it is a median of more.
func (r *Result) sum() {
	most := make([]int, len(r.Sources)) // by source: collectives of the group of its residual
	for _, g := range r.Groups {
		for k, source := range g.Ranks {
			f := &r.Figures[source]
			f.Collectives += g.Count[k]
			if g.Status != Matched {
				continue
			}
			f.Matched += len(g.Collectives)
			if n := len(g.Collectives); n > most[source] && len(g.Ranks) > 1 {
				most[source] = n
				f.Residual, f.Drift = &g.Residual[k], &g.Drift[k]
			}
			if g.NoFigures == "" {
				f.Known = true
				f.Wait = bounded.Add(f.Wait, g.Wait[k])
				f.Caused = bounded.Add(f.Caused, g.Caused[k])
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

// Distribution returns the end skews and the transfers of all collectives with figures, in
// ns, each list ascending. The caller owns both.
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
