package whatif

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// Every trace that is at hand and has a graph is replayed as it was recorded, whatever its format and
// however damaged: TestReplayOfRealTraces looks closer at some of them, which are left out here.
func TestReplayOfEveryTrace(t *testing.T) {
	replayed := 0
	for _, root := range []string{"../../traces", "../../interop/testdata", "../../../shared/traces"} {
		// What is not there is not replayed.
		_ = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !isTrace(file) {
				return nil
			}
			replayed += replayEach(t, file)
			return nil
		})
	}
	if replayed < 2 {
		t.Errorf("%d ranks were replayed", replayed)
	}
}

// isTrace reports whether a file may be a trace that no other test replays. Most of the damaged ones have the
// graph of the whole one.
func isTrace(file string) bool {
	known := regexp.MustCompile(`traces/gpu/|traces/idle/resnet|traces/damaged/[^ct]|traces/damaged/compact`)
	return !known.MatchString(file) && regexp.MustCompile(`\.(json|sqlite|db|rpd|pftrace|gz)$`).MatchString(file)
}

// replayEach replays the ranks of a file one by one and says how many have a graph.
func replayEach(t *testing.T, file string) int {
	t.Helper()
	traces, err := tracefile.Read(file, tracefile.Options{})
	if err != nil {
		return 0
	}
	replayed := 0
	for _, tr := range traces {
		x := timeline.New(tr)
		list := facts.Compute(x)
		for i, rank := range x.Ranks {
			r := Of(rank, list[i])
			if r.Why != "" {
				continue
			}
			replayed++
			f, err := Together([]*Rank{r}, nil).Fit()
			if err != nil || 2000*max(f.Replayed-f.Span, f.Span-f.Replayed) > f.Span {
				t.Errorf("%s, rank %d: span %d, replayed %d, %v", file, i, f.Span, f.Replayed, err)
			}
			t.Logf("%s: %.3f ms, %.3f ms with usual lags, %d gaps", filepath.Base(file), float64(f.Span)/1e6,
				float64(f.Usual)/1e6, f.Gaps)
		}
	}
	return replayed
}
