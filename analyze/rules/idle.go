package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// Idle time of a cause is worth saying where it takes a share of the window in several
// steps: a bad first step is no finding.
const (
	idleShare   = 0.01 // of a step's window
	idleSteps   = 3    // complete steps, or all if there are fewer
	launchShare = 0.05 // for launch-bound steps
	launchGaps  = 20   // likewise
)

// idleNeeds are what causes of idle time are found from.
var idleNeeds = []analyze.Need{analyze.NeedDevice, analyze.NeedSteps, analyze.NeedLaunches}

// idleRule says how a finding about idle time reads.
type idleRule struct {
	finding idle.Finding
	message string                   // followed by the cost
	why     func(*idle.Shown) string // of the window in which it takes longest
	fix     func(*idle.Shown) string // likewise, nil or "" for that of the rule
}

// run claims the idle time of a finding on every rank on which it is worth saying.
func (rule idleRule) run(p *analyze.Pass) {
	var cost analyze.Cost
	var gaps []shownGap
	for _, r := range p.Ranks {
		if !rule.worthSaying(r) {
			continue
		}
		said := p.Explained(r)
		for i := range r.Steps {
			s, left := &r.Steps[i], said
			for w := range s.Idle {
				ns := s.Idle[w].Of(rule.finding)
				off := min(ns, left)
				ns, left = ns-off, left-off
				if !r.Selected(i) || ns == 0 {
					continue
				}
				got, others := p.ClaimRest(r, i, w, timeline.IdleBucket, ns)
				p.Remark(others)
				cost.Add(r, i, got)
				gaps = append(gaps, shownGap{r, &s.Idle[w].Shown[rule.finding]})
			}
		}
	}
	p.ReportHost(&cost, func(mean, step int64) report.Finding {
		gaps = longestFirst(gaps)
		f := report.Finding{Message: rule.message + " " + perStep(mean, step) + inFew(&cost, p.Ranks),
			Why: rule.why(gaps[0].Shown), Saving: &report.Range{Low: 0, High: mean}}
		for _, g := range gaps[:min(maxEvidence, len(gaps))] {
			f.Evidence = append(f.Evidence, analyze.EvidenceOf(g.rank, g.Event))
		}
		if rule.fix != nil {
			f.Fix = rule.fix(gaps[0].Shown)
		}
		return f
	})
}

// shownGap is the longest gap of a window.
type shownGap struct {
	rank *analyze.Rank
	*idle.Shown
}

// longestFirst orders gaps by their length; of equals the earlier stays first.
func longestFirst(gaps []shownGap) []shownGap {
	slices.SortStableFunc(gaps, func(a, b shownGap) int { return cmp.Compare(b.NS, a.NS) })
	return gaps
}

// worthSaying reports whether enough steps of a rank have enough of the idle time. Only
// complete steps count where there are any.
func (rule idleRule) worthSaying(r *analyze.Rank) bool {
	of, have := 0, 0
	for _, complete := range []bool{true, false} {
		for i := range r.Steps {
			if s := &r.Steps[i]; r.Selected(i) && len(s.Windows) > 0 && s.Complete == complete {
				of++
				if rule.inStep(r, i) {
					have++
				}
			}
		}
		if of > 0 {
			break
		}
	}
	return of > 0 && have >= min(idleSteps, of)
}

// inStep reports whether a window of a step has enough of the idle time.
func (rule idleRule) inStep(r *analyze.Rank, step int) bool {
	s := &r.Steps[step]
	for w := range s.Windows {
		length := float64(s.Windows[w].End - s.Windows[w].Start)
		ns, share := float64(s.Idle[w].Of(rule.finding)), idleShare
		if rule.finding == idle.LaunchBound {
			if share = launchShare; s.Idle[w].LaunchGaps < launchGaps {
				continue
			}
		}
		if ns > 0 && ns >= share*length {
			return true
		}
	}
	return false
}

// inside is " in OPERATOR, at LINE OF CODE", as far as either is known.
func inside(s *idle.Shown) string {
	text := ""
	if s.Operator != "" && s.Operator != s.Event.Name {
		text = " in " + s.Operator
	}
	if s.Python != "" {
		text += ", at " + s.Python
	}
	return text
}

// longestGap is "at most 60.59 ms at a time".
func longestGap(s *idle.Shown) string {
	return fmt.Sprintf("at most %s at a time", units.Milliseconds(s.NS))
}
