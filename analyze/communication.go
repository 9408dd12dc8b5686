package analyze

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// communicationRows has the ranks with collectives.
func communicationRows(list []*Rank) (rows []report.Communication) {
	for _, r := range list {
		if all := r.Measure(r.Select(func(*facts.Collective) bool { return true })); all.Count > 0 {
			rows = append(rows, report.Communication{Rank: r.ID, Count: all.Count, Overlap: overlapRow(all)})
		}
	}
	return rows
}

func overlapRow(o facts.Overlap) report.Overlap {
	row := report.Overlap{Busy: o.Busy, Overlapped: o.Overlapped, WithMemory: o.WithMemory, Exposed: o.Exposed()}
	if ratio, ok := o.Ratio(); ok {
		row.Ratio = &ratio
	}
	return row
}

// collectivesRows has the kinds of collectives of every rank.
func collectivesRows(list []*Rank) (rows []report.Collectives) {
	for _, r := range list {
		for _, kind := range timeline.CollectiveKinds() {
			collectives := r.Select(func(c *facts.Collective) bool { return c.Kind == kind })
			if len(collectives) == 0 {
				continue
			}
			o := r.Measure(collectives)
			rows = append(rows, report.Collectives{
				Rank:    r.ID,
				Kind:    kind.String(),
				Count:   o.Count,
				Overlap: overlapRow(o),
				InSteps: exposedInSteps(r, r.Exposed(collectives, timeline.BucketOf(kind))),
				Sites:   siteRows(r.Rank, kind),
			})
		}
	}
	return rows
}

// exposedInSteps is the exposed time inside the device windows of all steps that were
// asked for, or nil where there is none.
func exposedInSteps(r *Rank, exposed []*timeline.Set) *int64 {
	var sum *int64
	for i := range r.Steps {
		if !r.Selected(i) {
			continue
		}
		for _, w := range r.Steps[i].Windows {
			if sum == nil {
				sum = new(int64)
			}
			*sum += exposed[w.Device].Within(w.Start, w.End)
		}
	}
	return sum
}

// siteRows counts launch sites: most first, unknown last.
func siteRows(r *facts.Rank, kind timeline.CollectiveKind) []report.LaunchSite {
	count := make(map[timeline.LaunchSite]int)
	var last timeline.LaunchSite
	times := 0 // of last, which rows of collectives share
	for i := range r.Collectives {
		c := &r.Collectives[i]
		if c.Kind != kind {
			continue
		}
		if c.Site != last && times > 0 {
			count[last] += times
			times = 0
		}
		last, times = c.Site, times+1
	}
	if times > 0 {
		count[last] += times
	}
	rows := []report.LaunchSite{}
	for site, n := range count {
		rows = append(rows, report.LaunchSite{Site: string(site.Site), Name: site.Name, Count: n})
	}
	slices.SortFunc(rows, func(a, b report.LaunchSite) int {
		unknown := string(timeline.SiteUnknown)
		if (a.Site == unknown) != (b.Site == unknown) {
			if a.Site == unknown {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Name, b.Name))
	})
	return rows
}

// groupRows has the groups of every rank.
func groupRows(list []*Rank) (rows []report.CollectiveGroup) {
	for _, r := range list {
		for i := range r.Groups {
			rows = append(rows, groupRow(r, &r.Groups[i]))
		}
	}
	return rows
}

func groupRow(r *Rank, g *facts.Group) report.CollectiveGroup {
	row := report.CollectiveGroup{
		Rank:      r.ID,
		Kind:      g.Kind.String(),
		Site:      string(g.Site.Site),
		Name:      g.Site.Name,
		Inferred:  g.Inferred,
		Count:     len(g.Members),
		Busy:      g.Overlap.Busy,
		Over:      g.Overlap.Overlapped,
		FirstBusy: g.First.Busy,
		FirstOver: g.First.Overlapped,
	}
	if g.Step >= 0 {
		row.Step = &g.Step
	}
	if g.Bytes >= 0 {
		row.Bytes = &g.Bytes
	}
	if ratio, ok := g.Overlap.Ratio(); ok {
		row.Ratio = &ratio
	}
	for _, i := range g.Members {
		row.Kernels = append(row.Kernels, timeline.ShortKernel(r.Kernels[r.Collectives[i].Kernel]))
	}
	return row
}
