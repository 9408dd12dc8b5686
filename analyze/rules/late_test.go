package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
)

// lateRun is some steps of some ranks of one group.
type lateRun struct {
	steps, ranks int
	step         func(rank, step int) []act
	groups       map[string][]int // nil for one group of all
	change       func(*simRank)   // nil for none
}

// inputs simulates the run.
func (run lateRun) inputs(t *testing.T) []analyze.Input {
	t.Helper()
	groups := run.groups
	if groups == nil {
		groups = map[string][]int{"0": nil}
	}
	var list []*simRank
	for rank := range run.ranks {
		r := &simRank{rank: rank}
		for step := range run.steps {
			r.program = append(r.program, run.step(rank, step)...)
		}
		if run.change != nil {
			run.change(r)
		}
		if run.groups == nil {
			groups["0"] = append(groups["0"], rank)
		}
		list = append(list, r)
	}
	return simulate(t, list, groups)
}

// straggler is the finding about the straggler, nil for none.
func stragglerOf(t *testing.T, inputs []analyze.Input) *report.Finding {
	t.Helper()
	r := analyze.Run(inputs, analyze.Options{Rules: rules.All()})
	checkReport(t, r)
	for i := range r.Findings {
		if r.Findings[i].Rule == "ST001" {
			return &r.Findings[i]
		}
	}
	return nil
}

// usual is a step of a rank: forward, backward, a collective that the update waits for.
func usual(before ...act) []act {
	list := append([]act{}, before...)
	list = append(list, kernel("gemm", 300, "[8,8,1]"), kernel("gelu", 100, "[64,1,1]"), act{kind: 'b'})
	return append(list, kernel("gemm_bwd", 500, "[8,8,1]"), act{'c', "0", 50, ""}, act{kind: 'w'}, act{kind: 'o'})
}

// onRank1 is usual with something before it on rank 1.
func onRank1(before ...act) func(rank, step int) []act {
	return func(rank, _ int) []act {
		if rank == 1 {
			return usual(before...)
		}
		return usual()
	}
}

// longer is usual with kernels that take longer, or are more or larger, on rank 1.
func longer(percent int, grid string, times int) func(rank, step int) []act {
	return func(rank, _ int) []act {
		if rank != 1 {
			return usual()
		}
		var list []act
		for _, a := range usual() {
			n := 1
			if a.kind == 'k' {
				a.us, n = a.us*percent/100, times
				if grid != "" {
					a.more = "grid=" + grid
				}
			}
			list = append(list, repeat(n, a)...)
		}
		return list
	}
}

const loader = `"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"`

// each is a fault of rank 1 and its cause; ns is what it must take per step, in us,
// give or take a tenth.
var eachLate = []struct {
	name, cause string
	us          int64
	say         string // in the sentence
	run         lateRun
}{
	{"data", "data_loading", 1530, "waits for data", lateRun{steps: 4, ranks: 4,
		step: onRank1(act{'h', loader, 3000, "user_annotation"})}},
	{"data of one step", "data_loading", 1020, "waits for data", lateRun{steps: 2, ranks: 2,
		step: onRank1(act{'h', loader, 3000, "user_annotation"})}},
	{"memory", "memory_management", 1530, "allocated or freed", lateRun{steps: 4, ranks: 3,
		step: onRank1(act{'h', "cudaMalloc", 3000, "cuda_runtime"})}},
	{"stall", "host_stall", 1530, "launches nothing", lateRun{steps: 4, ranks: 3,
		step: onRank1(act{'h', "checkpoint", 3000, "user_annotation"})}},
	{"garbage", "garbage_collection", 1530, "collects garbage", lateRun{steps: 4, ranks: 3,
		step: onRank1(act{'h', `"<built-in method collect of module object at 0x7f>"`, 3000, "python_function"})}},
	{"synchronization", "synchronization", 400, "waits for its device", lateRun{steps: 4, ranks: 3,
		step: func(rank, _ int) []act {
			list := usual()
			if rank == 1 {
				return slices.Insert(list, 3, act{kind: 's'}, act{'h', "aten::work", 400, "cpu_op"})
			}
			return slices.Insert(list, 3, act{'h', "aten::work", 400, "cpu_op"})
		}}},
	{"launches", "launch_bound", 3000, "launch-bound", lateRun{steps: 4, ranks: 3,
		step: func(rank, _ int) []act {
			op := act{'h', "aten::work", 1, "cpu_op"}
			if rank == 1 {
				op.us = 80
			}
			return usual(repeat(60, op, kernel("short", 20, "[1,1,1]"))...)
		}}},
	{"slower", "slower_kernels", 450, "1.48 times as long", lateRun{steps: 4, ranks: 4, step: longer(150, "", 1)}},
	{"more", "more_work", 900, "1.97 times as much", lateRun{steps: 4, ranks: 4, step: longer(100, "", 2)}},
	{"larger", "more_work", 470, "in larger kernels", lateRun{steps: 4, ranks: 4, step: longer(150, "[16,16,1]", 1)}},
	{"copies", "memory_copies", 900, "copies", lateRun{steps: 4, ranks: 3,
		step: onRank1(act{'m', "Memcpy HtoD (Pinned -> Device)", 900, ""})}},
	{"unlinked", "slower_kernels", 337, "1.48 times", lateRun{steps: 4, ranks: 4, step: longer(150, "", 1),
		change: func(r *simRank) { r.unlinked = 4 }}},
	{"one step", "slower_kernels", 450, "1.50 times", lateRun{steps: 1, ranks: 4, step: longer(150, "", 1)}},
	{"no cut", "slower_kernels", 400, "times as long", lateRun{steps: 4, ranks: 3, step: func(rank, _ int) []act {
		forward, list := 400, []act(nil) // the collective is hidden at its end, on all ranks
		if rank == 1 {
			forward = 800
		}
		list = append(list, kernel("gemm", forward, "[8,8,1]"), act{kind: 'b'}, act{'c', "0", 50, ""})
		list = append(list, kernel("beside", 100, "[1,1,1]"), act{kind: 'w'})
		return append(list, kernel("after", 200, "[1,1,1]"), act{kind: 'o'})
	}}},
	{"no clear cause", "unknown", 0, "not clear", lateRun{steps: 4, ranks: 4,
		step: func(rank, step int) []act {
			if rank != 1 {
				return usual()
			}
			host := []act{{'h', "cudaMalloc", 1300, "cuda_runtime"}, {'h', loader, 300, "user_annotation"}}
			return append(host, longer(134, "", 1)(1, step)...)
		}}},
}

