package idle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// goldenStep is a step as golden.json and expected.json hold it.
type goldenStep struct {
	Device      string
	Step        int
	Duration    int64            `json:"duration_ns"`
	Idle        int64            `json:"idle_ns"`
	Gaps        int              `json:"gaps"`
	Causes      map[string]int64 `json:"causes_ns"`
	LaunchBound int64            `json:"launch_bound_ns"`
	LaunchGaps  int              `json:"launch_gaps"`
	HostStall   int64            `json:"host_stall_ns"`
}

func (g *goldenStep) text(gaps bool) string {
	if !gaps {
		g.Gaps = 0
	}
	return fmt.Sprintf("step %d: %v, launch-bound %d in %d of %d gaps, stall %d",
		g.Step, g.Causes, g.LaunchBound, g.LaunchGaps, g.Gaps, g.HostStall)
}

// textOf is a window as text prints a goldenStep; maps print in order.
func textOf(step int, w *Window, gaps bool) string {
	g := goldenStep{Step: step, Gaps: w.Gaps, Causes: make(map[string]int64), LaunchBound: w.LaunchBound,
		LaunchGaps: w.LaunchGaps, HostStall: w.HostStall}
	for c, ns := range w.Causes {
		if ns != 0 {
			g.Causes[Cause(c).String()] = ns
		}
	}
	return g.text(gaps)
}

type goldenTrace struct{ Steps []goldenStep }

var sharedTraces = filepath.Join("..", "..", "..", "shared", "traces")

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sharedTraces, "idle", name))
	if err != nil {
		t.Skipf("SKIP: the golden figures are not here: %v", err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// Figures of real recordings, and of small ones made by hand, computed by a program of
// its own.
func TestGolden(t *testing.T) {
	var real struct{ Traces map[string]goldenTrace }
	readJSON(t, "golden.json", &real)
	n := 0
	for name, want := range real.Traces {
		path := filepath.Join(sharedTraces, "idle", name)
		if _, err := os.Stat(path); err != nil {
			path = filepath.Join(sharedTraces, "gpu", name)
		}
		n += compareGolden(t, path, want.Steps, true)
	}
	var small map[string]goldenTrace
	readJSON(t, filepath.Join("small", "expected.json"), &small)
	for name, want := range small {
		n += compareGolden(t, filepath.Join(sharedTraces, "idle", "small", name), want.Steps, false)
	}
	if n < 92 {
		t.Errorf("%d steps", n)
	}
}

func compareGolden(t *testing.T, path string, want []goldenStep, gaps bool) (n int) {
	t.Helper()
	traces, err := tracefile.Read(path, tracefile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := timeline.New(traces[0]).Ranks[0]
	s := steps.Find(x)
	found := Find(x, s)
	for i := range s.List {
		for k, w := range s.List[i].Windows {
			if n == len(want) {
				t.Fatalf("%s: more than %d steps", path, len(want))
			}
			got, ledger := &found[i][k], w.Ledger[timeline.IdleBucket]
			if got.Sum() != ledger {
				t.Errorf("%s step %d: causes sum to %d, the ledger has %d", path, i, got.Sum(), ledger)
			}
			if g, w := textOf(i, got, gaps), want[n].text(gaps); g != w {
				t.Errorf("%s:\n got %s\nwant %s", filepath.Base(path), g, w)
			}
			n++
		}
	}
	if n != len(want) {
		t.Errorf("%s: %d steps, want %d", path, n, len(want))
	}
	return n
}
