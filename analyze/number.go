package analyze

import (
	"slices"
	"sort"

	"github.com/gaprof/gaprof/trace"
)

// ranksOf are the ranks of all files that were asked for, by number.
func ranksOf(files []placed, o *Options) []*Rank {
	var list []*Rank
	for _, f := range files {
		for i := range f.Ranks {
			of := &f.Ranks[i]
			list = append(list, &Rank{
				Rank:     of.Facts,
				ID:       of.Facts.ID,
				File:     f.File,
				Problems: slices.Clone(of.Facts.Problems),
				to:       len(of.Facts.Steps),
				reduced:  of,
			})
		}
	}
	number(list, o)
	markCopiedRanks(list)
	if o.Ranks != nil {
		list = slices.DeleteFunc(list, func(r *Rank) bool { return !o.Ranks(r.ID) })
	}
	if o.Steps != nil {
		for _, r := range list {
			r.from, r.to = o.Steps(len(r.Steps))
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].ID < list[j].ID })
	return list
}

// number gives each rank a number of its own: that of the trace, else of the file name,
// else the next free one, with a note in the report where that matters.
func number(list []*Rank, o *Options) {
	markSwapped(list, o)
	used, clashed := make(map[int64]bool), make(map[*Rank]bool)
	for _, r := range list {
		if o.RankOf != nil && (r.ID < 0 || o.FileFirst) {
			if id, ok := o.RankOf(r.File); ok {
				r.ID = id
			}
		}
		if r.ID >= 0 && used[r.ID] {
			r.note(trace.RankConflict)
			r.ID, clashed[r] = -1, true
		}
		used[r.ID] = true
	}
	next := int64(0)
	for _, r := range list {
		if r.ID >= 0 {
			continue
		}
		for used[next] {
			next++
		}
		r.ID, r.Assigned, used[next] = next, true, true
		if !clashed[r] && (len(list) > 1 || len(r.Collectives) > 0) {
			r.note(trace.RankAssigned)
		}
	}
}

func (r *Rank) note(code trace.Code) {
	r.Problems = append(r.Problems, trace.Problem{Code: code, Count: 1, Offset: -1})
}
