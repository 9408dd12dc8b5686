package whatif

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/graph"
	"github.com/gaprof/gaprof/trace/text"
)

// rankOfText is the graph of a trace in the syntax of trace/text.
func rankOfText(t *testing.T, events string) *Rank {
	t.Helper()
	tr, err := text.Read(strings.NewReader("recording format=kineto\n"+events), "")
	if err != nil {
		t.Fatal(err)
	}
	x := timeline.New(tr)
	return Of(x.Ranks[0], facts.Compute(x)[0])
}

// A circle of edges is opened where they are weakest; one of certain edges is refused.
func TestCircles(t *testing.T) {
	var g graph.Graph
	r := g.AddResource()
	a, b := g.Add(r, 1), g.Add(r, 1)
	c := g.Add(graph.None, 1)
	g.Connect(b, c, graph.Event, 0)
	g.Connect(c, a, graph.Time, 0)
	w := &World{Graph: &g, Seen: &graph.Times{}}
	p, err := w.Plan(&g)
	if err != nil || w.broken != 1 || p.Replay().Start[c] != 2 {
		t.Errorf("%v, %d edges broken", err, w.broken)
	}
	g.Connect(b, a, graph.Launch, 0)
	var cycle *graph.CycleError
	if _, err := w.Plan(&g); !errors.As(err, &cycle) || w.broken != 1 {
		t.Errorf("a circle of certain edges: %v, %d edges broken", err, w.broken)
	}
}

// What cannot be replayed says why, and gives no number.
func TestNothingToReplay(t *testing.T) {
	for want, events := range map[string]string{
		"no device activity was recorded": "1/1 0us +5us cpu_op aten::mm\n",
		"no device event is joined": "1/1 0us +5us cpu_op aten::mm\n" +
			"0/7 9us +5us kernel gemm stream=7\n",
	} {
		w := Together([]*Rank{rankOfText(t, events)}, nil)
		if _, _, err := w.Report(Each()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	w := Together([]*Rank{rankOfText(t, launched)}, nil)
	if _, _, err := w.Report(Each()); !errors.Is(err, ErrSteps) {
		t.Errorf("without a step: %v", err)
	}
}

const launched = `1/1 0us +5us cuda_runtime cudaLaunchKernel corr=1
1/1 8us +5us cuda_runtime cudaLaunchKernel corr=2
1/1 20us +230us cuda_runtime cudaStreamSynchronize corr=3
1/1 260us +5us cuda_runtime cudaLaunchKernel corr=4
0/7 9us +100us kernel gemm corr=1 stream=7
0/7 110us +134us kernel gemm corr=2 stream=7
0/7 269us +50us kernel gemm corr=4 stream=7
`

// A host that waits for the device goes on when that is done, and no later.
func TestHostWaits(t *testing.T) {
	r := rankOfText(t, launched)
	w := Together([]*Rank{r}, nil)
	c := w.change(AsRecorded)
	r.ops(func(op graph.Node) {
		if r.Start[op] == 9_000 {
			c.G.Work[op] -= 50_000
		}
	})
	times, err := c.Replay()
	if err != nil {
		t.Fatal(err)
	}
	for n := range times.Start {
		want := w.Seen.Start[n]
		if want > 9_000 && r.What[n] != Call || want == 260_000 {
			want -= 50_000 // all that waits for the device
		}
		if times.Start[n] != want {
			t.Errorf("node %d (%s) starts at %d, want %d", n, r.Names[r.Name[n]], times.Start[n], want)
		}
	}
}

// Edits are read as users write them, and refused with the reason.
func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"hide-data-loading":                   "hide-data-loading",
		"hide-data-loading,drop-host-sync":    "hide-data-loading drop-host-sync",
		"faster=a{1,2}:1.5,hide-data-loading": "faster=a{1,2}:1.5 hide-data-loading",
		"hoist-reduce-scatter=DistAdam":       "hoist-reduce-scatter=DistAdam",
		"no-straggler=1+2":                    "no-straggler=1+2",
		"no-such-edit":                        "error: no edit",
		"drop-host-sync=3":                    "error: no argument",
		"faster":                              "error: faster=REGEX",
		"faster=gemm:0":                       "error: no factor",
		"faster=gemm:NaN":                     "error: no factor",
		"faster=(:2":                          "error: missing closing",
		"no-straggler=first":                  "error: no rank",
		"":                                    "error: no edit",
	} {
		uses, err := Parse([]string{in})
		got := ""
		if wanted, refused := strings.CutPrefix(want, "error: "); refused {
			if err == nil || !strings.Contains(err.Error(), wanted) {
				t.Errorf("%q: %v, want %q", in, err, wanted)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", in, err)
		}
		for _, u := range uses {
			got = strings.TrimSpace(got + " " + u.String())
		}
		if got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// BenchmarkPredict is the graph of a trace of 15,000 events, its replay and one edit.
func BenchmarkPredict(b *testing.B) {
	w := worldOf(b, "../shared/traces/gpu/nanogpt-current.json.gz")
	uses, _ := Parse([]string{"hoist-reduce-scatter"})
	for b.Loop() {
		if _, err := Together(w.Ranks, nil).Predict(uses); err != nil {
			b.Fatal(err)
		}
	}
}

// Damaged traces are replayed, or refused with a reason; none is a bug.
func TestDamagedTraces(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/traces/damaged/c*.json.gz")
	if len(files) == 0 {
		t.Skip("needs the damaged traces")
	}
	for _, file := range files {
		w := worldOf(t, strings.TrimPrefix(file, "../../"))
		r, _, err := w.Report(Each())
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, e := range r.Edits {
			shared := strings.Contains(file, "comm-on-compute")
			if e.Edit == "hoist-reduce-scatter" && e.Legal == shared {
				t.Errorf("%s: %s is legal: %v, %s", file, e.Edit, e.Legal, e.Reason)
			}
		}
	}
}
