package gate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// pick is a pointer to a value.
func pick[T any](v T) *T { return &v }

// twoRanks is a report in which no two figures are alike: two ranks with two complete steps
// each, and an incomplete one of rank 1 that must count nowhere.
func twoRanks() *report.Report {
	r := &report.Report{Schema: report.Schema, Source: report.Source{
		WorldSize: pick(int64(2)), Ranks: []int64{0, 1}, StepSource: "optimizer",
		Fingerprint: report.Fingerprint{Model: "m"},
	}}
	for rank := range int64(2) {
		for index := range 2 {
			n := 1000*rank + 100*int64(index)
			r.Steps = append(r.Steps, report.Step{
				Rank: rank, Index: index, Kind: "A", Complete: true, MicroBatches: pick(3 + int(rank)),
				Optimizers:   []report.Optimizer{{Name: "Adam", Accumulation: pick(2 + index)}, {Name: "SGD"}},
				LinkedEvents: 40 + int(n), Duration: pick(5000 + n), HostDuration: 6000 + n,
				Ledger: &report.Ledger{Compute: 4000 + n, Memory: 300, ReduceScatter: 200, AllGather: 150,
					AllReduce: 120,
					OtherComm: 110, Idle: 120},
				Idle: &report.IdleCauses{DataLoading: 1, Synchronization: 2, MemoryManagement: 3, Compilation: 4,
					Optimizer:     5,
					HostOperators: 6, NoOperator: 7, LaunchLatency: 8, KernelGap: 9, Profiler: 10, QueuedWait: 11,
					Unlinked: 54},
				LaunchBound: pick(int64(31)), HostStall: pick(int64(17)),
			})
			at := func(kind, site string, count int, bytes, busy, over int64) report.CollectiveGroup {
				return report.CollectiveGroup{Rank: rank, Step: pick(index), Kind: kind, Site: site, Count: count,
					Bytes: &bytes, Busy: busy, Over: over}
			}
			r.Groups = append(r.Groups, at("reduce_scatter", "optimizer_step", 2, 70, 40, 10),
				at("reduce_scatter", "backward_hook", 3, 50, 60, 40), at("all_gather", "optimizer_step", 5, 30, 20, 5),
				at("all_reduce", "optimizer_step", 1, 4, 8, 6), at("all_reduce", "unknown", 6, 16, 0, 0))
			pass := func(kind string, v report.Verdict, span int64) report.GradientPass {
				return report.GradientPass{Rank: rank, Step: index, Kind: kind, Verdict: v, Span: span}
			}
			r.GradientPasses = append(r.GradientPasses, pass("scale", report.Needless, 13), pass("scale", "avoidable",
				29),
				pass("clip", report.Needless, 7))
		}
		r.GradientSync = append(r.GradientSync,
			report.GradientSync{Rank: rank, Pattern: "every_micro_batch", PerMicroBatch: []int{0, 4, int(rank) + 1}},
			report.GradientSync{Rank: rank, Pattern: "none", PerMicroBatch: []int{0, 0}},
			report.GradientSync{Rank: rank, Pattern: "unknown", PerMicroBatch: []int{9}})
		r.TokenAllReduce = append(r.TokenAllReduce, report.TokenAllReduce{Rank: rank, Present: pick(rank == 1),
			PerStep: 5},
			report.TokenAllReduce{Rank: rank})
		r.Collectives = append(r.Collectives, report.Collectives{Rank: rank, Kind: "reduce_scatter",
			Sites: []report.LaunchSite{
				{Site: "optimizer_step", Name: "A", Count: 4 + int(rank)},
				{Site: "optimizer_step", Name: "B", Count: 10},
				{Site: "backward_hook", Count: 6}, {Site: "unknown", Count: 3},
			}}, report.Collectives{Rank: rank, Kind: "all_reduce", Sites: []report.LaunchSite{
			{Site: "optimizer_step", Count: 2}, {Site: "unknown", Count: 12}}})
		r.Communication = append(r.Communication, report.Communication{Rank: rank,
			Overlap: report.Overlap{Ratio: pick(0.25 + 0.5*float64(rank))}})
		r.Health.DeviceEvents = append(r.Health.DeviceEvents,
			report.DeviceEvents{Rank: rank, Count: 200, Unlinked: 30, Edge: 20 + 10*int(rank)})
		r.Ranks = append(r.Ranks, report.RankWaits{Rank: rank, Wait: pick(50 + 20*rank), WaitCaused: pick(10 +
			30*rank)})
	}
	r.Communication = append(r.Communication, report.Communication{Rank: 1})
	r.Ranks = append(r.Ranks, report.RankWaits{Rank: 7, Wait: pick(int64(99))})
	r.Steps = append(r.Steps, report.Step{Rank: 1, Index: 2, Kind: "A", Duration: pick(int64(1)), LinkedEvents: 1,
		Ledger: &report.Ledger{Idle: 1}, MicroBatches: pick(99), HostDuration: 1,
		Optimizers: []report.Optimizer{{Name: "Adam", Accumulation: pick(99)}}})
	r.Matching = report.Matching{Matched: 8, Mismatches: 3}
	r.Normalization = report.Normalization{Mode: "per_rank", Basis: "trace", Ratio: &report.WeightRatio{Min: 0.75,
		Max: 1.125}}
	r.Findings = []report.Finding{{Rule: "A", Severity: report.Error}, {Rule: "B", Severity: report.Warn},
		{Rule: "C", Severity: report.Warn}, {Rule: "TH001", Severity: report.Warn}, {Rule: "D", Severity: report.Note}}
	return r
}

