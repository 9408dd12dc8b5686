package ranks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// normuonFile is one rank of the real run of eight.
func normuonFile(rank int) string {
	return filepath.Join("..", "..", "..", "shared", "traces", "gpu", fmt.Sprintf("normuon-rank%d.json.gz", rank))
}

var normuonTraces = sync.OnceValues(func() ([]*trace.Trace, error) {
	var list []*trace.Trace
	for rank := range 8 {
		traces, err := tracefile.Read(normuonFile(rank), tracefile.Options{})
		if err != nil {
			return nil, err
		}
		list = append(list, traces[0])
	}
	return list, nil
})

var normuonSources = sync.OnceValues(func() ([]Source, error) {
	traces, err := normuonTraces()
	var list []Source
	for _, tr := range traces {
		list = append(list, sourceOf(facts.Compute(timeline.New(tr))[0]))
	}
	return list, err
})

// normuon is the eight ranks; matching does not change them.
func normuon(t testing.TB) []Source {
	t.Helper()
	if _, err := os.Stat(normuonFile(0)); err != nil {
		t.Skipf("SKIP: real traces are not here: %v", err)
	}
	list, err := normuonSources()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(list)
}

// sourceOf is a rank with the number that its trace says.
func sourceOf(r *facts.Rank) Source { return Source{Rank: r, ID: r.ID, Assigned: r.ID < 0} }

func sourcesOf(t testing.TB, traces ...*trace.Trace) []Source {
	t.Helper()
	var list []Source
	for _, tr := range traces {
		for _, r := range facts.Compute(timeline.New(tr)) {
			list = append(list, sourceOf(r))
		}
	}
	return list
}

// wantNormuon was computed from the eight files by a program of its own, which aligns
// them by index from the end.
const wantNormuon = `rank 0: 76 of 76, wait 31443, caused 31087, last 7
rank 1: 76 of 76, wait 5994, caused 192004, last 17
rank 2: 76 of 76, wait 33302, caused 369, last 13
rank 3: 76 of 76, wait 38983, caused 360, last 5
rank 4: 76 of 81, wait 39841, caused 39, last 3
rank 5: 76 of 84, wait 39560, caused 2982, last 21
rank 6: 76 of 84, wait 39940, caused 170, last 8
rank 7: 76 of 84, wait 39987, caused 108, last 2
straggler 1, 76 matched, 0 mismatches, 0 by sequence number, 56 by message, 20 by name, 0 gaps
skew 20461 to 188307, transfer 8128 and 218760
steps same true, 4 in common
`

func TestNormuon(t *testing.T) {
	if got := print(Match(normuon(t), Options{})); got != wantNormuon {
		t.Errorf("got\n%swant\n%s", got, wantNormuon)
	}
}

// print shows the figures of a result with one group, waits in us.
func print(r *Result) string {
	var b strings.Builder
	for i, f := range r.Figures {
		fmt.Fprintf(&b, "rank %d: %d of %d, wait %d, caused %d, last %d\n", r.Sources[i].ID, f.Matched, f.Collectives,
			(f.Wait+500)/1000, (f.Caused+500)/1000, f.Last)
	}
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "straggler %d, %d matched, %d mismatches, ", r.Straggler, len(g.Collectives), g.Mismatches)
		fmt.Fprintf(&b, "%d by sequence number, %d by message, %d by name, %d gaps\n",
			g.Methods[BySeq], g.Methods[ByMessage], g.Methods[ByName], len(g.Gaps))
		for _, why := range []string{g.Reason, g.NoFigures} {
			if why != "" {
				fmt.Fprintln(&b, why)
			}
		}
	}
	if skews, transfers := r.Distribution(); len(skews) > 0 {
		fmt.Fprintf(&b, "skew %d to %d, transfer %d and %d\n",
			median(skews), skews[len(skews)-1], transfers[0], median(transfers))
	}
	fmt.Fprintf(&b, "steps same %v, %d in common\n", r.Steps.Same, r.Steps.Common)
	return b.String()
}
