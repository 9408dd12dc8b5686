package ranks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/internal/units"
)

// Status is how far a group was matched.
type Status string

// A group is matched; or it is not, and Reason says why; or only one of its ranks
// was given, so that there is nothing to match.
const (
	Matched   Status = "matched"
	Unmatched Status = "unmatched"
	Alone     Status = "one_rank"
)

// Method is what made two collectives one.
type Method uint8

// Sequence numbers on all ranks, messages on all ranks, or the name of the kernel.
const (
	BySeq Method = iota
	ByMessage
	ByName
)

// Group is the collectives of one process group on the ranks that were given. Lists
// by rank have the order of Ranks.
type Group struct {
	Name       string  // "" where the trace names none
	Size       int64   // ranks, 0 unknown
	Members    []int64 // numbers of its ranks, nil unknown
	Absent     []int64 // members of which no trace was given, where the numbers tell
	Silent     []int64 // members that were given and have no collective of the group
	Ranks      []int   // sources that have collectives of it
	Count      []int   // collectives of each
	Status     Status
	Reason     string // why Status is Unmatched
	Mismatches int    // pairs that would have to be one collective and cannot be
	Gaps       []Gap
	Methods    [ByName + 1]int // how many of Collectives were matched how

	Collectives []Collective
	Clocks
	NoFigures  string // why there are none although the group is matched
	Impossible int    // collectives without figures: no transfer, or one beyond the link
	Waits

	sequences []*sequence
	mixed     string // why no sequence can be trusted, empty if all can
}

// Clocks is what the ends of a group's collectives, which are one moment on all ranks, say
// of the ranks' clocks.
type Clocks struct {
	Residual []int64 // median distance of a rank's ends from those of all, ns
	Drift    []int64 // how much that changes from the first to the second half, ns
	Aligned  bool    // the residuals were subtracted
	OnHosts  bool    // its ranks are known to run on several machines
	OffClock []int   // places in Ranks of those whose clock cannot be compared
}

// Waits is who waits for whom in a group, by rank.
type Waits struct {
	Wait   []int64 // until the last rank enters, summed, ns
	Caused []int64 // of all others, by coming later than the next to last, ns
	Last   []int   // collectives that the rank enters last
}

// Gap is a collective that a rank lacks, or alone has, in the middle of what it recorded.
type Gap struct {
	Rank    int // the source that differs from the others
	Extra   bool
	Owner   int // a source that has the collective
	Message int // in the owner's Rank.Collectives
}

// Collective is one collective on all ranks of its group that were given.
type Collective struct {
	OfRank     []int32 // by rank, index into Rank.Collectives
	Method     Method
	Impossible bool  // the times contradict each other: it has no figures
	Transfer   int64 // from the latest start to the earliest end, ns
	Skew       int64 // from the earliest to the latest end, ns
	Latest     int   // place in Ranks of the one that enters last
	LatestAt   int64 // ns, on the common clock
	NextAt     int64 // when the next to last entered, ns, on the common clock
	items      []int32
}

func newGroup(key groupKey, sequences []*sequence, sources []Source) *Group {
	g := &Group{Name: key.name, Size: max(key.size, 0), sequences: sequences}
	given := make(map[int64]bool)
	numbered := true
	for _, s := range sources {
		given[s.ID] = true
		numbered = numbered && !s.Assigned
	}
	has := make(map[int64]bool)
	for _, q := range sequences {
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

// number is what the caller calls the k-th rank of the group.
func (g *Group) number(sources []Source, k int) int64 { return sources[g.Ranks[k]].ID }

// references is how many sequences may serve as the reference: a recording that is
// damaged itself makes all others look damaged.
const references = 3

// match pairs the collectives of all ranks with those of one of them, the reference.
func (g *Group) match(sources []Source) {
	switch {
	case len(g.Ranks) < 2:
		g.Status = Alone
		return
	case g.mixed != "":
		g.fail("%s", g.mixed)
		return
	case g.Size > 0 && len(g.Ranks) > int(g.Size):
		g.fail("%d ranks have collectives of a group of %d: several groups have this name and their members are unknown", len(g.Ranks), g.Size)
		return
	}
	order := make([]int, len(g.Ranks)) // longest first
	longest := 0
	for k := range order {
		order[k] = k
		longest = max(longest, g.Count[k])
	}
	slices.SortStableFunc(order, func(a, b int) int { return g.Count[b] - g.Count[a] })
	power := powers(longest)
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

// alignAll pairs every sequence with that of rank ref. Bad counts those that cannot be
// paired or not without gaps.
func (g *Group) alignAll(ref int, power []uint64) (pairings []pairing, bad int) {
	pairings = make([]pairing, len(g.sequences))
	for k, q := range g.sequences {
		if k == ref {
			pairings[k].at = shifted(q, q, 0)
			continue
		}
		pairings[k] = align(g.sequences[ref], q, power)
		if pairings[k].failed != "" || pairings[k].gapped {
			bad++
		}
	}
	return pairings, bad
}

func (g *Group) fail(format string, args ...any) {
	g.Status, g.Reason = Unmatched, fmt.Sprintf(format, args...)
}

// take keeps what all ranks have; one rank that cannot be paired leaves all without.
func (g *Group) take(ref int, pairings []pairing, sources []Source) {
	g.Status = Matched
	for k := range pairings {
		g.Mismatches += pairings[k].mismatches
		if pairings[k].failed != "" && g.Status == Matched {
			g.fail("rank %d and rank %d: %s%s", g.number(sources, ref), g.number(sources, k), pairings[k].failed, apart(g.sequences[ref], g.sequences[k]))
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

// apart says by how much two recordings miss each other.
func apart(a, b *sequence) string {
	if a.items[0].start > b.items[0].start {
		a, b = b, a
	}
	gap := b.items[0].start - a.items[len(a.items)-1].end
	if gap <= 0 {
		return ""
	}
	return ", and between the recordings lie " + units.Duration(gap)
}

// describe fills the messages of a collective and says what made them one.
func (g *Group) describe(c *Collective) {
	c.Method = BySeq
	for k, i := range c.items {
		it := &g.sequences[k].items[i]
		c.OfRank[k] = it.message
		switch {
		case !it.described:
			c.Method = ByName
		case it.seq < 0 && c.Method == BySeq:
			c.Method = ByMessage
		}
	}
	g.Methods[c.Method]++
}

// findGaps lists what single ranks lack or alone have between their first and last
// pair. The reference was chosen so that most ranks agree with it.
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
	g.Gaps = append(g.Gaps, Gap{Rank: g.Ranks[rank], Extra: extra, Owner: g.Ranks[owner], Message: int(g.sequences[owner].items[i].message)})
}
