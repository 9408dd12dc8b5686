package rules

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// TestSlowness: why a pass is slow, by its gaps and by the memory that it reaches. The device
// of the test moves a byte per nanosecond.
func TestSlowness(t *testing.T) {
	const bandwidth = 1_000_000_000
	for _, c := range []struct {
		name string
		pass gradients.Pass
		want string
	}{
		{"fast", gradients.Pass{Busy: 100_000, Span: 100_000, Bytes: 80_000, Kernels: 1}, ""},
		{"41 % of the bandwidth", gradients.Pass{Busy: 100_000, Span: 100_000, Bytes: 41_000, Kernels: 1}, ""},
		{"40 % of it", gradients.Pass{Busy: 100_000, Span: 100_000, Bytes: 40_000, Kernels: 1}, ""},
		{"39 % of it", gradients.Pass{Busy: 100_000, Span: 100_000, Bytes: 39_000, Kernels: 1},
			"not vectorized: it moves 0 of 1 GB/s"},
		{"39 %, with gaps of a tenth", gradients.Pass{Busy: 90_000, Span: 100_000, Bytes: 35_000, Kernels: 1}, ""},
		{"39 %, with smaller gaps", gradients.Pass{Busy: 91_000, Span: 100_000, Bytes: 35_000, Kernels: 1},
			"not vectorized: it moves 0 of 1 GB/s"},
		{"gaps of more than a half", gradients.Pass{Busy: 49_000, Span: 100_000, Bytes: 49_000, Kernels: 20},
			"launch-bound: 51 % of its span is gaps between 20 kernels"},
		{"gaps of a half", gradients.Pass{Busy: 50_000, Span: 100_000, Bytes: 50_000, Kernels: 20}, ""},
		{"others compute in the gaps", gradients.Pass{Busy: 40_000, Span: 100_000, OtherIn: 20_000, Bytes: 40_000,
			Kernels: 20}, ""},
		{"others compute in some of them",
			gradients.Pass{Busy: 40_000, Span: 100_000, OtherIn: 9_000, Bytes: 40_000, Kernels: 20},
			"launch-bound: 51 % of its span is gaps between 20 kernels"},
		{"kernels too small to be fast", gradients.Pass{Busy: 100_000, Span: 100_000, Bytes: 39_000, Kernels: 10}, ""},
		{"kernels that are just not too small", gradients.Pass{Busy: 100_000, Span: 100_000, Bytes: 36_000, Kernels: 9},
			"not vectorized: it moves 0 of 1 GB/s"},
		{"no time", gradients.Pass{Busy: 0, Span: 100_000, Bytes: 1}, ""},
		{"no span", gradients.Pass{Busy: 10, Span: 0, Bytes: 1}, ""},
	} {
		c.pass.OnDevice = true
		if got := slowness(&c.pass, bandwidth); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := slowness(&c.pass, 0); strings.HasPrefix(got, "not") {
			t.Errorf("%s, without a known bandwidth: %q", c.name, got)
		}
		if c.pass.OnDevice = false; slowness(&c.pass, bandwidth) != "" {
			t.Errorf("%s, on the host", c.name)
		}
	}
}