// wantMetrics is what each metric of the table is of twoRanks: value@rank.step, with - for none.
const wantMetrics = `
step.time 5000@0.0 5100@0.1 6000@1.0 6100@1.1
step.host_time 6000@0.0 6100@0.1 7000@1.0 7100@1.1
compute.time 4000@0.0 4100@0.1 5000@1.0 5100@1.1
memory.time 300@0.0 300@0.1 300@1.0 300@1.1
idle.time 120@0.0 120@0.1 120@1.0 120@1.1
idle.ratio 0.024@0.0 0.02353@0.1 0.02@1.0 0.01967@1.1
idle.data_loading.time 1@0.0 1@0.1 1@1.0 1@1.1
idle.synchronization.time 2@0.0 2@0.1 2@1.0 2@1.1
idle.memory_management.time 3@0.0 3@0.1 3@1.0 3@1.1
idle.compilation.time 4@0.0 4@0.1 4@1.0 4@1.1
idle.optimizer.time 5@0.0 5@0.1 5@1.0 5@1.1
idle.host_operators.time 6@0.0 6@0.1 6@1.0 6@1.1
idle.no_operator.time 7@0.0 7@0.1 7@1.0 7@1.1
idle.launch_latency.time 8@0.0 8@0.1 8@1.0 8@1.1
idle.kernel_gap.time 9@0.0 9@0.1 9@1.0 9@1.1
idle.profiler.time 10@0.0 10@0.1 10@1.0 10@1.1
idle.queued_wait.time 11@0.0 11@0.1 11@1.0 11@1.1
idle.unlinked.time 54@0.0 54@0.1 54@1.0 54@1.1
launch_bound.time 31@0.0 31@0.1 31@1.0 31@1.1
host_stall.time 17@0.0 17@0.1 17@1.0 17@1.1
comm.exposed.time 580@0.0 580@0.1 580@1.0 580@1.1
rs.exposed.time 200@0.0 200@0.1 200@1.0 200@1.1
ag.exposed.time 150@0.0 150@0.1 150@1.0 150@1.1
ar.exposed.time 120@0.0 120@0.1 120@1.0 120@1.1
rs.overlap.ratio 0.5@0.0 0.5@0.1 0.5@1.0 0.5@1.1
ag.overlap.ratio 0.25@0.0 0.25@0.1 0.25@1.0 0.25@1.1
ar.overlap.ratio 0.75@0.0 0.75@0.1 0.75@1.0 0.75@1.1
comm.overlap.ratio 0.25@0.- 0.75@1.-
grad.scale.time 42@0.0 42@0.1 42@1.0 42@1.1
grad.clip.time 7@0.0 7@0.1 7@1.0 7@1.1
grad.passes.time 49@0.0 49@0.1 49@1.0 49@1.1
grad.scale.passes 2@0.0 2@0.1 2@1.0 2@1.1
grad.scale.needless 1@0.0 1@0.1 1@1.0 1@1.1
grad.clip.passes 1@0.0 1@0.1 1@1.0 1@1.1
accumulation_steps 2@0.0 3@0.1 2@1.0 3@1.1
micro_batches 3@0.0 3@0.1 4@1.0 4@1.1
reductions.per_step 2@0.- 0@0.- 2@1.- 0@1.-
reductions.collectives_per_step 5@0.- 0@0.- 6@1.- 0@1.-
rs.launched_in_optimizer 14@0.- 15@1.-
reductions.missing 0@0.- 1@0.- 0@1.- 1@1.-
rs.launched_in_optimizer.per_step 2@0.0 2@0.1 2@1.0 2@1.1
ar.launched_in_optimizer.per_step 1@0.0 1@0.1 1@1.0 1@1.1
rs.per_step 5@0.0 5@0.1 5@1.0 5@1.1
ag.per_step 5@0.0 5@0.1 5@1.0 5@1.1
ar.per_step 7@0.0 7@0.1 7@1.0 7@1.1
collectives.per_step 17@0.0 17@0.1 17@1.0 17@1.1
comm.bytes.per_step 170@0.0 170@0.1 170@1.0 170@1.1
device.events.per_step 40@0.0 140@0.1 1040@1.0 1140@1.1
token_all_reduce.per_step 0@0.- 5@1.-
norm.max_weight_error 0.25@-.-
collectives.mismatched 3@-.-
wait.max 25@0.- 35@1.-
wait.caused.max 5@0.- 20@1.-
trace.unlinked.ratio 0.05@0.- 0@1.-
findings.error 1@-.-
findings.warn 2@-.-
findings.note 1@-.-
`