func TestWhyLate(t *testing.T) {
	for _, c := range eachLate {
		t.Run(c.name, func(t *testing.T) {
			f := stragglerOf(t, c.run.inputs(t))
			if f == nil || f.Lateness == nil {
				t.Fatalf("no lateness in %+v", f)
			}
			l := f.Lateness
			sum := l.Unexplained
			for _, p := range l.Parts {
				sum += p.NS
			}
			if sum != l.Late {
				t.Errorf("parts and the rest are %d of %d", sum, l.Late)
			}
			off := l.NS/1000 - c.us
			if l.Rank != 1 || l.Cause != c.cause || off > c.us/10 || -off > c.us/10 || !strings.Contains(f.Why, c.say) {
				t.Errorf("want %s %d us: %+v", c.cause, c.us, l)
			}
			if c.cause != "unknown" && (len(l.Evidence) == 0 || l.Evidence[0].Rank != 1) {
				t.Errorf("evidence %v", l.Evidence)
			}
		})
	}
}

// What comes late in the first of two collectives, which compute hides on the others, is
// not a matter of what the late rank does between them.
func TestLateBeforeTheOneItShowsIn(t *testing.T) {
	run := lateRun{steps: 4, ranks: 3, step: func(rank, _ int) []act {
		forward := 400
		if rank == 1 {
			forward = 900
		}
		return []act{
			kernel("gemm", forward, "[8,8,1]"), {kind: 'b'}, kernel("late_layers", 100, "[8,8,1]"), {'c', "0", 50, ""},
			kernel("early_layers", 700, "[8,8,1]"), {'c', "0", 50, ""}, {kind: 'w'}, {kind: 'o'},
		}
	}}
	f := stragglerOf(t, run.inputs(t))
	if f == nil || f.Lateness == nil {
		t.Fatalf("no lateness in %+v", f)
	}
	if l := f.Lateness; l.Cause != "slower_kernels" || l.NS != 500_000 || l.Evidence[0].Name != "gemm" {
		t.Errorf("%+v", l)
	}
}

// Workers that do not keep up are not answered with the number of workers that a loader of none
// is to have.
func TestLateLoaderWithWorkers(t *testing.T) {
	for _, test := range []struct{ span, want string }{
		{loader, "on rank 1: DataLoader(..., num_workers=4"},
		{strings.Replace(loader, "Single", "Multi", 1), "on rank 1: the workers do not keep up"},
	} {
		span := strings.Replace(test.span, "_MultiProcess", "_MultiProcessing", 1)
		run := lateRun{steps: 4, ranks: 4, step: onRank1(act{'h', span, 3000, "user_annotation"})}
		if f := stragglerOf(t, run.inputs(t)); f == nil || !strings.HasPrefix(f.Fix, test.want) {
			t.Errorf("%s: %+v, want %s", span, f, test.want)
		}
	}
}

