package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace"
)

// side is the reports of one side with their steps put together by kind.
type side struct {
	reports []*report.Report
	pools   []*pool          // by first appearance
	of      map[string]*pool // by key
	runs    int
}

// unit is one step of one run: the ranks of a run step together, so their figures are
// not independent and make one value.
type unit struct{ run, step int }

// pool is the steps of one kind on one side.
type pool struct {
	key, names string // optimizers with and without their accumulation steps
	optimizers []report.Optimizer
	letters    []string         // what the reports call the kind
	called     map[string]bool  // the same
	units      []unit           // of complete steps, by first appearance
	rows       [][]*report.Step // in the order of units
	at         map[unit]int     // index into units
	rankSteps  int              // complete steps, those of each rank counted
	incomplete int
	micro      tally
	places     map[placeKey]*placeSum
	passes     map[passKey]*passSum

	memory peaks // of complete steps
}

// stepKey is one step of one rank in one report.
type stepKey struct {
	rank int64
	step int
}

// newSide is the reports of a side with all that they say of steps.
func newSide(reports []*report.Report) *side { return sideOf(reports, addStructure) }

// sideOf is the reports of a side with what a function adds to the pools of a report's steps.
func sideOf(reports []*report.Report, add func(r *report.Report, where map[stepKey]*pool)) *side {
	s := &side{reports: reports, of: make(map[string]*pool)}
	seen := make(map[int64]int)
	for _, r := range reports {
		kinds := kindsOf(r)
		runs := s.runsOf(r, seen)
		where := make(map[stepKey]*pool)
		for i := range r.Steps {
			row := &r.Steps[i]
			p := s.pool(kinds[kindKey{row.Rank, row.Kind}], row.Kind)
			first := where[stepKey{row.Rank, row.Index}] == nil
			where[stepKey{row.Rank, row.Index}] = p
			p.add(row, unit{runs[row.Rank], row.Index}, first)
		}
		add(r, where)
	}
	return s
}

// runsOf numbers the run that each rank of a report belongs to. A rank that occurred
// before, or whose number was assigned because another trace has it, is of another run.
func (s *side) runsOf(r *report.Report, seen map[int64]int) map[int64]int {
	runs := make(map[int64]int)
	conflicts := make(map[int64]bool)
	for _, p := range r.Health.Problems {
		conflicts[p.Rank] = conflicts[p.Rank] || p.Code == string(trace.RankConflict)
	}
	extra := 0
	for _, rank := range r.Source.Ranks {
		if conflicts[rank] {
			extra++
			runs[rank] = seen[rank] + extra
		} else {
			runs[rank] = seen[rank]
		}
		s.runs = max(s.runs, runs[rank]+1)
	}
	for _, rank := range r.Source.Ranks {
		seen[rank] = runs[rank] + 1
	}
	return runs
}

// kindKey is a rank and a kind's letter: each rank assigns letters of its own.
type kindKey struct {
	rank   int64
	letter string
}

// kindsOf finds the optimizers of each kind of a report with the accumulation steps
// that any of its steps knows.
func kindsOf(r *report.Report) map[kindKey][]report.Optimizer {
	kinds := make(map[kindKey][]report.Optimizer)
	for i := range r.Steps {
		k := kindKey{r.Steps[i].Rank, r.Steps[i].Kind}
		if kinds[k] == nil {
			kinds[k] = slices.Clone(r.Steps[i].Optimizers)
			continue
		}
		for j, o := range r.Steps[i].Optimizers {
			if j < len(kinds[k]) && kinds[k][j].Accumulation == nil {
				kinds[k][j].Accumulation = o.Accumulation
			}
		}
	}
	return kinds
}

// pool returns the pool for some optimizers.
func (s *side) pool(optimizers []report.Optimizer, letter string) *pool {
	key := keyOf(optimizers)
	p := s.of[key]
	if p == nil {
		p = &pool{
			key:        key,
			names:      namesOf(optimizers),
			optimizers: optimizers,
			called:     make(map[string]bool),
			at:         make(map[unit]int),
			micro:      make(tally),
			places:     make(map[placeKey]*placeSum),
			passes:     make(map[passKey]*passSum),
		}
		s.of[key], s.pools = p, append(s.pools, p)
	}
	if !p.called[letter] {
		p.called[letter], p.letters = true, append(p.letters, letter)
	}
	return p
}

