package rules_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/internal/tracegen"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// eight is the files of the real run of eight ranks.
func eight(t *testing.T) []string {
	t.Helper()
	var files []string
	for rank := range 8 {
		files = append(files, shared(t, "gpu", fmt.Sprintf("normuon-rank%d.json.gz", rank)))
	}
	return files
}

// wantOfEight is rule, severity and cost per step of what the eight ranks show together.
// It was looked at in the traces.
var wantOfEight = []string{
	// In three of its four steps the device of rank 1 is idle for 16.4, 11.3 and 5.8 ms, those of the
	// others mostly for about 1: its host launches too late. Seven ranks wait 27.4 ms each for it, in 17
	// collectives; of rank 7's 44.2 ms of exposed communication 26.0 are that. A program of its own, over
	// the JSON of the files, finds 178,922,453 ns in the 32 steps of all ranks: 5,591,326 each.
	"ST001 error 5591326",
	// What is left of the reduce-scatters without the waiting for rank 1.
	"OV001 warn 1936818",
	"OV004 warn 588656",
	// Rank 1, as by itself. On rank 0 one span of four idles, which is no habit.
	"OP001 warn 427243",
	// The all-gathers of updated parameters, all inside Optimizer.step.
	"OV009 note 2340898",
	"ID004 note 377747", // rank 1 alone: what OP001 leaves of 6.44 ms a step
	"TH004 note",
}

func TestFindingsOfEightRanks(t *testing.T) {
	r := analyse(t, eight(t)...)
	var got []string
	for _, f := range r.Findings {
		line := f.Rule + " " + string(f.Severity)
		if f.Cost != nil {
			line += fmt.Sprint(" ", *f.Cost)
		}
		t.Log(line, f.Message, "|", f.Why, "|", f.Fix, f.Caveats)
		got = append(got, line)
	}
	if !slices.Equal(got, wantOfEight) {
		t.Errorf("got %q, want %q", got, wantOfEight)
	}
	if s := r.Straggler; s == nil || *s != 1 {
		t.Errorf("straggler %v", s)
	}
	if m := r.Matching; len(m.Notes) > 0 || m.SameSteps == nil || !*m.SameSteps {
		t.Errorf("%+v", m)
	}
	if e := r.Findings[0].Evidence; len(e) != 5 || e[0].Rank != 1 {
		t.Errorf("evidence %+v", e)
	}
}

// The waits of a report are those of analyze/ranks, whatever order files are given in.
func TestOrderOfFilesIsNothing(t *testing.T) {
	files := eight(t)
	first := analyse(t, files...)
	slices.Reverse(files)
	second := analyse(t, files...)
	a, errA := json.Marshal([]any{first.Ranks, first.Matching, first.Straggler, first.Findings})
	b, errB := json.Marshal([]any{second.Ranks, second.Matching, second.Straggler, second.Findings})
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("%s\n%s", a, b)
	}
}

// rankFile writes a trace as text and reads it under a name, as the command does.
func rankFile(t *testing.T, name, source string) analyze.Input {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	traces, err := tracefile.Read(file, tracefile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Input{File: name, Trace: traces[0]}
}

// rankSteps is two steps of 1000 us in which a reduce-scatter lasts from one moment to
// another; compute is a kernel that runs beside it from 100 us.
func rankSteps(rank, from, to, compute int) string {
	return rankRun(rank, []int{from, from}, to, compute)
}

// rankRun is rankSteps with a moment of its own for each step.
func rankRun(rank int, froms []int, to, compute int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "distributed backend=nccl rank=%d world_size=2\n", rank)
	for i, from := range froms {
		at := 1000 * i
		fmt.Fprintf(&b, `100/2 %dus +9us cpu_op torch::autograd::AccumulateGrad dims=[[1000,250]] type=["float"]
100/1 %dus +2us cuda_runtime launch corr=%d
0/7 %dus +%dus kernel gemm corr=%d
100/2 %dus +9us cpu_op record_param_comms coll=_reduce_scatter_base in=250000 out=125000 dtype=Float group=0 gsize=2
100/2 %dus +2us cuda_runtime launch corr=%d
0/20 %dus +%dus kernel ncclDevKernel_ReduceScatter corr=%d
100/1 %dus +50us user_annotation Optimizer.step#A.step
`, at+20, at+10, 2*i+1, at+100, compute, 2*i+1, at+40, at+42, 2*i+2, at+from, to-from, 2*i+2, at+80)
	}
	return b.String()
}

// Waiting that compute hides is no more than a note, and little of it is nothing.
func TestHiddenWait(t *testing.T) {
	for _, c := range []struct {
		late int // how much later rank 1 enters, us
		want string
	}{{0, ""}, {5, ""}, {300, "ST001 note"}} {
		r := analyze.Run([]analyze.Input{
			rankFile(t, "rank0.txt", rankSteps(0, 200, 700, 800)),
			rankFile(t, "rank1.txt", rankSteps(1, 200+c.late, 700, 800)),
		}, analyze.Options{Rules: rules.All()})
		if got := strings.Join(findings(r), ", "); got != c.want {
			t.Errorf("late by %d us: %q, want %q", c.late, got, c.want)
		}
		if c.late > 0 && (r.Straggler == nil || *r.Straggler != 1 || *r.Ranks[1].WaitCaused != int64(2000*c.late)) {
			t.Errorf("late by %d: %+v", c.late, r.Ranks)
		}
	}
}

