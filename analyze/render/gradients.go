package render

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// passKey is what passes of several steps have in common.
type passKey struct {
	rank        int64
	kind, where string
	optimizer   string
	verdict     report.Verdict
	parameters  int
	launches    int
	bytes       int64
}

// passTable lists the passes over the gradients: what they do, where, and means over
// the steps that have them.
func passTable(r *report.Report) table {
	t := table{title: "Passes over the gradients, mean of each, ms", left: 4,
		header: []string{
			"rank", "what", "where", "optimizer", "count", "tensors", "calls", "MB", "busy", "span", "GB/s", "verdict",
		},
		note: "MB: read and written; span: from the first start to the last end, gaps included"}
	type sums struct {
		n, busy, span int64
		device        bool
	}
	total := make(map[passKey]*sums)
	var order []passKey
	for i := range r.GradientPasses {
		p := &r.GradientPasses[i]
		k := passKey{p.Rank, p.Kind, p.Where, p.Optimizer, p.Verdict, p.Parameters, p.Launches, p.Bytes}
		if total[k] == nil {
			total[k] = &sums{device: p.OnDevice}
			order = append(order, k)
		}
		total[k].n++
		total[k].busy += p.Busy
		total[k].span += p.Span
	}
	for _, k := range order {
		s := total[k]
		t.rows = append(t.rows, []string{
			strconv.FormatInt(k.rank, 10), k.kind, spaced(k.where), short(k.optimizer), strconv.FormatInt(s.n, 10),
			strconv.Itoa(k.parameters), strconv.Itoa(k.launches), fmt.Sprintf("%.1f", units.MB(k.bytes)),
			millis(s.busy / s.n), millis(s.span / s.n), achieved(k.bytes, s.busy/s.n, s.device), string(k.verdict),
		})
	}
	return t
}

// achieved is the bandwidth of a pass in GB/s, where a device did it.
func achieved(bytes, busy int64, device bool) string {
	if !device || busy == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", float64(bytes)/float64(busy))
}

// accumulationTable lists how gradients are accumulated and reduced.
func accumulationTable(r *report.Report) table {
	t := table{title: "Accumulation and reduction of gradients", left: 6,
		header: []string{"rank", "optimizer", "accumulation steps", "micro-batches", "reduced in", "token all-reduce"},
		note:   "? is unknown; reduced in: gradient collectives by micro-batch of a step"}
	steps, tokens := make(map[int64][]*report.Step), make(map[int64]string)
	for i := range r.Steps {
		steps[r.Steps[i].Rank] = append(steps[r.Steps[i].Rank], &r.Steps[i])
	}
	for i := range r.TokenAllReduce {
		if t := &r.TokenAllReduce[i]; tokens[t.Rank] == "" {
			tokens[t.Rank] = tokenText(t)
		}
	}
	for _, sync := range r.GradientSync {
		accumulation, micro := perOptimizer(steps[sync.Rank])
		pattern := spaced(sync.Pattern) + " " + strings.ReplaceAll(fmt.Sprint(sync.PerMicroBatch), " ", ",")
		for _, o := range accumulation {
			t.rows = append(t.rows, []string{
				strconv.FormatInt(sync.Rank, 10), short(o.name), orUnknown(o.steps), orUnknown(micro),
				pattern, cmp.Or(tokens[sync.Rank], "?"),
			})
		}
	}
	return t
}

// optimizerSteps is the last known accumulation of an optimizer.
type optimizerSteps struct {
	name  string
	steps *int
}

// perOptimizer collects the optimizers of the steps of a rank and its last known micro-batches.
func perOptimizer(steps []*report.Step) (list []optimizerSteps, micro *int) {
	places := make(map[string]int)
	for _, s := range steps {
		if s.MicroBatches != nil {
			micro = s.MicroBatches
		}
		for _, o := range s.Optimizers {
			at, known := places[o.Name]
			if !known {
				at, places[o.Name] = len(list), len(list)
				list = append(list, optimizerSteps{o.Name, nil})
			}
			if o.Accumulation != nil {
				list[at].steps = o.Accumulation
			}
		}
	}
	return list, micro
}

func orUnknown(n *int) string {
	if n == nil {
		return "?"
	}
	return strconv.Itoa(*n)
}

func tokenText(t *report.TokenAllReduce) string {
	switch {
	case t.Present == nil:
		return "?"
	case !*t.Present:
		return "none"
	}
	return fmt.Sprintf("%s, %d per step", spaced(*t.Where), t.PerStep)
}
