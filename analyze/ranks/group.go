package ranks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/internal/units"
)

// Group is the collectives of one process group on the ranks that were given. Lists by
// rank have the order of Ranks; a position in them is called k.
//
// Each of its parts is filled by one stage and read by the next: newGroup sets Membership,
// Ranks and Count, match the Matching and Collectives, clocks the Clocks, figures the Waits.
type Group struct {
	Membership
	Ranks []int // the sources that have collectives of the group
	Count []int // by rank: its collectives
	Matching
	Collectives []Collective // those that every rank recorded, in order of the reference rank
	Clocks
	Waits

	sequences []*sequence // by rank
	mixed     string      // why no sequence can be trusted, "" if all can
}

// Membership says which ranks a process group consists of.
type Membership struct {
	Name    string  // "" if the traces name none
	Desc    string  // such as default_pg or mesh_dp, "" if the traces do not say
	Size    int64   // number of its ranks, 0 unknown
	Members []int64 // numbers of its ranks, nil unknown
	Absent  []int64 // members of which no trace was given; nil also where numbers are made up
	Silent  []int64 // members that were given and have no collective of the group
}

// Matching says how far the collectives of a group could be matched.
type Matching struct {
	Status     Status
	Reason     string          // why Status is Unmatched, else ""
	Basis      Basis           // what decided
	Mismatches int             // pairs that would have to be the same collective and cannot be
	Conflicts  []Conflict      // the first few collectives of one number that are not the same on two ranks
	Gaps       []Gap           // what single ranks lack, or have beyond the others
	Methods    [ByName + 1]int // by Method: how many of Collectives it matched
}

// Clocks compares the clocks of a group's ranks. Lists are by rank, and zero where the
// group is not matched.
type Clocks struct {
	Residual []int64 // ns: median of how much later than all ranks' middle it ends collectives
	Drift    []int64 // ns: how much that changes from the first to the second half
	Aligned  bool    // the residuals were subtracted from all times
	OnHosts  bool    // its ranks are known to run on several machines
	OffClock []int   // positions in Ranks of those whose clock cannot be compared
}

// Waits says how long a group's ranks wait for each other. Lists are by rank, and mean
// nothing where the group is not matched or NoFigures is not "".
type Waits struct {
	NoFigures  string  // why there are no figures although the group is matched, else ""
	Impossible int     // collectives that have no figures because their times contradict each other
	Wait       []int64 // ns: how long a rank waits
	Caused     []int64 // ns: how long it makes others wait
	Last       []int   // collectives that it enters last
}

// Collective is one collective on all ranks of its group that were given. Times are on the
// clock of the group, which Clocks.Aligned describes.
type Collective struct {
	OfRank     []int32 // by rank: index into Rank.Collectives
	Method     Method
	Impossible bool  // its times contradict each other: it has no figures
	Transfer   int64 // ns: from the latest start to the earliest end
	Skew       int64 // ns: from the earliest to the latest end
	Latest     int   // position in Ranks of the rank that enters last
	LatestAt   int64 // ns: when that enters
	NextAt     int64 // ns: when the next to last entered
	items      []int32
}

// newGroup creates a group and works out which of its members were given. That takes the
// numbers of all ranks: if any is made up, a member that seems absent may be right there.
func newGroup(key groupKey, sequences []*sequence, sources []Source) *Group {
	g := &Group{Membership: Membership{Name: key.name, Size: max(key.size, 0)}, sequences: sequences}
	given := make(map[int64]bool)
	numbered := true
	for _, s := range sources {
		given[s.ID] = true
		numbered = numbered && !s.Assigned
	}
	has := make(map[int64]bool)
	for _, q := range sequences {
		g.describeAs(q, sources)
		g.Ranks = append(g.Ranks, q.source)
		g.Count = append(g.Count, len(q.items))
		s := &sources[q.source]
		has[s.ID] = true
		if s.Rank.Mixed() {
			g.mixed = fmt.Sprintf("the process of rank %d carries messages of several ranks", s.ID)
		}
	}
	members := strings.ReplaceAll(key.members, " ", ",")
	if isWhole(key.members) && json.Unmarshal([]byte(members), &g.Members) == nil && numbered {
		for _, m := range g.Members {
			switch {
			case !given[m]:
				g.Absent = append(g.Absent, m)
			case !has[m]:
				g.Silent = append(g.Silent, m)
			}
		}
	}
	return g
}

// describeAs takes the group's description from the first collective that has one.
func (g *Group) describeAs(q *sequence, sources []Source) {
	list := sources[q.source].Rank.Collectives
	for i := 0; i < len(q.items) && g.Desc == ""; i++ {
		g.Desc = list[q.items[i].collective].Desc
	}
}

