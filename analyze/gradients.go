package analyze

import (
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace/hardware"
)

// bandwidth is the peak memory bandwidth of a rank's device in bytes/s, 0 unknown.
func (o *Options) bandwidth(r *facts.Rank) int64 {
	if o.PeakBandwidth > 0 {
		return o.PeakBandwidth
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

func (a *assembly) gradients(r *facts.Rank) {
	for i := range r.Passes {
		p := &r.Passes[i]
		if !r.Steps[p.Step].Excluded && p.Kind != facts.NormPass {
			a.report.GradientPasses = append(a.report.GradientPasses, a.passRow(r, p))
		}
	}
	if r.StepSource != facts.StepsFromOptimizer {
		return
	}
	name := ""
	if len(r.Optimizers) == 1 {
		name = r.Optimizers[0].Name
	}
	sync := report.GradientSync{Rank: r.ID, Optimizer: name, Pattern: string(r.Sync.Pattern), Kind: r.Sync.Kind.String(),
		PerMicroBatch: notNil(r.Sync.PerPass), Site: string(r.Sync.Site.Site)}
	if n := ReducingRanks(r); n > 0 {
		sync.Ranks = &n
	}
	a.report.GradientSync = append(a.report.GradientSync, sync)
	a.report.TokenAllReduce = append(a.report.TokenAllReduce, tokenRow(r))
}

func (a *assembly) passRow(r *facts.Rank, p *facts.GradientPass) report.GradientPass {
	row := report.GradientPass{Rank: r.ID, Step: p.Step, Kind: string(p.Kind), Where: string(p.Place), Optimizer: p.Optimizer,
		Parameters: p.Parameters, Launches: p.Launches, Bytes: p.Bytes, Busy: p.Busy, Span: p.Span, OnDevice: p.OnDevice}
	verdict, reason := VerdictOf(r, p, a.o.UniformTokens)
	row.Verdict, row.Reason = verdict, reason
	if p.OnDevice && p.Bytes > 0 {
		if floor := floorOf(p.Bytes, a.o.bandwidth(r)); floor > 0 {
			row.Floor = &floor
		}
		if p.Busy > 0 {
			achieved := int64(float64(p.Bytes) / float64(p.Busy) * 1e9)
			row.Achieved = &achieved
		}
	}
	return row
}

func tokenRow(r *facts.Rank) report.TokenAllReduce {
	row := report.TokenAllReduce{Rank: r.ID, PerStep: r.Tokens.PerStep}
	if !r.Tokens.Judgable {
		return row
	}
	present := r.Tokens.Place != facts.TokensNowhere
	row.Present = &present
	if present {
		where := string(r.Tokens.Place)
		row.Where = &where
	}
	return row
}

// accumulationSteps is the number that all optimizers of all steps have, or nil.
func accumulationSteps(ranks []fileRank) *int {
	common := facts.Unknown
	for _, fr := range ranks {
		for i := range fr.rank.Steps {
			for _, o := range fr.rank.Steps[i].PerOptimizer {
				switch {
				case o.Accumulation == facts.Unknown || o.Accumulation == common:
				case common == facts.Unknown:
					common = o.Accumulation
				default:
					return nil
				}
			}
		}
	}
	if common == facts.Unknown {
		return nil
	}
	return &common
}

// known is n, or nil where it is unknown.
func known(n int) *int {
	if n == facts.Unknown {
		return nil
	}
	return &n
}
