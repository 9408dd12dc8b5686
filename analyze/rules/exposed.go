package rules

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// maxEvidence is how many events a finding shows.
const maxEvidence = 5

// claimExposed claims, step by step, the exposed time of some collectives, which
// are all of one kind.
func claimExposed(
	p *analyze.Pass, r *analyze.Rank, collectives []int, kind timeline.CollectiveKind, cost *analyze.Cost,
) {
	claimSets(p, r, r.ExposedOf(collectives, kind), timeline.BucketOf(kind), cost)
}

// claimSets claims, step by step, what lies in some sets of instants, one per device.
func claimSets(p *analyze.Pass, r *analyze.Rank, exposed []*timeline.Set, bucket timeline.Bucket, cost *analyze.Cost) {
	eachWindow(r, func(step, w int) {
		window := &r.Steps[step].Windows[w]
		want := exposed[window.Device].Within(window.Start, window.End)
		if want == 0 {
			return
		}
		got, others := p.Claim(r, step, w, bucket, want)
		cost.Add(r, step, got)
		p.Remark(others)
	})
}

// eachWindow visits the windows of the steps of a rank that were asked for.
func eachWindow(r *analyze.Rank, visit func(step, window int)) {
	for i := range r.Steps {
		if r.Selected(i) {
			for w := range r.Steps[i].Windows {
				visit(i, w)
			}
		}
	}
}

// mostExposed shows the collectives with the most exposed time, over all ranks.
func mostExposed(ranks []*analyze.Rank, selected map[*analyze.Rank][]int) []report.Evidence {
	type candidate struct {
		rank       *analyze.Rank
		collective int // its index
		exposed    int64
	}
	var most []candidate // by exposed time, of equals the first
	for _, r := range ranks {
		for _, i := range selected[r] {
			one := &r.Collectives[i]
			if one.Step < 0 || len(most) == maxEvidence && one.End-one.Start <= most[maxEvidence-1].exposed {
				continue
			}
			c := candidate{r, i, r.ExposedAlone(i)}
			at := sort.Search(len(most), func(k int) bool { return most[k].exposed < c.exposed })
			if at == maxEvidence {
				continue
			}
			most = slices.Insert(most, at, c)
			most = most[:min(maxEvidence, len(most))]
		}
	}
	var evidence []report.Evidence
	for _, c := range most {
		evidence = append(evidence, analyze.EvidenceOf(c.rank, c.rank.Event(c.collective)))
	}
	return evidence
}

// siteCount counts linked collectives by launch site.
type siteCount struct {
	linked int
	count  map[timeline.LaunchSite]int
	last   timeline.LaunchSite // of a row of collectives with the same site, which is common
	times  int                 // that many of it are not in count yet
}

func (c *siteCount) add(site timeline.LaunchSite) {
	if site != c.last {
		c.flush()
		c.last = site
	}
	c.linked, c.times = c.linked+1, c.times+1
}

func (c *siteCount) flush() {
	if c.times > 0 {
		c.count[c.last] += c.times
	}
	c.times = 0
}

// countSites counts those collectives for which which returns true.
func countSites(ranks []*analyze.Rank, which func(r *analyze.Rank, i int) bool) siteCount {
	c := siteCount{count: make(map[timeline.LaunchSite]int)}
	for _, r := range ranks {
		for i := range r.Collectives {
			if m := &r.Collectives[i]; m.Linked && which(r, i) {
				c.add(m.Site)
			}
		}
	}
	c.flush()
	return c
}

// of counts the collectives of one class of site, most frequent name first.
func (c siteCount) of(site timeline.Site) (total int, names string) {
	type named struct {
		name string
		n    int
	}
	var list []named
	for s, n := range c.count {
		if s.Site == site {
			total += n
			list = append(list, named{s.Name, n})
		}
	}
	slices.SortFunc(list, func(a, b named) int {
		return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(a.name, b.name))
	})
	parts := make([]string, len(list))
	for i, l := range list {
		parts[i] = fmt.Sprintf("%s %d", l.name, l.n)
	}
	return total, strings.Join(parts, ", ")
}

// names are those of the sites of one class, in order.
func (c siteCount) names(site timeline.Site) []string {
	var names []string
	for s := range c.count {
		if s.Site == site {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// waitCaveat says what a duration of communication holds, and how to tell it apart.
func waitCaveat(p *analyze.Pass) string {
	const what = "a communication kernel's duration is transfer plus waiting for the latest rank; "
	if p.AllRanks() {
		return what + "{show} ranks tells them apart"
	}
	return what + "analyze all ranks together to tell them apart"
}