// add puts one row of a step into the pool; first is false for the rows of further
// devices.
func (p *pool) add(row *report.Step, u unit, first bool) {
	if !row.Complete {
		if first {
			p.incomplete++
		}
		return
	}
	if first {
		p.rankSteps++
		p.micro.add(knownText(row.MicroBatches))
	}
	i, known := p.at[u]
	if !known {
		i = len(p.units)
		p.at[u] = i
		p.units, p.rows = append(p.units, u), append(p.rows, nil)
	}
	p.rows[i] = append(p.rows[i], row)
}

// steps are the rows of each complete step in the order of the reports.
func (p *pool) steps() [][]*report.Step {
	if p == nil {
		return nil
	}
	return slices.Clone(p.rows)
}

// addStructure adds what a report says of collectives, gradient passes and memory to the pools
// of their steps. What belongs to no step or to an incomplete one is left out.
func addStructure(r *report.Report, where map[stepKey]*pool) {
	complete := make(map[stepKey]bool)
	for i := range r.Steps {
		complete[stepKey{r.Steps[i].Rank, r.Steps[i].Index}] = r.Steps[i].Complete
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		if g.Step != nil && !g.Inferred && complete[stepKey{g.Rank, *g.Step}] {
			where[stepKey{g.Rank, *g.Step}].addGroup(g)
		}
	}
	for i := range r.GradientPasses {
		row := &r.GradientPasses[i]
		if k := (stepKey{row.Rank, row.Step}); complete[k] {
			where[k].addPass(row)
		}
	}
	for i := range r.Memory {
		m := &r.Memory[i]
		if m.Step != nil && m.Complete && complete[stepKey{m.Rank, *m.Step}] {
			where[stepKey{m.Rank, *m.Step}].memory.add(m)
		}
	}
}

// describe describes the reports of the side.
func (s *side) describe() Side {
	d := Side{
		Files:      []string{},
		Ranks:      []int64{},
		Runs:       s.runs,
		Device:     "unknown",
		Model:      "unknown",
		StepSource: "none",
	}
	var busy, overlapped int64
	for i, r := range s.reports {
		d.Files = append(d.Files, r.Source.Files...)
		d.Ranks = append(d.Ranks, r.Source.Ranks...)
		d.Judged += len(r.Findings)
		for _, p := range r.Health.Problems {
			if p.Severity != string(report.Note) {
				d.Warnings++
			}
		}
		for _, c := range r.Communication {
			busy, overlapped = busy+c.Busy, overlapped+c.Overlapped
		}
		if i == 0 {
			d.Device, d.WorldSize, d.StepSource = r.Source.Device, r.Source.WorldSize, r.Source.StepSource
			d.Model, d.fingerprint = r.Source.Fingerprint.Model, r.Source.Fingerprint
		}
	}
	slices.Sort(d.Ranks)
	d.Ranks = slices.Compact(d.Ranks)
	for _, p := range s.pools {
		d.Steps += len(p.units)
		d.Incomplete += p.incomplete
	}
	if busy > 0 {
		ratio := float64(overlapped) / float64(busy)
		d.Overlap = &ratio
	}
	return d
}

// namesOf joins the optimizers' names, as reports do.
func namesOf(optimizers []report.Optimizer) string {
	names := make([]string, len(optimizers))
	for i, o := range optimizers {
		names[i] = o.Name
	}
	return strings.Join(names, " + ")
}

func keyOf(optimizers []report.Optimizer) string {
	var b strings.Builder
	for _, o := range optimizers {
		fmt.Fprintf(&b, "%s\x00%s\x00", o.Name, knownText(o.Accumulation))
	}
	return b.String()
}

// knownText prints a number that may be unknown.
func knownText(n *int) string {
	if n == nil {
		return unknown
	}
	return fmt.Sprint(*n)
}

const unknown = "unknown"

// tally counts texts.
type tally map[string]int

func (t tally) add(s string) { t[s]++ }

// most is the text that was counted most often; of equals the least.
func (t tally) most() string {
	best := ""
	for s, n := range t {
		if best == "" && t[best] == 0 || n > t[best] || n == t[best] && s < best {
			best = s
		}
	}
	return best
}
