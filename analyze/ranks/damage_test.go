package ranks

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// document is a trace as its JSON has it; numbers keep their digits.
type document map[string]any

type event = map[string]any

var documents = sync.OnceValues(func() ([][]byte, error) {
	var list [][]byte
	for rank := range 8 {
		data, err := os.ReadFile(normuonFile(rank))
		if err != nil {
			return nil, err
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(z); err != nil {
			return nil, err
		}
		list = append(list, text.Bytes())
	}
	return list, nil
})

// decode reads a rank of the real run; every call returns a copy of its own.
func decode(t *testing.T, rank int) document {
	t.Helper()
	if _, err := os.Stat(normuonFile(rank)); err != nil {
		t.Skipf("SKIP: real traces are not here: %v", err)
	}
	texts, err := documents()
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(texts[rank]))
	d.UseNumber()
	var doc document
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// read writes a document as compact JSON and reads it as any user's file is read.
func (doc document) read(t *testing.T) *trace.Trace {
	t.Helper()
	data, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return readText(t, data)
}

func readText(t *testing.T, data []byte) *trace.Trace {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	traces, err := tracefile.Read(file, tracefile.Options{})
	if err != nil || len(traces) != 1 {
		t.Fatal(len(traces), err)
	}
	return traces[0]
}

func (doc document) events() []any { return doc["traceEvents"].([]any) }

// collectives are the places of the communication kernels among the events, by time.
func (doc document) collectives() []int {
	var list []int
	for i, e := range doc.events() {
		name, _ := e.(event)["name"].(string)
		if cat, _ := e.(event)["cat"].(string); cat == "kernel" && strings.HasPrefix(name, "ncclDevKernel") {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b int) int { return int(doc.time(a) - doc.time(b)) })
	return list
}

func (doc document) time(i int) int64 {
	n, _ := doc.events()[i].(event)["ts"].(json.Number).Float64()
	return int64(n)
}

// drop is a rank of the real run without its collectives from the n-th to below the
// last-th.
func drop(t *testing.T, rank, n, last int) *trace.Trace {
	t.Helper()
	normuon(t) // skips where they are not here
	traces, err := normuonTraces()
	if err != nil {
		t.Fatal(err)
	}
	return dropFrom(traces[rank], n, last)
}

// dropFrom leaves the collectives of the first rank of a trace out of it.
func dropFrom(tr *trace.Trace, n, last int) *trace.Trace {
	gone := make(map[int32]bool)
	for _, row := range timeline.New(tr).Ranks[0].CollectiveRows()[n:last] {
		gone[row] = true
	}
	var rows []int32
	for i := range int32(tr.Len()) {
		if !gone[i] {
			rows = append(rows, i)
		}
	}
	return tr.Select(rows)
}

// shift is a rank of the real run whose clock is ahead by ns.
func shift(t *testing.T, rank int, ns int64) *trace.Trace {
	t.Helper()
	if _, err := os.Stat(normuonFile(rank)); err != nil {
		t.Skipf("SKIP: real traces are not here: %v", err)
	}
	texts, err := documents()
	if err != nil {
		t.Fatal(err)
	}
	const base = 1759300074000000000
	text := bytes.ReplaceAll(texts[rank], []byte(fmt.Sprint(base)), []byte(fmt.Sprint(base+ns)))
	if bytes.Equal(text, texts[rank]) {
		t.Fatal("no base time")
	}
	return readText(t, text)
}

// with replaces single ranks of the real run.
func with(t *testing.T, changed map[int]*trace.Trace) []Source {
	t.Helper()
	sources := normuon(t)
	for rank, tr := range changed {
		sources[rank] = sourcesOf(t, tr)[0]
	}
	return sources
}

func TestCompactJSON(t *testing.T) {
	sources := with(t, map[int]*trace.Trace{0: decode(t, 0).read(t), 5: decode(t, 5).read(t)})
	if got := print(Match(sources, Options{})); got != wantNormuon {
		t.Errorf("got\n%s", got)
	}
}

// Of two ranks in one file the correlation ids clash.
func TestMergedRanks(t *testing.T) {
	first, second := decode(t, 0), decode(t, 1)
	first["traceEvents"] = append(first.events(), second.events()...)
	delete(first, "distributedInfo")
	sources := append(sourcesOf(t, first.read(t)), normuon(t)[2:]...)
	if got := print(Match(sources, Options{})); got != wantNormuon {
		t.Errorf("got\n%s", got)
	}
}

// What is missing at the end or the start of one rank's recording leaves the others'
// as they are; in the middle it is named.
func TestOneCollectiveMissing(t *testing.T) {
	for name, c := range map[string]struct{ rank, at, gaps int }{
		"at the end":                     {3, 75, 0},
		"at the start":                   {3, 0, 0},
		"at the start of the longest":    {7, 0, 0},
		"in the middle":                  {2, 40, 1},
		"first of a run of equal ones":   {2, 36, 1},
		"last of a run of equal ones":    {2, 39, 1},
		"in the middle of the longest":   {7, 50, 1},
		"in the middle, next to the end": {1, 74, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := Match(with(t, map[int]*trace.Trace{c.rank: drop(t, c.rank, c.at, c.at+1)}), Options{})
			g := r.Groups[0]
			want := 75
			if name == "at the start of the longest" {
				want = 76
			}
			if g.Status != Matched || len(g.Collectives) != want || g.Impossible > 0 ||
				g.NoFigures != "" || r.Straggler != 1 {
				t.Fatalf("%s", print(r))
			}
			if len(g.Gaps) != c.gaps {
				t.Fatalf("%d gaps: %v", len(g.Gaps), g.Gaps)
			}
			if c.gaps == 1 && (g.Gaps[0].Rank != c.rank || g.Gaps[0].Extra) {
				t.Errorf("%+v", g.Gaps[0])
			}
			checkAgainst(t, r, normuon(t))
		})
	}
}

