package analyze

import (
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/trace/hardware"
)

// bandwidthOf is the peak memory bandwidth of a rank's device in bytes/s, 0 unknown; peak
// goes before the table of devices unless it is 0.
func bandwidthOf(r *facts.Rank, peak int64) int64 {
	if peak > 0 {
		return peak
	}
	d, _ := hardware.Find(r.DeviceName)
	return d.Bandwidth
}

// floorOf is the least time that moving some bytes takes, in ns; 0 unknown.
func floorOf(bytes, bandwidth int64) int64 {
	if bandwidth == 0 {
		return 0
	}
	return int64(float64(bytes) / float64(bandwidth) * 1e9)
}

// passRows has the passes that write gradients in the steps that were asked for. uniform
// says that the user declared equal token counts on all ranks, equal that the recorded
// step has them: that is a remark, no proof.
func passRows(list []*Rank, uniform, equal bool, peak int64) (rows []report.GradientPass) {
	for _, r := range list {
		for i := range r.Passes {
			p := &r.Passes[i]
			if !r.Selected(p.Step) || p.Kind == gradients.NormPass {
				continue
			}
			row := passRow(r, p, peak)
			row.Verdict, row.Reason = VerdictOf(r.Rank, p, uniform)
			if equal && row.Verdict == report.Avoidable && p.Kind == gradients.ScalePass {
				row.Reason += "; the ranks have equally many tokens in the " +
					"recorded step, which a few steps do not prove for all"
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// passRow is a pass without its verdict.
func passRow(r *Rank, p *gradients.Pass, peak int64) report.GradientPass {
	row := report.GradientPass{
		Rank:       r.ID,
		Step:       p.Step,
		Kind:       string(p.Kind),
		Where:      string(p.Place),
		Optimizer:  p.Optimizer,
		Parameters: p.Parameters,
		Launches:   p.Launches,
		Bytes:      p.Bytes,
		Busy:       p.Busy,
		Span:       p.Span,
		OnDevice:   p.OnDevice,
	}
	if p.OnDevice && p.Bytes > 0 {
		if floor := floorOf(p.Bytes, bandwidthOf(r.Rank, peak)); floor > 0 {
			row.Floor = &floor
		}
		if p.Busy > 0 {
			achieved := int64(float64(p.Bytes) / float64(p.Busy) * 1e9)
			row.Achieved = &achieved
		}
	}
	return row
}

// syncRows has the ranks whose steps are those of optimizers.
func syncRows(list []*Rank) (rows []report.GradientSync) {
	for _, r := range list {
		if r.StepSource != steps.FromOptimizer {
			continue
		}
		row := report.GradientSync{Rank: r.ID, Pattern: string(r.Sync.Pattern), Kind: r.Sync.Kind.String(),
			PerMicroBatch: notNil(r.Sync.PerPass), Site: string(r.Sync.Site.Site)}
		if len(r.Optimizers) == 1 {
			row.Optimizer = r.Optimizers[0].Name
		}
		if n := ReducingRanks(r.Rank); n > 0 {
			row.Ranks = &n
		}
		rows = append(rows, row)
	}
	return rows
}

// tokenRows has the ranks whose steps are those of optimizers.
func tokenRows(list []*Rank) (rows []report.TokenAllReduce) {
	for _, r := range list {
		if r.StepSource != steps.FromOptimizer {
			continue
		}
		row := report.TokenAllReduce{Rank: r.ID, PerStep: r.Tokens.PerStep}
		if r.Tokens.Judgable {
			present := r.Tokens.Place != gradients.TokensNowhere
			row.Present = &present
			if where := string(r.Tokens.Place); present {
				row.Where = &where
			}
		}
		rows = append(rows, row)
	}
	return rows
}