// A rank that is very late now and then is no straggler, one that is a little late in
// every step is.
func TestSteadyStraggler(t *testing.T) {
	for _, c := range []struct {
		zero, one []int // starts, us
		want      string
	}{
		{
			[]int{210, 210, 210, 200, 210, 210, 210, 210},
			[]int{200, 200, 200, 600, 200, 200, 200, 200},
			"ST001 note, OV001 error",
		},
		{
			[]int{200, 200, 200, 200, 200, 200, 200, 200},
			[]int{260, 260, 260, 260, 260, 260, 260, 260},
			"ST001 warn, OV001 error",
		},
	} {
		r := analyze.Run([]analyze.Input{
			rankFile(t, "rank0.txt", rankRun(0, c.zero, 700, 20)), rankFile(t, "rank1.txt", rankRun(1, c.one, 700, 20)),
		}, analyze.Options{Rules: rules.All()})
		got := findings(r)
		slices.Reverse(got)
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%v, %v: %q, want %q", c.zero, c.one, got, c.want)
		}
		if r.Straggler == nil || *r.Straggler != 1 {
			t.Errorf("straggler %v", r.Straggler)
		}
	}
}

// Exposed waiting is claimed once: with the rule or without, the findings cost as much.
func TestWaitIsClaimedOnce(t *testing.T) {
	inputs := []analyze.Input{
		rankFile(t, "rank0.txt", rankSteps(0, 300, 900, 100)),
		rankFile(t, "rank1.txt", rankSteps(1, 700, 900, 500)),
	}
	sum := func(list []analyze.Rule) (total int64) {
		for _, f := range analyze.Run(inputs, analyze.Options{Rules: list}).Findings {
			if f.Cost != nil {
				total += *f.Cost
			}
		}
		return total
	}
	without := slices.DeleteFunc(rules.All(), func(r analyze.Rule) bool { return r.ID == "ST001" })
	if a, b := sum(rules.All()), sum(without); a != b || a == 0 {
		t.Errorf("findings cost %d with ST001, %d without", a, b)
	}
}

// Files of one host name say nothing; those of several have their clocks aligned, and
// the report says so.
func TestHostsOfFileNames(t *testing.T) {
	for _, c := range []struct {
		first, second string
		want          string
	}{
		{"node1_11.1700000000000.pt.trace.json", "node1_12.1700000000001.pt.trace.json", "ST001 note"},
		{"node1_11.1700000000000.pt.trace.json", "node2_11.1700000000001.pt.trace.json", "ST001 note, TH005 note"},
	} {
		a := rankFile(t, "rank0.txt", rankSteps(0, 200, 700, 800))
		b := rankFile(t, "rank1.txt", rankSteps(1, 500, 700, 800))
		a.File, b.File = c.first, c.second
		r := analyze.Run([]analyze.Input{a, b}, analyze.Options{Rules: rules.All()})
		got := findings(r)
		slices.Sort(got)
		aligned := c.first[:5] != c.second[:5]
		if text := strings.Join(got, ", "); text != c.want || r.Matching.ClocksAligned != aligned {
			t.Errorf("%s and %s: %q, want %q", c.first, c.second, text, c.want)
		}
	}
}

// Where every rank is late now and then by as much, none is called a straggler: of
// several made-up runs with and without sequence numbers.
func TestNobodyStandsOut(t *testing.T) {
	for seed := range uint64(6) {
		var inputs []analyze.Input
		for rank := range 4 {
			var b bytes.Buffer
			o := tracegen.Options{Steps: 6, Rank: rank, WorldSize: 4, Seed: seed, NoSeq: seed%2 == 0}
			if err := tracegen.Write(&b, o); err != nil {
				t.Fatal(err)
			}
			inputs = append(inputs, rankFile(t, fmt.Sprintf("rank%d.json", rank), b.String()))
		}
		r := analyze.Run(inputs, analyze.Options{Rules: rules.All()})
		if r.Matching.Matched == 0 || r.Straggler == nil || len(r.Matching.Notes) > 0 {
			t.Fatalf("%+v", r.Matching)
		}
		for _, f := range findings(r) {
			if strings.HasPrefix(f, "ST") || strings.HasPrefix(f, "TH") {
				t.Errorf("seed %d: %s", seed, f)
			}
		}
	}
}

// Two groups that wait at the same time, on two streams, wait once: 400 us of every
// step of rank 0, so 200 us of the mean step.
func TestWaitOnTwoStreams(t *testing.T) {
	twice := func(rank, from int) string {
		source := rankSteps(rank, from, 900, 100)
		second := strings.NewReplacer(
			"100/2 ", "100/3 ", "group=0", "group=1", "0/20 ", "0/21 ", "corr=2", "corr=12", "corr=4", "corr=14")
		for _, l := range strings.Split(source, "\n") {
			if strings.Contains(l, "record_param") || strings.Contains(l, "corr=2") || strings.Contains(l, "corr=4") {
				source += second.Replace(l) + "\n"
			}
		}
		return source
	}
	inputs := []analyze.Input{rankFile(t, "rank0.txt", twice(0, 300)), rankFile(t, "rank1.txt", twice(1, 700))}
	r := analyze.Run(inputs, analyze.Options{Rules: rules.All()})
	i := slices.IndexFunc(r.Findings, func(f report.Finding) bool { return f.Rule == "ST001" })
	if len(r.Matching.Groups) != 2 || r.Matching.Matched != 4 || i < 0 || *r.Findings[i].Cost != 200_000 {
		t.Errorf("%+v\n%+v", r.Matching, r.Findings)
	}
}
