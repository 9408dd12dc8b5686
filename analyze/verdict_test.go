package analyze

import (
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// reducing is a rank whose gradients are reduced by some ranks in steps of some
// micro-batches; 0 ranks reduce nothing.
func reducing(t *testing.T, head string, ranks int64, micro int) *facts.Rank {
	t.Helper()
	r := &facts.Rank{Steps: []facts.Step{{MicroBatches: micro}}}
	r.Distributed, r.Categorised = read(t, head).Meta().Distributed, true
	r.Sync = gradients.Sync{Pattern: gradients.SyncNone}
	if ranks > 0 {
		r.Sync = gradients.Sync{Pattern: gradients.SyncEvery, Kind: timeline.AllReduce, Ranks: ranks}
		r.Communicates = true
	}
	return r
}

const (
	alone1 = ""
	world1 = "distributed backend=nccl rank=0 world_size=1\n"
	world8 = "distributed backend=nccl rank=0 world_size=8\n"
)

func TestVerdictOnAScaling(t *testing.T) {
	for _, test := range []struct {
		name    string
		head    string
		ranks   int64
		micro   int
		uniform bool
		want    report.Verdict
	}{
		{"nothing is known", world8, 0, facts.Unknown, false, report.UnknownVerdict},
		{"micro-batches unknown", alone1, 0, facts.Unknown, false, report.UnknownVerdict},
		{"a distributed run that reduces nothing", world8, 0, 1, false, report.UnknownVerdict},
		{"the same, declared uniform", world8, 0, 1, true, report.UnknownVerdict},
		{"one rank, one micro-batch", alone1, 0, 1, false, report.Needless},
		{"a world of one", world1, 0, 1, false, report.Needless},
		{"one rank, four micro-batches", alone1, 0, 4, false, report.Avoidable},
		{"one rank, four micro-batches, uniform", alone1, 0, 4, true, report.Avoidable},
		{"two ranks, one micro-batch", world8, 2, 1, false, report.Avoidable},
		{"two ranks, one micro-batch, uniform", world8, 2, 1, true, report.Needless},
		{"two ranks, four micro-batches", world8, 2, 4, false, report.Avoidable},
		{"two ranks, four micro-batches, uniform", world8, 2, 4, true, report.Avoidable},
		{"ranks only by their collectives", alone1, 8, 1, false, report.Avoidable},
	} {
		r := reducing(t, test.head, test.ranks, test.micro)
		p := &gradients.Pass{Kind: gradients.ScalePass, Place: gradients.AfterBackward}
		if got, reason := VerdictOf(r, p, test.uniform); got != test.want || reason == "" {
			t.Errorf("%s: %s (%s), want %s", test.name, got, reason, test.want)
		}
	}
}

func TestVerdictOnOtherPasses(t *testing.T) {
	r := reducing(t, alone1, 0, 1)
	r.Passes = []gradients.Pass{{Kind: gradients.ScalePass, Place: gradients.BetweenMicroBatches, Step: 1}}
	r.Steps = append(r.Steps, facts.Step{MicroBatches: 2})
	for _, test := range []struct {
		name string
		pass gradients.Pass
		want report.Verdict
	}{
		{
			"a number that the trace does not hold",
			gradients.Pass{
				Kind: gradients.ScalePass, Place: gradients.AfterBackward,
				Factor: gradients.Factor{Doubtful: true},
			},
			report.UnknownVerdict,
		},
		{
			"inside the loop",
			gradients.Pass{Kind: gradients.ScalePass, Place: gradients.BetweenMicroBatches},
			report.UnknownVerdict,
		},
		{
			"the last of those inside the loop",
			gradients.Pass{Kind: gradients.ScalePass, Place: gradients.AfterBackward, Step: 1},
			report.UnknownVerdict,
		},
		{"clip", gradients.Pass{Kind: gradients.ClipPass, Place: gradients.AfterBackward}, report.Required},
		{"unscale", gradients.Pass{Kind: gradients.UnscalePass, Place: gradients.AfterBackward}, report.Required},
		{
			"DDP's division",
			gradients.Pass{Kind: gradients.DividePass, Place: gradients.InBackward},
			report.UnknownVerdict,
		},
		{"zero", gradients.Pass{Kind: gradients.ZeroPass, Place: gradients.AfterOptimizer}, report.UnknownVerdict},
	} {
		if got, reason := VerdictOf(r, &test.pass, false); got != test.want || reason == "" {
			t.Errorf("%s: %s (%s), want %s", test.name, got, reason, test.want)
		}
	}
}

// TestTakePass: what a pass costs is charged to one rule.
func TestTakePass(t *testing.T) {
	pass := Pass{taken: make(map[*gradients.Pass]string), rule: &Rule{ID: "GS001"}}
	gp, other := &gradients.Pass{}, &gradients.Pass{}
	for _, test := range []struct {
		rule string
		pass *gradients.Pass
		own  string
		ok   bool
	}{
		{"GS001", gp, "GS001", true},
		{"GS001", gp, "GS001", true},
		{"GS005", gp, "GS001", false},
		{"GS005", other, "GS005", true},
	} {
		pass.rule.ID = test.rule
		if owner, ok := pass.TakePass(test.pass); owner != test.own || ok != test.ok {
			t.Errorf("%s: %s %v, want %s %v", test.rule, owner, ok, test.own, test.ok)
		}
	}
}
