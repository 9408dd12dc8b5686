package straggler

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/straggler/optable"
)

// worked is a job of two stages and two micro-batches that can be replayed by hand.
func worked(t testing.TB) *optable.Table {
	t.Helper()
	table, err := optable.Read(filepath.Join("testdata", "worked.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*max(1, math.Abs(want)) {
		t.Errorf("%s: %.9g, want %.9g", what, got, want)
	}
}

// The figures of the job worked out by hand: base 114, T 112 and T_ideal 108 ms.
func TestWorkedByHand(t *testing.T) {
	r, err := Analyze(worked(t))
	if err != nil {
		t.Fatal(err)
	}
	if r.ObservedNS != 114e6 || r.ReplayedNS != 112e6 || r.IdealNS != 108e6 {
		t.Errorf("observed %d, replayed %d, ideal %d ns", r.ObservedNS, r.ReplayedNS, r.IdealNS)
	}
	types := map[string]float64{"forward-compute": 112, "backward-compute": 107, "optimizer": 109}
	for _, one := range r.ByType {
		want := types[one.Type]
		if want == 0 {
			want = 108
		}
		near(t, one.Type, one.Slowdown, want/108, 1e-9)
	}
	near(t, "stage", r.ByStage[0].Slowdown, 115./108, 1e-9)
	near(t, "stage", r.ByStage[1].Slowdown, 105./108, 1e-9)
	near(t, "S_w of rank 0", r.Workers[0].Slowdown, 105./108, 1e-9)
	near(t, "S_w of rank 1", r.Workers[1].Slowdown, 112./108, 1e-9)
	for _, s := range []Share{r.WorstWorkers, r.LastStage} {
		if !slices.Equal(s.Ranks, []int32{1}) {
			t.Errorf("ranks %d", s.Ranks)
		}
		near(t, "removed", s.Removed, 1.75, 1e-9)
		near(t, "added", s.Added, 1.75, 1e-9)
	}
}

// A replay in which each operation starts as late as it did gives every start and end back.
func TestDelaysGiveTheTableBack(t *testing.T) {
	tables := map[string]*optable.Table{"worked": worked(t)}
	if table, err := optable.Read(shared("trace-ST.parquet")); err == nil {
		tables["ST"] = table
	}
	for name, table := range tables {
		r, err := newReplays(newJob(table))
		if err != nil {
			t.Fatal(err)
		}
		delays := r.delays(r.g)
		for i, d := range delays {
			r.g.Work[i] = r.observed[i]
			if len(r.plan.In(int32(i))) == 0 {
				r.g.Release[i] = d
			}
		}
		for e, to := range r.g.To {
			r.g.Lag[e] = delays[to]
		}
		r.plan.ReplayInto(&r.times)
		for i := range delays {
			if r.times.Start[i] != r.Start[i] || r.times.End[i] != r.end(op(i)) {
				t.Fatalf("%s: %s %d of rank %d in step %d is [%d, %d), was [%d, %d)",
					name, r.Type[i], r.Seq[i], r.Rank[i], r.Step[i],
					r.times.Start[i], r.times.End[i], r.Start[i], r.end(op(i)))
			}
		}
	}
}

// shared is a file of a published job, where it is at hand.
func shared(name string) string {
	return filepath.Join("..", "..", "..", "shared", "traces", "straggler", name)
}

// published is what the authors' own program says of a job; times are seconds.
type published struct {
	Base    map[string]float64 `json:"step_t_base"`
	NoDelay map[string]float64 `json:"step_t_nodelay"`
	Ideal   map[string]float64 `json:"step_t_noblk"`
	Launch  float64            `json:"launch_slowdown"`
	S       float64            `json:"blocking_slowdown"`
	ByStep  map[string]float64 `json:"blocking_step_slowdown"`
	ByType  map[string]float64 `json:"blocking_decompose_by_optype"`
	ByDP    map[string]float64 `json:"blocking_decompose_by_dp_rank"`
	ByStage map[string]float64 `json:"blocking_decompose_by_stage"`
}

func load(t *testing.T, name string, to any) {
	t.Helper()
	text, err := os.ReadFile(shared(name))
	if err != nil {
		t.Skipf("the published job is not at hand: %v", err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatal(err)
	}
}

// The published figures of the job ST, of which each is held to 1e-6.
func TestPublished(t *testing.T) {
	const tolerance = 1e-6
	var want published
	load(t, "result-ST.json", &want)
	table, err := optable.Read(shared("trace-ST.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := Analyze(table)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "S", r.Slowdown, want.S, tolerance)
	near(t, "unexplained", r.Unexplained, want.Launch, tolerance)
	if len(r.Steps) != len(want.Base) || len(r.ByType) != len(want.ByType) {
		t.Errorf("%d steps, %d types", len(r.Steps), len(r.ByType))
	}
	for _, s := range r.Steps {
		n := strconv.FormatInt(s.Number, 10)
		near(t, "observed, step "+n, float64(s.ObservedNS)/1e9, want.Base[n], tolerance)
		near(t, "replayed, step "+n, float64(s.ReplayedNS)/1e9, want.NoDelay[n], tolerance)
		near(t, "ideal, step "+n, float64(s.IdealNS)/1e9, want.Ideal[n], tolerance)
		near(t, "slowdown, step "+n, s.Slowdown, want.ByStep[n], tolerance)
	}
	for _, one := range r.ByType {
		near(t, one.Type, one.Slowdown, want.ByType[one.Type], tolerance)
	}
	for i, list := range [][]GroupSlowdown{r.ByDP, r.ByStage} {
		of := []map[string]float64{want.ByDP, want.ByStage}[i]
		for _, one := range list {
			near(t, "group", one.Slowdown, of[strconv.Itoa(int(one.Number))], tolerance)
		}
	}
	for name, s := range map[string]Share{"mw-ST.json": r.WorstWorkers, "ms-ST.json": r.LastStage} {
		var of struct{ Trem, Tadd, Rem, Add float64 }
		load(t, name, &of)
		near(t, name+" repaired", float64(s.RepairedNS)/1e9, of.Trem, tolerance)
		near(t, name+" alone", float64(s.AloneNS)/1e9, of.Tadd, tolerance)
		near(t, name+" removed", s.Removed, of.Rem, 2e-6) // a difference of two means
		near(t, name+" added", s.Added, of.Add, 2e-6)
	}
	near(t, "rank 7 alone", r.Workers[7].Alone, 1.2319, 1e-4)
}

// The order of rows says nothing.
func TestAnyOrderOfRows(t *testing.T) {
	table := worked(t)
	want, _ := Analyze(table)
	order := make([]int32, table.Len())
	for i := range order {
		order[i] = int32(i)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	got, err := Analyze(&optable.Table{
		Step: pick(table.Step, order), DP: pick(table.DP, order), Stage: pick(table.Stage, order),
		Rank: pick(table.Rank, order), Seq: pick(table.Seq, order), Chunk: pick(table.Chunk, order),
		ModelChunk: pick(table.ModelChunk, order), Type: pick(table.Type, order), Start: pick(table.Start, order),
		Duration: pick(table.Duration, order),
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := asJSON(t, got), asJSON(t, want); a != b {
		t.Errorf("got %s\nwant %s", a, b)
	}
}

func asJSON(t *testing.T, r *Result) string {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// edited is the table of a job with some lines replaced or, by "", left out.
func edited(t *testing.T, edits map[string]string) *optable.Table {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "worked.csv"))
	if err != nil {
		t.Fatal(err)
	}
	s := string(text)
	for old, line := range edits {
		if !strings.Contains(s, old+"\n") {
			t.Fatalf("no line %s", old)
		}
		s = strings.Replace(s, old+"\n", line, 1)
	}
	table, err := optable.ReadFrom(strings.NewReader(s), int64(len(s)))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// What was recorded and never sent, before the first and after the last computation, changes
// nothing; nor does what a stage without a neighbour records.
func TestNeverSent(t *testing.T) {
	want, _ := Analyze(worked(t))
	got, err := Analyze(edited(t, map[string]string{
		"7,0,0,0,optimizer,0.109,0.003,0,-1,-1,-1": "7,0,0,0,optimizer,0.109,0.003,0,-1,-1,-1\n" +
			"7,0,0,0,backward-recv,0.107,0,2,-1,-1,-1\n" + // after the last backward pass began
			"7,0,0,0,forward-send,0,0.001,9,-1,-1,-1\n", // before the first forward pass ended
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got.Slowdown != want.Slowdown || got.ReplayedNS != want.ReplayedNS {
		t.Errorf("S %v, T %d; want %v, %d", got.Slowdown, got.ReplayedNS, want.Slowdown, want.ReplayedNS)
	}
}

// A table that lacks operations is analyzed as far as it goes.
func TestMissingOperations(t *testing.T) {
	got, err := Analyze(edited(t, map[string]string{
		"7,0,0,0,gc,0.106,0,0,-1,-1,-1": "", "7,0,1,1,gc,0.084,0,0,-1,-1,-1": "",
		"7,0,0,0,layernorm-grads-all-reduce,0.106,0,0,-1,-1,-1": "",
	}))
	if err != nil || got.ReplayedNS != 112e6 {
		t.Errorf("T %d, %v", got.ReplayedNS, err)
	}
}

// Operations that wait for each other in a circle are refused with one of them.
func TestCircle(t *testing.T) {
	_, err := Analyze(edited(t, map[string]string{
		// the first stage sends its second micro-batch only after it got the gradient of the
		// first, and the second stage begins backward after both
		"7,0,0,0,forward-compute,0.01,0.01,1,0,1,0":   "7,0,0,0,forward-compute,0.074,0.01,1,0,1,0\n",
		"7,0,1,1,forward-compute,0.052,0.016,1,0,1,1": "7,0,1,1,forward-compute,0.03196,0.00001,1,0,1,1\n",
	}))
	if err == nil || !strings.Contains(err.Error(), "step 7") || !strings.Contains(err.Error(), "circle") {
		t.Errorf("error %v", err)
	}
}

// The slowdown of one worker that is twice as slow is its own, and found whatever the times of
// the others are.
func TestPlantedStraggler(t *testing.T) {
	table := worked(t)
	for i := range table.Type {
		if table.Rank[i] == 1 && table.Type[i] == optable.Optimizer {
			table.Duration[i] += 50e6
		}
	}
	r, err := Analyze(table)
	if err != nil {
		t.Fatal(err)
	}
	if r.ByType[0].Type != "optimizer" || r.Workers[1].Alone < r.Workers[0].Alone {
		t.Errorf("%s; alone %v", r.ByType[0].Type, r.Workers)
	}
}

func BenchmarkAnalyze(b *testing.B) {
	table, err := optable.Read(shared("trace-ST.parquet"))
	if err != nil {
		b.Skip(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Analyze(table); err != nil {
			b.Fatal(err)
		}
	}
}
