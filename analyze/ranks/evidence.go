package ranks

// Gap is a collective that a rank lacks, or alone has, in the middle of what it recorded.
type Gap struct {
	Rank       int  // the source that differs from the others
	Extra      bool // it alone has the collective; else it lacks one that the others have
	Owner      int  // a source that has the collective
	Collective int  // index into the owner's Rank.Collectives
}

// Conflict is a sequence number that two ranks give to collectives which cannot be the same.
type Conflict struct {
	Sources     [2]int // the ranks; the group's reference rank first
	Collectives [2]int // indexes into Rank.Collectives of either
}

// noteConflicts keeps the pairs of items of the reference and of the k-th rank that have one
// number and differ.
func (g *Group) noteConflicts(ref, k int, pairs [][2]int32) {
	for _, pair := range pairs {
		a, b := &g.sequences[ref].items[pair[0]], &g.sequences[k].items[pair[1]]
		g.Conflicts = append(g.Conflicts, Conflict{
			Sources:     [2]int{g.Ranks[ref], g.Ranks[k]},
			Collectives: [2]int{int(a.collective), int(b.collective)},
		})
	}
}

// findGaps lists what single ranks lack or alone have between their first and last pair.
// Recordings begin and end at different moments, so what is missing outside is no gap. The
// blame is on the other rank, never on the reference, with which most ranks agree.
func (g *Group) findGaps(ref int, pairings []pairing) {
	for k := range pairings {
		if !pairings[k].gapped {
			continue
		}
		at := pairings[k].at
		from, to := bounds(at)
		before := at[from] - 1
		for j := from; j <= to; j++ {
			if at[j] < 0 {
				g.gap(k, false, ref, int32(j))
				continue
			}
			for i := before + 1; i < at[j]; i++ {
				g.gap(k, true, k, i)
			}
			before = at[j]
		}
	}
}

// gap notes that a rank lacks an item of the owner, or has one that the others lack.
func (g *Group) gap(rank int, extra bool, owner int, i int32) {
	g.Gaps = append(g.Gaps, Gap{
		Rank:       g.Ranks[rank],
		Extra:      extra,
		Owner:      g.Ranks[owner],
		Collective: int(g.sequences[owner].items[i].collective),
	})
}