// chainRun: rank 3 waits for rank 2, which waits for rank 1, which loads data.
var chainRun = lateRun{steps: 4, ranks: 6, groups: map[string][]int{"a": {1, 2}, "b": {0, 2, 3, 4, 5}},
	step: func(rank, _ int) []act {
		list := []act{kernel("gemm", 300, "[8,8,1]"), {kind: 'b'}}
		if rank == 1 {
			list = append([]act{{'h', loader, 3000, "user_annotation"}}, list...)
		}
		if rank == 1 || rank == 2 {
			list = append(list, act{'c', "a", 50, ""}, act{kind: 'w'})
		}
		list = append(list, kernel("gemm_bwd", 500, "[8,8,1]"))
		if rank != 1 {
			list = append(list, act{'c', "b", 50, ""}, act{kind: 'w'})
		}
		return append(list, act{kind: 'o'})
	}}

// The chain of ranks that wait for each other is told.
func TestLateChain(t *testing.T) {
	f := stragglerOf(t, chainRun.inputs(t))
	if f == nil || f.Lateness == nil {
		t.Fatalf("no lateness in %+v", f)
	}
	l := f.Lateness
	if l.Rank != 2 || l.Cause != "other_rank" || l.WaitsFor == nil || *l.WaitsFor != 1 || len(l.Chain) != 1 {
		t.Fatalf("%+v", l)
	}
	if next := l.Chain[0]; next.Rank != 1 || next.Cause != "data_loading" || !strings.Contains(f.Fix, "rank 1") {
		t.Errorf("%+v, %s", next, f.Fix)
	}
}

// passedOnRun is such a run of three ranks in two groups.
var passedOnRun = lateRun{steps: 5, ranks: 3, groups: map[string][]int{"a": {0, 1}, "b": {1, 2}},
	step: func(rank, _ int) []act {
		list := []act{kernel("gemm", 300, "[8,8,1]"), {kind: 'b'}}
		if rank == 0 {
			list[0].us = 900
		}
		if rank < 2 {
			list = append(list, act{'c', "a", 50, ""}, act{kind: 'w'})
		}
		list = append(list, kernel("gemm_bwd", 500, "[8,8,1]"))
		if rank > 0 {
			list = append(list, act{'c', "b", 50, ""}, act{kind: 'w'})
		}
		return append(list, act{kind: 'o'})
	}}

// Of three ranks in two groups of two, two keep another one waiting about as long; only the
// first of them is late of itself, so there is a straggler.
func TestLatenessIsPassedOn(t *testing.T) {
	f := stragglerOf(t, passedOnRun.inputs(t))
	if f == nil || f.Lateness == nil {
		t.Fatalf("no lateness in %+v", f)
	}
	l := f.Lateness
	if l.Rank != 1 || l.Cause != "other_rank" || len(l.Chain) != 1 {
		t.Fatalf("%+v", l)
	}
	if root := l.Chain[0]; root.Rank != 0 || root.Cause != "slower_kernels" || f.Severity != report.Error {
		t.Errorf("%s: %+v", f.Severity, root)
	}
}

// nobodyLate are runs without a rank that is late.
var nobodyLate = map[string]lateRun{
	"clocks apart": {steps: 8, ranks: 4, step: longer(150, "", 1),
		change: func(r *simRank) { r.clock = 700_000 * (r.rank % 2) }},
	"alike": {steps: 4, ranks: 4, step: func(int, int) []act { return usual() }},
	"in turn": {steps: 8, ranks: 4, step: func(rank, step int) []act {
		if rank == step%4 {
			return append(usual(act{'h', loader, 3000, "user_annotation"}), act{kind: 's'})
		}
		return append(usual(), act{kind: 's'})
	}},
	"hidden": {steps: 4, ranks: 2, step: func(rank, _ int) []act {
		list := []act{kernel("gemm", 300, "[8,8,1]"), {kind: 'b'}, {'c', "0", 50, ""}}
		if rank == 1 {
			list = slices.Insert(list, 2, act{'h', "aten::work", 2000, "cpu_op"})
			list = slices.Insert(list, 0, kernel("gemm", 4000, "[8,8,1]"))
		} else {
			list = append(list, kernel("gemm", 4000, "[8,8,1]"))
		}
		return append(list, act{kind: 'w'}, act{kind: 'o'})
	}},
}

// Where clocks cannot be compared, and where no rank is late, there is no straggler. One
// whose lateness compute hides on the others has no cause.
func TestNobodyIsLate(t *testing.T) {
	for name, run := range nobodyLate {
		t.Run(name, func(t *testing.T) {
			f := stragglerOf(t, run.inputs(t))
			if name != "hidden" && f != nil {
				t.Errorf("%+v %+v", f, f.Lateness)
			}
			if name == "hidden" && (f == nil || f.Lateness != nil) {
				t.Errorf("%+v", f)
			}
		})
	}
}