func TestGapShare(t *testing.T) {
	for _, c := range []struct {
		span, other, busy int64
		want              float64
	}{{100, 0, 100, 0}, {100, 0, 25, 0.75}, {100, 50, 25, 0.25}, {100, 90, 25, 0}, {0, 0, 0, 0}} {
		if got := gapShare(&gradients.Pass{Span: c.span, OtherIn: c.other, Busy: c.busy}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestMajority: one case of a step is enough, and more than half of the steps must have one.
func TestMajority(t *testing.T) {
	for _, c := range []struct {
		steps string // of one case each: x is so, and . is not
		want  bool
	}{{"", false}, {"0x", true}, {"0.", false}, {"0x1.", false}, {"0x1x2.", true}, {"0x0.0x1.", false}, {"0.0x1x2.",
		true},
		{"0x1.2.", false}} {
		m := &majority{}
		for i := 0; i+1 < len(c.steps); i += 2 {
			m.add(int(c.steps[i]-'0'), c.steps[i+1] == 'x')
		}
		if m.holds() != c.want {
			t.Errorf("%s: %v", c.steps, m.holds())
		}
	}
}

// TestCarriesGradients: reduce-scatters, and all-reduces of a megabyte or more that are not
// known to be of something else.
func TestCarriesGradients(t *testing.T) {
	r := &analyze.Rank{Rank: &facts.Rank{}}
	r.HostCollectives = []gradients.HostCollective{{Gradient: true}, {Gradient: false}}
	one := func(kind timeline.CollectiveKind, bytes int64, asked int32) *facts.Collective {
		return &facts.Collective{Kind: kind, Asked: asked, Message: timeline.Message{Bytes: bytes}}
	}
	for _, c := range []struct {
		name string
		c    *facts.Collective
		want bool
	}{
		{"a reduce-scatter", one(timeline.ReduceScatter, 4, -1), true},
		{"a norm", one(timeline.AllReduce, 4, -1), false},
		{"figures", one(timeline.AllReduce, 999_999, -1), false},
		{"a megabyte", one(timeline.AllReduce, 1_000_000, -1), true},
		{"gradients", one(timeline.AllReduce, 4_000_000, 0), true},
		{"activations", one(timeline.AllReduce, 4_000_000, 1), false},
		{"a norm asked for as gradients", one(timeline.AllReduce, 4, 0), false},
		{"an all-gather", one(timeline.AllGather, 4_000_000, -1), false},
		{"a broadcast", one(timeline.Broadcast, 4_000_000, -1), false},
	} {
		if got := carriesGradients(r, c.c); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestLateReductions: what is launched by the optimizer or after backward counts as late, of
// all but reduce-scatters only where a step reduces more late than in backward.
func TestLateReductions(t *testing.T) {
	const big = 1_000_000
	step := timeline.LaunchSite{Site: timeline.SiteOptimizerStep}
	hook := timeline.LaunchSite{Site: timeline.SiteBackwardHook}
	one := func(kind timeline.CollectiveKind, elems int64, site timeline.LaunchSite,
		phase facts.Phase) facts.Collective {
		c := facts.Collective{Kind: kind, Asked: -1, Site: site, Phase: phase}
		c.Bytes, c.InElems = 4*elems, elems
		return c
	}
	for _, c := range []struct {
		name string
		list []facts.Collective
		want []int
	}{
		{"none", nil, nil},
		{"a reduce-scatter in the step, more in backward", []facts.Collective{
			one(timeline.ReduceScatter, 9*big, hook, facts.PhaseBackward),
			one(timeline.ReduceScatter, big, step, facts.PhaseOptimizer),
		}, []int{1}},
		{"an all-reduce in the step, more in backward", []facts.Collective{
			one(timeline.AllReduce, 9*big, hook, facts.PhaseBackward), one(timeline.AllReduce, big, step,
				facts.PhaseOptimizer),
		}, nil},
		{"an all-reduce in the step, as much in backward", []facts.Collective{
			one(timeline.AllReduce, big, hook, facts.PhaseBackward), one(timeline.AllReduce, big, step,
				facts.PhaseOptimizer),
		}, nil},
		{"an all-reduce in the step, less in backward", []facts.Collective{
			one(timeline.AllReduce, big, hook, facts.PhaseBackward), one(timeline.AllReduce, 2*big, step,
				facts.PhaseOptimizer),
		}, []int{1}},
		{"after backward", []facts.Collective{
			one(timeline.AllReduce, big, timeline.UnknownSite, facts.PhaseAfterBackward)}, []int{0}},
		{"a reduce-scatter after backward, more in backward", []facts.Collective{
			one(timeline.ReduceScatter, 9*big, hook, facts.PhaseBackward),
			one(timeline.ReduceScatter, big, timeline.UnknownSite, facts.PhaseAfterBackward),
		}, nil},
		{"by a hook, after backward", []facts.Collective{
			one(timeline.ReduceScatter, big, hook, facts.PhaseAfterBackward)}, nil},
		{"a norm in the step", []facts.Collective{one(timeline.AllReduce, 1, step, facts.PhaseOptimizer)}, nil},
	} {
		r := &analyze.Rank{Rank: &facts.Rank{}}
		r.Steps = make([]facts.Step, 1)
		r.Collectives = c.list
		got := lateReductions(r)
		if len(got) != len(c.want) || len(got) == 1 && got[0] != c.want[0] {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestWorstFirst: the step with the token that is furthest from its right weight, to either side; of equals
// the first.
func TestWorstFirst(t *testing.T) {
	of := func(low, high float64) weighed {
		return weighed{weights: &normalization.Weights{Min: &low, Max: &high}}
	}
	for _, c := range []struct {
		list []weighed
		want float64 // the least weight of the first
	}{
		{[]weighed{of(0.9, 1.1), of(0.5, 1), of(0.8, 1.2)}, 0.5}, {[]weighed{of(0.9, 1.1), of(0.95, 2)}, 0.95},
		{[]weighed{of(0.75, 1), of(1, 1.25)}, 0.75}, {[]weighed{of(2, 2), of(0.5, 1)}, 2},
	} {
		if got := *worstFirst(c.list)[0].weights.Min; got != c.want {
			t.Errorf("the step from %v on, want from %v", got, c.want)
		}
	}
}