// checkAgainst finds every matched collective among those of the whole run, as a set
// of kernels that belong together.
func checkAgainst(t *testing.T, r *Result, whole []Source) {
	t.Helper()
	full := Match(whole, Options{}).Groups[0]
	type at struct {
		rank  int64
		start int64
	}
	slot := make(map[at]int)
	for n := range full.Collectives {
		for k, m := range full.Collectives[n].OfRank {
			s := whole[full.Ranks[k]]
			slot[at{s.ID, s.Rank.Collectives[m].Start}] = n
		}
	}
	g := r.Groups[0]
	for n := range g.Collectives {
		first := -1
		for k, m := range g.Collectives[n].OfRank {
			s := r.Sources[g.Ranks[k]]
			is, ok := slot[at{s.ID, s.Rank.Collectives[m].Start}]
			if !ok || first >= 0 && is != first {
				t.Fatalf("collective %d is %d on rank %d, %d on another", n, is, s.ID, first)
			}
			first = is
		}
	}
}

// Signatures repeat every 28 collectives, so an alignment that is wrong by a period has
// no mismatch either. Where a period is cut off the end, the right one is found.
func TestPeriodCutOff(t *testing.T) {
	r := Match(with(t, map[int]*trace.Trace{4: drop(t, 4, 81-28, 81)}), Options{})
	g := r.Groups[0]
	if g.Status != Matched || len(g.Collectives) != 76-28 || g.NoFigures != "" {
		t.Fatalf("%s", print(r))
	}
	checkAgainst(t, r, normuon(t))
}

// Where the periods that two ranks recorded are different ones, only wrong alignments
// are left: without a mismatch, and 89 ms apart.
func TestNoCommonPeriod(t *testing.T) {
	for _, ask := range []bool{false, true} {
		early := drop(t, 4, 81-28, 81)
		early = dropFrom(early, 0, 81-56)
		r := Match(sourcesOf(t, early, drop(t, 5, 0, 84-28)), Options{AlignClocks: ask})
		g := r.Groups[0]
		if g.Status != Unmatched || len(g.Collectives) > 0 || r.Figures[0].Known || r.Straggler != -1 {
			t.Fatalf("%s", print(r))
		}
		if !strings.Contains(g.Reason, "ms apart, which is longer than the collectives take") {
			t.Error(g.Reason)
		}
	}
}

