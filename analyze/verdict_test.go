package analyze

import (
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
)

// reducing is a rank whose gradients are reduced by some ranks in steps of some
// micro-batches; 0 ranks reduce nothing.
func reducing(t *testing.T, head string, ranks int64, micro int) *facts.Rank {
	t.Helper()
	r := &facts.Rank{Trace: read(t, head), Categorised: true, Steps: []facts.Step{{MicroBatches: micro}}}
	r.Sync = facts.Sync{Pattern: facts.SyncNone}
	if ranks > 0 {
		r.Sync = facts.Sync{Pattern: facts.SyncEvery, Kind: facts.AllReduce, Ranks: ranks}
		r.HostCollectives = true
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
		p := &facts.GradientPass{Kind: facts.ScalePass, Place: facts.AfterBackward}
		if got, reason := VerdictOf(r, p, test.uniform); got != test.want || reason == "" {
			t.Errorf("%s: %s (%s), want %s", test.name, got, reason, test.want)
		}
	}
}

func TestVerdictOnOtherPasses(t *testing.T) {
	r := reducing(t, alone1, 0, 1)
	r.Passes = []facts.GradientPass{{Kind: facts.ScalePass, Place: facts.BetweenMicroBatches, Step: 1}}
	r.Steps = append(r.Steps, facts.Step{MicroBatches: 2})
	for _, test := range []struct {
		name string
		pass facts.GradientPass
		want report.Verdict
	}{
		{"a number that the trace does not hold", facts.GradientPass{Kind: facts.ScalePass, Place: facts.AfterBackward, Doubtful: true}, report.UnknownVerdict},
		{"inside the loop", facts.GradientPass{Kind: facts.ScalePass, Place: facts.BetweenMicroBatches}, report.UnknownVerdict},
		{"the last of those inside the loop", facts.GradientPass{Kind: facts.ScalePass, Place: facts.AfterBackward, Step: 1}, report.UnknownVerdict},
		{"clip", facts.GradientPass{Kind: facts.ClipPass, Place: facts.AfterBackward}, report.Required},
		{"unscale", facts.GradientPass{Kind: facts.UnscalePass, Place: facts.AfterBackward}, report.Required},
		{"DDP's division", facts.GradientPass{Kind: facts.DividePass, Place: facts.InBackward}, report.UnknownVerdict},
		{"zero", facts.GradientPass{Kind: facts.ZeroPass, Place: facts.AfterOptimizer}, report.UnknownVerdict},
	} {
		if got, reason := VerdictOf(r, &test.pass, false); got != test.want || reason == "" {
			t.Errorf("%s: %s (%s), want %s", test.name, got, reason, test.want)
		}
	}
}

// TestTakePass: what a pass costs is charged to one rule.
func TestTakePass(t *testing.T) {
	pass := Pass{taken: make(map[*facts.GradientPass]string), rule: &Rule{ID: "GS001"}}
	gp, other := &facts.GradientPass{}, &facts.GradientPass{}
	for _, test := range []struct {
		rule string
		pass *facts.GradientPass
		own  string
		ok   bool
	}{{"GS001", gp, "GS001", true}, {"GS001", gp, "GS001", true}, {"GS005", gp, "GS001", false}, {"GS005", other, "GS005", true}} {
		pass.rule.ID = test.rule
		if owner, ok := pass.TakePass(test.pass); owner != test.own || ok != test.ok {
			t.Errorf("%s: %s %v, want %s %v", test.rule, owner, ok, test.own, test.ok)
		}
	}
}
