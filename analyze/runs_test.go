package analyze

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What a file of the cases below says; the zero value says nothing and steps once.
type said struct {
	name      string
	rank      int // in distributedInfo where world is set
	world     int
	base      string // of the clock
	at        string // when it begins on that clock, "0s" if empty
	optimizer string
	dims      string // of the only parameter
	silent    bool   // no distributedInfo, but a collective of rank among world ranks
	apart     bool   // no sign of other ranks: a kernel, and no collective
}

func (f said) text() string {
	at, optimizer := orElse(f.at, "0s"), orElse(f.optimizer, "AdamW")
	start := func(us int) string { return shifted(at, us) }
	var b strings.Builder
	if f.base != "" {
		fmt.Fprintf(&b, "recording base=%s\n", f.base)
	}
	if f.world > 0 && !f.silent {
		fmt.Fprintf(&b, "distributed backend=nccl rank=%d world_size=%d\n", f.rank, f.world)
	}
	if f.silent {
		fmt.Fprintf(&b, "1/1 %s +20us cpu_op record_param_comms coll=allreduce in=64 out=64 dtype=Float group=0 "+
			"gsize=%d \"Rank\"=%d\n", start(10), f.world, f.rank)
	}
	if f.apart {
		fmt.Fprintf(&b, "1/1 %s +4us cuda_runtime cudaLaunchKernel corr=1\n0/7 %s +60us kernel gemm corr=1\n",
			start(5), start(40))
	}
	if f.dims != "" {
		fmt.Fprintf(&b, "1/2 %s +20us cpu_op torch::autograd::AccumulateGrad dims=[[%s]] type=[\"float\"]\n",
			start(100), f.dims)
	}
	fmt.Fprintf(&b, "1/1 %s +100us user_annotation Optimizer.step#%s.step\n", start(200), optimizer)
	return b.String()
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// shifted is a time in seconds and some us.
func shifted(seconds string, us int) string {
	s, _ := strconv.Atoi(strings.TrimSuffix(seconds, "s"))
	return strconv.Itoa(s*1e9+us*1e3) + "ns"
}

const unix2025 = "1750000000000000000"

// ranksNamed are files of a run that differ in their rank alone.
func ranksNamed(pattern string, n int, like said) (list []said) {
	for r := range n {
		like.name, like.rank = fmt.Sprintf(pattern, r), r
		list = append(list, like)
	}
	return list
}

func TestRuns(t *testing.T) {
	for _, test := range []struct {
		what  string
		files []said
		want  string // runs divided by |, each with its files
	}{
		{"one run", ranksNamed("rank%d", 3, said{world: 3}), "rank0 rank1 rank2"},
		{"pipeline stages hold other parameters, and clocks of hosts differ", []said{
			{name: "a", rank: 0, world: 3, base: unix2025, dims: "10,10"},
			{name: "b", rank: 1, world: 3, base: unix2025, dims: "20,10", at: "7s"},
			{name: "c", rank: 2, world: 3, base: unix2025, dims: "20,10", at: "58s"},
		}, "a b c"},
		{"a stage may lack an optimizer", []said{
			{name: "a", rank: 0, world: 2, optimizer: "AdamW"},
			{name: "b", rank: 1, world: 2, optimizer: "AdamW"},
		}, "a b"},
		{"no distributedInfo, numbers of messages", []said{
			{name: "x", rank: 0, world: 2, silent: true}, {name: "y", rank: 1, world: 2, silent: true},
		}, "x y"},
		{"nothing said at all", []said{{name: "a"}, {name: "b"}}, "a b"},
		{"numbers by name alone, without any communication", []said{
			{name: "rank0", apart: true}, {name: "rank1", apart: true},
		}, "rank0 rank1"},
		{"positions in groups of two, recorded at once, are no ranks of the world", []said{
			{name: "a", rank: 0, world: 2, silent: true, base: unix2025},
			{name: "b", rank: 0, world: 2, silent: true, base: unix2025, dims: "10,10"},
		}, "a b"},
		{"clocks that count from elsewhere say nothing", []said{
			{name: "a", rank: 0, world: 2, base: unix2025}, {name: "b", rank: 1, world: 2, at: "90000s"},
		}, "a b"},
		{"clocks that count from the start of hosts", []said{
			{name: "a", rank: 0, world: 2, at: "90000s"}, {name: "b", rank: 1, world: 2, at: "180000s"},
		}, "a b"},
		{"an idle file goes along", []said{
			{name: "rank0", rank: 0, world: 2}, {name: "empty"}, {name: "rank1", rank: 1, world: 2},
		}, "rank0 empty rank1"},

		{"the same rank", []said{{name: "a", rank: 0, world: 2}, {name: "b", rank: 0, world: 2}}, "a | b"},
		{"other world sizes", []said{{name: "a", rank: 0, world: 2}, {name: "b", rank: 1, world: 4}}, "a | b"},
		{"a group larger than the world", []said{
			{name: "a", rank: 0, world: 2}, {name: "b", rank: 1, world: 4, silent: true},
		}, "a | b"},
		{"no room", []said{
			{name: "a", rank: 0, world: 2}, {name: "b", rank: 1, world: 2}, {name: "c", rank: 2, world: 2},
		}, "a b | c"},
		{"hours apart", []said{
			{name: "a", rank: 0, world: 2, base: unix2025}, {name: "b", rank: 1, world: 2, base: unix2025, at: "3600s"},
		}, "a | b"},
		{"hours apart on a clock of their own", []said{
			{name: "a", rank: 0, world: 2}, {name: "b", rank: 1, world: 2, at: "3600s"},
		}, "a | b"},
		{"another model, minutes apart", []said{
			{name: "a", rank: 0, world: 2, dims: "10,10"}, {name: "b", rank: 1, world: 2, dims: "20,10", at: "120s"},
		}, "a | b"},
		{"other optimizers", []said{
			{name: "a", rank: 0, world: 2}, {name: "b", rank: 1, world: 2, optimizer: "SGD"},
		}, "a | b"},
		{"programs that train alone", []said{{name: "a", apart: true}, {name: "b", apart: true}}, "a | b"},
		{"one that trains alone beside ranks", []said{
			{name: "r0", rank: 0, world: 3}, {name: "b", apart: true}, {name: "r1", rank: 1, world: 3},
		}, "r0 r1 | b"},
		{"a copy of messages", []said{
			{name: "a", rank: 0, world: 2, silent: true, base: unix2025},
			{name: "b", rank: 0, world: 2, silent: true, base: unix2025},
		}, "a | b"},

		{"iterations in folders, ranks told by time", slices.Concat(
			ranksNamed("iteration_10/rank%d", 2, said{world: 2, base: unix2025}),
			ranksNamed("iteration_500/rank%d", 2, said{world: 2, base: unix2025, at: "400s"}),
		), "iteration_10/rank0 iteration_10/rank1 | iteration_500/rank0 iteration_500/rank1"},
		{"iterations in folders whose clocks say nothing", slices.Concat(
			ranksNamed("iteration_10/rank%d", 2, said{world: 2}), ranksNamed("iteration_500/rank%d", 2, said{world: 2}),
		), "iteration_10/rank0 iteration_10/rank1 | iteration_500/rank0 iteration_500/rank1"},
		{"a folder for each rank", []said{
			{name: "rank0/step10", rank: 0, world: 2}, {name: "rank0/step500", rank: 0, world: 2},
			{name: "rank1/step10", rank: 1, world: 2}, {name: "rank1/step500", rank: 1, world: 2},
		}, "rank0/step10 rank1/step10 | rank0/step500 rank1/step500"},
		{"loops side by side in one folder", []said{
			{name: "ddp-rank0", rank: 0, world: 2}, {name: "ddp-rank1", rank: 1, world: 2},
			{name: "fsdp-rank0", rank: 0, world: 2}, {name: "fsdp-rank1", rank: 1, world: 2},
			{name: "step10-rank1", rank: 1, world: 2}, {name: "step10-rank0", rank: 0, world: 2},
		}, "ddp-rank0 ddp-rank1 | fsdp-rank0 fsdp-rank1 | step10-rank1 step10-rank0"},
		{"two recordings on two hosts, whose clocks differ by 3 s, by time", []said{
			{name: "h0_1", rank: 0, world: 2, base: unix2025},
			{name: "h0_2", rank: 0, world: 2, base: unix2025, at: "60s"},
			{name: "h1_1", rank: 1, world: 2, base: unix2025, at: "3s"},
			{name: "h1_2", rank: 1, world: 2, base: unix2025, at: "63s"},
		}, "h0_1 h1_1 | h0_2 h1_2"},
	} {
		if got := runsOf(t, test.files); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}

// runsOf is the runs of some files. Whatever the order in which the files are read, it is
// the same.
func runsOf(t *testing.T, files []said) string {
	t.Helper()
	var first string
	for range 3 {
		a := New(Options{RankOf: rankInName})
		for _, i := range rand.Perm(len(files)) {
			source := files[i].text()
			if files[i].name == "empty" {
				source = ""
			}
			a.Add(i, Input{File: files[i].name, Trace: read(t, source)})
		}
		var runs []string
		for _, r := range a.Runs() {
			runs = append(runs, strings.Join(r.Files, " "))
		}
		got := strings.Join(runs, " | ")
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("%s, then %s", first, got)
		}
	}
	return first
}

func rankInName(file string) (int64, bool) {
	m := regexp.MustCompile(`rank(\d+)$`).FindStringSubmatch(filepath.Base(file))
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	return n, err == nil
}

// The report of a run is that of its files alone, and the error names all runs.
func TestSeveralRuns(t *testing.T) {
	files := slices.Concat(ranksNamed("a/rank%d", 3, said{world: 3}), ranksNamed("b/rank%d", 2, said{world: 3}),
		[]said{{name: "c", rank: 0, world: 2}})
	a := New(Options{RankOf: rankInName})
	for i, f := range files {
		a.Add(i, Input{File: f.name, Trace: read(t, f.text())})
	}
	runs := a.Runs()
	if len(runs) != 3 {
		t.Fatalf("%d runs", len(runs))
	}
	for i := range runs {
		r := a.ResultOf(&runs[i], Options{RankOf: rankInName}).Report
		if !slices.Equal(r.Source.Files, runs[i].Files) || !slices.Equal(r.Source.Ranks, runs[i].Ranks) {
			t.Errorf("%+v is reported as %+v", runs[i], r.Source)
		}
		if len(r.Health.Problems) > 0 {
			t.Errorf("%+v", r.Health.Problems)
		}
	}
	if !runs[0].Alike(&runs[1]) || runs[0].Alike(&runs[2]) {
		t.Error("which runs are alike")
	}
	err := error(&SeveralRuns{runs})
	want := `the traces are of 3 runs, not one
  run 1: ranks 0-2 of 3, 1 step: a/rank* (3 files)
  run 2: ranks 0-1 of 3, 1 step (rank 0 occurs again): b/rank* (2 files)
  run 3: rank 0 of 2, 1 step (rank 0 occurs again): c`
	if err.Error() != want {
		t.Errorf("%s", err)
	}
	var several *SeveralRuns
	if !errors.As(fmt.Errorf("x: %w", err), &several) {
		t.Error("the error is lost")
	}
}

// A pattern is offered only if it fits the files of its run and no other.
func TestSelect(t *testing.T) {
	for _, test := range []struct{ runs, want string }{
		{"a | b", "a"},
		{"rank0 rank1 rank10 | other", "rank* (3 files)"},
		{"rank0.json rank1.json | rank0.native.json", "rank[0-9].json (2 files)"},
		{"x y | z", "x y"},
		{"x1 x2 x3 x4 x5 | xq", "x[0-9] (5 files)"},
		{"p q r s t | z", "p q r and 2 more"},
		{"a*0 a*1 | b", "a*0 a*1"},
		{"d/a d/aa | b", "d/a* (2 files)"},
	} {
		e := &SeveralRuns{}
		for _, r := range strings.Split(test.runs, " | ") {
			e.Runs = append(e.Runs, TracedRun{Files: strings.Fields(r)})
		}
		if got := e.Select(0); got != test.want {
			t.Errorf("%s: %s, want %s", test.runs, got, test.want)
		}
	}
}

// Many ranks are one run, in time that grows with their number.
func TestManyRanksAreOneRun(t *testing.T) {
	one := read(t, said{world: 1 << 20, silent: true}.text())
	a := New(Options{RankOf: rankInName})
	reduced := Reduce(Input{Trace: one}, &Options{})
	const n = 4096
	for i := range n {
		of := *reduced
		of.File = fmt.Sprintf("rank%d", i)
		a.AddReduced(i, &of)
	}
	if runs := a.Runs(); len(runs) != 1 || len(runs[0].Files) != n || len(runs[0].Ranks) != n {
		t.Errorf("%d runs", len(runs))
	}
}

// Recordings of ever more runs in one folder are told apart up to a limit, which the error names,
// and of many runs it describes the first ones.
func TestMostRuns(t *testing.T) {
	one := Reduce(Input{Trace: read(t, said{world: 1}.text())}, &Options{})
	for _, n := range []int{mostListed + 1, MostRuns + 500} {
		a := New(Options{})
		for i := range n {
			of := *one
			of.File = fmt.Sprintf("x%d", i)
			a.AddReduced(i, &of)
		}
		runs := a.Runs()
		e := &SeveralRuns{runs}
		lines := strings.Split(e.Error(), "\n")
		want := []string{"the traces are of 51 runs, not one", "  and 1 more"}
		if n > MostRuns {
			want = []string{"the traces are of more than 1000 runs, which is how many are told apart", "  and others"}
		}
		if len(runs) != min(n, MostRuns+1) || e.TooMany() != (n > MostRuns) || len(lines) != mostListed+2 ||
			lines[0] != want[0] || lines[len(lines)-1] != want[1] {
			t.Errorf("%d runs of %d: %q to %q", len(runs), n, lines[0], lines[len(lines)-1])
		}
	}
}
