package facts

import "strconv"

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// Group is the collectives of one kind that one site launches in one step.
type Group struct {
	Step     int // -1 for inferred groups, whose step lies outside the recording
	Kind     Collective
	Site     LaunchSite
	Inferred bool // the site is inferred from the order of kernel names
	Bytes    int64
	Messages []int // indexes into Rank.Messages, by start
	Overlap  Overlap
	First    Overlap // of the first of them alone
}

// groupKey tells groups apart: by step, or where that is inferred by the step they
// are like and the number of periods before it.
type groupKey struct {
	step, back int
	kind       Collective
	site       LaunchSite
}

// groups puts collectives together by kind, site and step; unlinked ones join
// where their site can be inferred.
func (c *computer) groups(r *Rank) []Group {
	inferred := c.inferSites(r)
	index := make(map[groupKey]int)
	var list []Group
	for i := range r.Messages {
		m := &r.Messages[i]
		key := groupKey{step: m.Step, kind: m.Kind, site: m.Site}
		guess, isGuess := inferred[i]
		if isGuess {
			key.step, key.back, key.site = guess.like, guess.back, guess.site
		}
		if key.site.Site == SiteUnknown && m.Launch < 0 {
			continue
		}
		g, ok := index[key]
		if !ok {
			g = len(list)
			index[key] = g
			list = append(list, Group{Step: m.Step, Kind: m.Kind, Site: key.site, Inferred: isGuess})
		}
		list[g].Messages = append(list[g].Messages, i)
		list[g].Bytes = addKnown(list[g].Bytes, m.Bytes)
	}
	for i := range list {
		list[i].measure(r)
	}
	return list
}

// addKnown adds sizes; one unknown size makes the sum unknown (-1).
func addKnown(sum, bytes int64) int64 {
	if sum < 0 || bytes < 0 {
		return -1
	}
	return sum + bytes
}

func (g *Group) measure(r *Rank) {
	g.Overlap = r.Measure(g.Messages)
	g.First = r.Measure(g.Messages[:1])
}

// guess is an inferred launch site: that of a collective in step like, back periods
// later.
type guess struct {
	site       LaunchSite
	like, back int
}

// inferSites guesses the site of the collectives that lead a recording and have no
// launch in it, kind by kind.
//
//  1. The linked collectives that follow repeat with some period; find the
//     shortest, by kernel name and site.
//  2. Align the unlinked ones with the end of a period, going backwards.
//  3. Stop at the first whose kernel name differs: what lies before is unknown.
//
// A period must be seen at least twice. Guesses never enter the launch sites.
func (c *computer) inferSites(r *Rank) map[int]guess {
	guesses := make(map[int]guess)
	for _, kind := range Collectives() {
		var unlinked, linked []int
		for i := range r.Messages {
			switch m := &r.Messages[i]; {
			case m.Kind != kind:
			case m.Launch >= 0:
				linked = append(linked, i)
			case len(linked) == 0:
				unlinked = append(unlinked, i)
			}
		}
		p := c.period(r, linked)
		for back := 1; p > 0 && back <= len(unlinked); back++ {
			i := unlinked[len(unlinked)-back]
			like := linked[(p-back%p)%p]
			if c.col.Name[r.Messages[i].Row] != c.col.Name[r.Messages[like].Row] {
				break
			}
			m := &r.Messages[like]
			guesses[i] = guess{m.Site, m.Step, 1 + (back-1)/p}
		}
	}
	return guesses
}

// period is the least p with which a sequence of collectives repeats by kernel
// name and site, at least twice as a whole; 0 where there is none.
func (c *computer) period(r *Rank, seq []int) int {
	same := func(i, j int) bool {
		a, b := &r.Messages[seq[i]], &r.Messages[seq[j]]
		return a.Site == b.Site && c.col.Name[a.Row] == c.col.Name[b.Row]
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