// number returns the caller's number of the k-th rank of the group.
func (g *Group) number(sources []Source, k int) int64 { return sources[g.Ranks[k]].ID }

// references is how many sequences are tried as the reference. A recording that is damaged
// itself makes all others look damaged; that three of the longest are is unlikely.
const references = 3

// match pairs the collectives of all ranks with those of one of them, the reference: the
// longest sequence with which most ranks agree. Comparing each rank with each would take
// time in the square of their number, and runs have thousands.
func (g *Group) match(sources []Source) {
	switch {
	case len(g.Ranks) < 2:
		g.Status = Alone
		return
	case g.mixed != "":
		g.fail("%s", g.mixed)
		return
	case g.Size > 0 && len(g.Ranks) > int(g.Size):
		g.fail("%d ranks have collectives of a group of %d: several groups have this name "+
			"and their members are unknown", len(g.Ranks), g.Size)
		return
	}
	order := make([]int, len(g.Ranks)) // longest first
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return g.Count[b] - g.Count[a] })
	power := powers(g.Count[order[0]])
	var best []pairing
	bestRef, fewest := 0, -1
	for _, ref := range order[:min(references, len(order))] {
		pairings, bad := g.alignAll(ref, power)
		if fewest < 0 || bad < fewest {
			best, bestRef, fewest = pairings, ref, bad
		}
		if 2*bad <= len(order) {
			break
		}
	}
	g.take(bestRef, best, sources)
}

// alignAll pairs every sequence with that of the ref-th rank. bad counts those that cannot
// be paired, or only with gaps.
func (g *Group) alignAll(ref int, power []uint64) (pairings []pairing, bad int) {
	pairings = make([]pairing, len(g.sequences))
	for k, q := range g.sequences {
		if k == ref {
			pairings[k].at = shifted(q, q, 0)
			continue
		}
		pairings[k] = align(g.sequences[ref], q, power)
		pairings[k].basis = cmp.Or(pairings[k].basis, BySignature)
		if pairings[k].failed != "" || pairings[k].gapped {
			bad++
		}
	}
	return pairings, bad
}

// fail leaves the group unmatched for a reason.
func (g *Group) fail(format string, args ...any) {
	g.Status, g.Reason = Unmatched, fmt.Sprintf(format, args...)
}

// take keeps the collectives that all ranks have. A single rank that cannot be paired
// leaves the group unmatched: whoever is last may be that one, so no wait is known.
func (g *Group) take(ref int, pairings []pairing, sources []Source) {
	g.Status = Matched
	for k := range pairings {
		g.Basis = weaker(g.Basis, pairings[k].basis)
		g.Mismatches += pairings[k].mismatches
		g.noteConflicts(ref, k, pairings[k].conflicts)
		if pairings[k].failed != "" && g.Status == Matched {
			g.fail("rank %d and rank %d: %s%s", g.number(sources, ref), g.number(sources, k),
				pairings[k].failed, apart(g.sequences[ref], g.sequences[k]))
		}
	}
	if g.Status == Unmatched {
		return
	}
	for j := range g.sequences[ref].items {
		c := Collective{items: make([]int32, len(pairings)), OfRank: make([]int32, len(pairings))}
		everywhere := true
		for k := range pairings {
			c.items[k] = pairings[k].at[j]
			everywhere = everywhere && c.items[k] >= 0
		}
		if everywhere {
			g.describe(&c)
			g.Collectives = append(g.Collectives, c)
		}
	}
	g.findGaps(ref, pairings)
	if len(g.Collectives) == 0 {
		g.fail("no collective was recorded by all of its ranks")
	}
}

// apart says by how much two recordings miss each other, "" if they overlap.
func apart(a, b *sequence) string {
	if a.items[0].start > b.items[0].start {
		a, b = b, a
	}
	gap := b.items[0].start - a.items[len(a.items)-1].end
	if gap <= 0 {
		return ""
	}
	return ", and the recordings are apart by " + units.Duration(gap)
}

// describe fills in which collective of each rank a collective is, and the method.
func (g *Group) describe(c *Collective) {
	c.Method = BySeq
	for k, i := range c.items {
		it := &g.sequences[k].items[i]
		c.OfRank[k] = it.collective
		switch {
		case !it.described:
			c.Method = ByName
		case it.seq < 0 && c.Method == BySeq:
			c.Method = ByMessage
		}
	}
	g.Methods[c.Method]++
}
