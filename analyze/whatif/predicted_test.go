package whatif

import (
	"path/filepath"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/graph"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// The predicted trace of the run before PR 149 is like the real one after it: all reduce-scatters of
// DistAdam are launched in backward, no event is lost, and each operation is where the replay says.
func TestPredictedTrace(t *testing.T) {
	const file = "../shared/traces/gpu/nanogpt-current.json.gz"
	w := worldOf(t, file)
	p := predict(t, w, "hoist-reduce-scatter")
	traces, err := tracefile.Read(filepath.Join("..", "..", file), tracefile.Options{KeepArgs: true})
	if err != nil {
		t.Fatal(err)
	}
	made := w.Predicted(traces[0], 0, p)
	if made.Len() != traces[0].Len() || len(made.Problems()) != len(traces[0].Problems()) {
		t.Errorf("%d events of %d, problems %v", made.Len(), traces[0].Len(), made.Problems())
	}
	f := facts.Compute(timeline.New(made))[0]
	sites := make(map[timeline.LaunchSite]int)
	for i := range f.Collectives {
		if c := &f.Collectives[i]; c.Kind == timeline.ReduceScatter && c.Linked {
			sites[c.Site]++
		}
	}
	hooks := sites[timeline.LaunchSite{Site: timeline.SiteBackwardHook}]
	inStep := sites[timeline.LaunchSite{Site: timeline.SiteOptimizerStep, Name: "NorMuon"}]
	if len(sites) != 2 || hooks != 12 || inStep != 16 {
		t.Errorf("launch sites of reduce-scatters: %v", sites)
	}
	again := Of(timeline.New(made).Ranks[0], f)
	after := Together([]*Rank{again}, nil)
	for i, k := range after.Kinds {
		within(t, "duration of steps in the predicted trace", k.Duration, p.Kinds[i].After-2, p.Kinds[i].After+2)
	}
	ops := 0
	again.ops(func(graph.Node) { ops++ })
	was := 0
	w.Ranks[0].ops(func(graph.Node) { was++ })
	within(t, "operations", int64(ops), int64(was), int64(was))
}
