package compare

import (
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
)

// Gap is what a report says in a few figures of the gap between backward() and
// optimizer.step(): what is done to gradients there, and whether their reduction is hidden.
type Gap struct {
	Scaling Scaling // passes that scale gradients
	Sites   []Site  // where reduce-scatters are launched, in the order of the report
	Exposed Exposed // reduce-scatters that nothing hides
}

// Scaling is the passes that scale gradients. It is zero where there are none.
type Scaling struct {
	Passes   int   // over all ranks and steps
	Launches int   // of one pass, mean
	Bytes    int64 // that one pass touches, mean
	Span     int64 // ns of a step that passes take, mean over steps
}

// Site is how many collectives are launched from one place, on all ranks and in all steps.
type Site struct {
	Name  string // in words: backward hook, optimizer step
	Count int    // at least 1
}

// Exposed is a mean over the steps whose ledger is known. It is zero where none is.
type Exposed struct {
	Steps int     // whose ledger is known
	Time  int64   // ns of a step
	Step  int64   // ns that a step takes
	Share float64 // of the time of all steps, from 0 to 1
}

// GapOf sums up a report.
func GapOf(r *report.Report) Gap {
	return Gap{Scaling: scalingOf(r), Sites: scatterSites(r), Exposed: exposedScatter(r)}
}

func scalingOf(r *report.Report) Scaling {
	var s Scaling
	for _, p := range r.GradientPasses {
		if p.Kind == "scale" {
			s.Passes, s.Launches = s.Passes+1, s.Launches+p.Launches
			s.Bytes, s.Span = s.Bytes+p.Bytes, s.Span+p.Span
		}
	}
	if s.Passes == 0 {
		return s
	}
	s.Launches /= s.Passes
	s.Bytes /= int64(s.Passes)
	s.Span /= int64(max(1, len(r.Steps)))
	return s
}

func scatterSites(r *report.Report) []Site {
	var list []Site
	place := make(map[string]int)
	for _, c := range r.Collectives {
		if c.Kind != "reduce_scatter" {
			continue
		}
		for _, site := range c.Sites {
			name := strings.ReplaceAll(site.Site, "_", " ")
			at, seen := place[name]
			if !seen {
				at = len(list)
				place[name], list = at, append(list, Site{Name: name})
			}
			list[at].Count += site.Count
		}
	}
	return list
}

func exposedScatter(r *report.Report) Exposed {
	exposed, total, n := int64(0), int64(0), int64(0)
	for _, s := range r.Steps {
		if s.Ledger != nil && s.Duration != nil {
			exposed, total, n = exposed+s.Ledger.ReduceScatter, total+*s.Duration, n+1
		}
	}
	if n == 0 || total == 0 {
		return Exposed{}
	}
	return Exposed{Steps: int(n), Time: exposed / n, Step: total / n, Share: float64(exposed) / float64(total)}
}