// TestEveryMetric: each row of the table reads the figure that it is named for, of complete
// steps only, and says where.
func TestEveryMetric(t *testing.T) {
	k := &check{views: make(map[*report.Step]*view), result: &Result{}, used: make(map[int]bool)}
	k.config.Ignores = []Ignore{{Rule: "TH001"}}
	_, views := k.selected([]*report.Report{twoRanks()})
	place := func(n int64) string {
		if n < 0 {
			return "-"
		}
		return fmt.Sprint(n)
	}
	var b strings.Builder
	for _, m := range Metrics() {
		if m.all == nil && m.step == nil || strings.HasPrefix(m.Name, "memory.") && m.Unit == Bytes {
			continue // findings.new compares; memory has a test of its own
		}
		b.WriteString("\n" + m.Name)
		for _, s := range k.samples(m, views) {
			fmt.Fprintf(&b, " %.4g@%s.%s", s.value, place(s.rank), place(s.step))
		}
	}
	if got := b.String() + "\n"; got != wantMetrics {
		g, w := strings.Split(got, "\n"), strings.Split(wantMetrics, "\n")
		for i := range g {
			if i >= len(w) || g[i] != w[i] {
				t.Errorf("%s", g[i])
			}
		}
		t.Errorf("%d lines, want %d", len(g), len(w))
	}
}

// TestMetricsOfNothing: of a report without figures no metric has a value, rather than zero.
func TestMetricsOfNothing(t *testing.T) {
	r := &report.Report{Source: report.Source{Ranks: []int64{0}}, Steps: []report.Step{{Complete: true, Kind: "A"}},
		GradientSync: []report.GradientSync{{Pattern: "unknown"}}, TokenAllReduce: []report.TokenAllReduce{{}},
		Communication: []report.Communication{{}}, Ranks: []report.RankWaits{{}},
		Normalization: report.Normalization{Mode: "unknown"}}
	declared := report.Normalization{Mode: "per_rank", Basis: "declared", Ratio: &report.WeightRatio{Min: 0.5, Max: 1}}
	for _, n := range []report.Normalization{r.Normalization, declared} {
		r.Normalization = n
		k := &check{views: make(map[*report.Step]*view), result: &Result{}, used: make(map[int]bool)}
		_, views := k.selected([]*report.Report{r})
		var got []string
		for _, m := range Metrics() {
			if m.all == nil && m.step == nil {
				continue
			}
			if list := k.samples(m, views); len(list) > 0 {
				got = append(got, fmt.Sprintf("%s %v", m.Name, list[0].value))
			}
		}
		if text := strings.Join(got, ", "); text != "step.host_time 0" {
			t.Errorf("%s", text)
		}
	}
}