// A clock that is off gives no waits; with the residuals subtracted, those of the run.
func TestClockOff(t *testing.T) {
	whole := Match(normuon(t), Options{})
	for _, off := range []int64{5_000_000, -5_000_000, 300_000} {
		for _, rank := range []int{0, 6, 7} {
			t.Run(fmt.Sprintf("rank %d by %d", rank, off), func(t *testing.T) {
				sources := with(t, map[int]*trace.Trace{rank: shift(t, rank, off)})
				r := Match(sources, Options{})
				g := r.Groups[0]
				if g.Status != Matched || g.NoFigures == "" || r.Figures[0].Known || r.Straggler != -1 {
					t.Fatalf("%s", print(r))
				}
				got := *r.Figures[rank].Residual
				if abs(got-off) > 5_000 || len(g.OffClock) != 1 || g.OffClock[0] != rank {
					t.Errorf("residual %d, off %v", got, g.OffClock)
				}
				checkAgainst(t, r, normuon(t))
				r = Match(sources, Options{AlignClocks: true})
				if r.Straggler != 1 || !r.Groups[0].Aligned || !r.Figures[0].Known {
					t.Fatalf("%s", print(r))
				}
				for i, f := range r.Figures {
					if want := whole.Figures[i].Wait; abs(f.Wait-want) > 400_000 {
						t.Errorf("rank %d waits %d, without the shift %d", i, f.Wait, want)
					}
				}
			})
		}
	}
}

// A tenth of a millisecond is less than collectives last; the short ones show it.
func TestClockSlightlyOff(t *testing.T) {
	r := Match(with(t, map[int]*trace.Trace{6: shift(t, 6, 100_000)}), Options{})
	if g := r.Groups[0]; g.Status != Matched || g.NoFigures == "" || g.Impossible < 20 || r.Straggler != -1 {
		t.Fatalf("%s", print(r))
	}
}

// Between hosts the residuals are subtracted without being asked.
func TestTwoHosts(t *testing.T) {
	sources := with(t, map[int]*trace.Trace{6: shift(t, 6, 5_000_000), 7: shift(t, 7, 5_000_000)})
	for i := range sources {
		sources[i].Host = fmt.Sprintf("host%d", i/6)
	}
	if r := Match(sources, Options{}); !r.Groups[0].Aligned || r.Straggler != 1 || !r.Figures[7].Known {
		t.Fatalf("%s", print(r))
	}
}

// A clock that drifts is not repaired by subtracting a constant.
func TestClockDrifts(t *testing.T) {
	doc := decode(t, 6)
	list := doc.collectives()
	first := doc.time(list[0])
	for _, i := range list {
		e := doc.events()[i].(event)
		n, _ := e["ts"].(json.Number).Float64()
		e["ts"] = json.Number(fmt.Sprintf("%.3f", n+float64(doc.time(i)-first)/100)) // 1 %
	}
	sources := with(t, map[int]*trace.Trace{6: doc.read(t)})
	for _, ask := range []bool{false, true} {
		r := Match(sources, Options{AlignClocks: ask})
		if r.Straggler != -1 || r.Figures[0].Known {
			t.Fatalf("%s", print(r))
		}
	}
}

func TestRankMissing(t *testing.T) {
	sources := normuon(t)
	r := Match(slices.Delete(sources, 1, 2), Options{})
	g := r.Groups[0]
	if !slices.Equal(g.Absent, []int64{1}) || len(g.Collectives) != 76 || r.Sources[r.Straggler].ID != 0 {
		t.Fatalf("absent %v\n%s", g.Absent, print(r))
	}
}

func TestOneRank(t *testing.T) {
	r := Match(normuon(t)[3:4], Options{})
	f := r.Figures[0]
	if r.Groups[0].Status != Alone || f.Collectives != 76 || f.Matched != 0 || f.Known || r.Straggler != -1 {
		t.Fatalf("%s", print(r))
	}
}

// A trace of another run of the same trainer among the others leaves no figure.
func TestAnotherRun(t *testing.T) {
	sources := normuon(t)
	other := filepath.Join(filepath.Dir(normuonFile(0)), "nanogpt-current.json.gz")
	traces, err := tracefile.Read(other, tracefile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sources[0] = sourcesOf(t, traces[0])[0]
	r := Match(sources, Options{})
	if g := r.Groups[0]; g.Status != Unmatched || g.Mismatches == 0 && g.Reason == "" || r.Straggler != -1 {
		t.Fatalf("%s", print(r))
	}
	t.Log(r.Groups[0].Reason, r.Groups[0].Mismatches)
}
