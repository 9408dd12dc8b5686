package facts

import (
	"math"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// Group is the collectives of one kind that one site launches in one step.
type Group struct {
	Step     int                     // index; -1 for inferred groups, whose step was not recorded
	Kind     timeline.CollectiveKind // of all members
	Site     timeline.LaunchSite     // of all members
	Inferred bool                    // Site was inferred from the order of kernel names
	Bytes    int64                   // of all messages together, -1 if any is unknown
	Members  []int                   // indexes into Communication.Collectives, by device and start
	Overlap  Overlap                 // of all members
	First    Overlap                 // of the first member alone, which has had least time to be hidden
}

// groupKey identifies a group: by its step or, if inferred, by the recorded step that it
// resembles and how many periods before that it lies.
type groupKey struct {
	step, back int
	kind       timeline.CollectiveKind
	site       timeline.LaunchSite
}

// groups puts collectives together by kind, site and step. Unlinked ones form groups of
// their own if their site can be inferred; the others are in no group.
func groups(devices []*timeline.Device, collectives []Collective) []Group {
	inferred := inferSites(collectives)
	index := make(map[groupKey]int)
	var list []Group
	for i := range collectives {
		c := &collectives[i]
		key := groupKey{step: c.Step, kind: c.Kind, site: c.Site}
		guess, isGuess := inferred[i]
		if isGuess {
			key.step, key.back, key.site = guess.like, guess.back, guess.site
		}
		if key.site.Site == timeline.SiteUnknown && !c.Linked {
			continue
		}
		g, ok := index[key]
		if !ok {
			g = len(list)
			index[key] = g
			list = append(list, Group{Step: c.Step, Kind: c.Kind, Site: key.site, Inferred: isGuess})
		}
		list[g].Members = append(list[g].Members, i)
		list[g].Bytes = addKnown(list[g].Bytes, c.Bytes)
	}
	busy := make([]*timeline.Busy, len(devices))
	for i, d := range devices {
		busy[i] = &d.Busy
	}
	for i := range list {
		g := &list[i]
		g.Overlap = measure(busy, collectives, g.Members)
		g.First = measure(busy, collectives, g.Members[:1])
	}
	return list
}

// addKnown adds sizes; one unknown size makes the sum unknown (-1), and so does one
// that is more than a number holds.
func addKnown(sum, bytes int64) int64 {
	if sum < 0 || bytes < 0 {
		return -1
	}
	if sum > math.MaxInt64-bytes {
		return -1
	}
	return sum + bytes
}

// guess is an inferred launch site: that of the collective which is back periods later, in
// step like.
type guess struct {
	site       timeline.LaunchSite
	like, back int
}

// inferSites guesses the site of the collectives at the beginning of a recording whose launch
// calls precede it, kind by kind. Devices run up to a whole step behind the host, so short
// recordings have many of them.
//
//  1. The linked collectives that follow repeat with some period; find the shortest, by
//     kernel name and site.
//  2. Align the unlinked ones with the end of a period, going backwards.
//  3. Stop at the first whose kernel name differs: what precedes it is unknown.
//
// A period must be seen at least twice: any sequence is periodic if once is enough, and then
// whatever precedes it would be given the sites of collectives it has nothing to do with.
// Guesses make groups, marked as inferred, but never enter Collective.Site or any count.
func inferSites(collectives []Collective) map[int]guess {
	guesses := make(map[int]guess)
	for _, kind := range timeline.CollectiveKinds() {
		var unlinked, linked []int
		for i := range collectives {
			switch c := &collectives[i]; {
			case c.Kind != kind:
			case c.Linked:
				linked = append(linked, i)
			case len(linked) == 0:
				unlinked = append(unlinked, i)
			}
		}
		p := period(collectives, linked)
		for back := 1; p > 0 && back <= len(unlinked); back++ {
			i := unlinked[len(unlinked)-back]
			like := linked[(p-back%p)%p]
			if collectives[i].Kernel != collectives[like].Kernel {
				break
			}
			guesses[i] = guess{collectives[like].Site, collectives[like].Step, 1 + (back-1)/p}
		}
	}
	return guesses
}

// period returns the least p with which a sequence of collectives repeats, by kernel name
// and site, at least twice as a whole; 0 if there is none.
func period(collectives []Collective, seq []int) int {
	same := func(i, j int) bool {
		a, b := &collectives[seq[i]], &collectives[seq[j]]
		return a.Site == b.Site && a.Kernel == b.Kernel
	}
	for p := 1; 2*p <= len(seq); p++ {
		repeats := true
		for i := p; i < len(seq) && repeats; i++ {
			repeats = same(i, i-p)
		}
		if repeats {
			return p
		}
	}
	return 0
}
