package analyze

import (
	"fmt"
	"strings"
	"testing"
)

// beating is a rank of four with an all-reduce of all of them in each of n steps, which ends so
// many us after the step begins; the recording begins at so many ms.
func beating(rank, n, startMS int, jitter func(step int) int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "recording base=%s\ndistributed backend=nccl rank=%d world_size=4\n", unix2025, rank)
	for step := range n {
		at := startMS*1000 + step*50_000
		fmt.Fprintf(&b, "1/1 %dus +9us cpu_op record_param_comms coll=allreduce in=64 out=64 dtype=Float group=0 "+
			"gsize=4 ext=%d\n", at, step)
		fmt.Fprintf(&b, "1/1 %dus +4us cuda_runtime cudaLaunchKernel corr=%d ext=%d\n", at+2, step, step)
		fmt.Fprintf(&b, "0/7 %dus +%dus kernel ncclDevKernel_AllReduce() corr=%d\n", at+10, 200+jitter(step), step)
		fmt.Fprintf(&b, "1/1 %dus +100us user_annotation Optimizer.step#AdamW.step\n", at+40_000)
	}
	return b.String()
}

// Ranks of two runs of one program, whose collectives are none of each other's, are two runs,
// whereas clocks that differ, however much, move all collectives alike.
func TestRanksOfTwoRuns(t *testing.T) {
	ours := func(step int) int { return step * 7919 % 30_000 }
	theirs := func(step int) int { return step * 104_729 % 30_000 }
	for _, test := range []struct {
		what          string
		steps, others int
		startMS       int
		jitter        func(int) int
		want          string
	}{
		{"one run", 12, 12, 0, ours, "a b c d"},
		{"clocks that differ by 20 s", 12, 12, 20_000, ours, "a b c d"},
		{"two runs, one after the other", 12, 12, 20_000, theirs, "a b | c d"},
		{"two runs at once, on which time says nothing", 12, 12, 100, theirs, "a b c d"},
		{"too few collectives to tell", 6, 6, 20_000, theirs, "a b c d"},
		{"another part of the run", 12, 11, 20_000, theirs, "a b c d"},
	} {
		a := New(Options{})
		for i, name := range []string{"a", "b", "c", "d"} {
			source := beating(i, test.steps, 0, ours)
			if i > 1 {
				source = beating(i, test.others, test.startMS, test.jitter)
			}
			a.Add(i, Input{File: name, Trace: read(t, source)})
		}
		var runs []string
		for _, r := range a.Runs() {
			runs = append(runs, strings.Join(r.Files, " "))
		}
		if got := strings.Join(runs, " | "); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}

// A copy of a recording is one of its own, and says of what.
func TestCopies(t *testing.T) {
	same := func(int) int { return 0 }
	source := func(rank, ms int) string { return beating(rank, 3, ms, same) }
	longer := beating(0, 3, 0, func(step int) int { return step })
	computing := strings.ReplaceAll(source(0, 0), "ncclDevKernel_AllReduce()", "gemm")
	for _, test := range []struct {
		what  string
		files []string
		want  string // what each run repeats
	}{
		{"one run", []string{source(0, 0), source(1, 0)}, "[]"},
		{"a copy of one rank", []string{source(0, 0), source(1, 0), source(1, 0)}, "[ f1]"},
		{"a copy of all", []string{source(0, 0), source(1, 0), source(0, 0), source(1, 0)}, "[ f0]"},
		{"two copies", []string{source(0, 0), source(0, 0), source(0, 0)}, "[ f0 f0]"},
		{"the same rank at another time", []string{source(0, 0), source(0, 900)}, "[ ]"},
		{"as many events, of other lengths", []string{source(0, 0), longer}, "[ ]"},
		{"as many events, of other kinds", []string{source(0, 0), computing}, "[ ]"},
		{"a copy beside another recording", []string{source(0, 0), source(1, 900), source(0, 0)}, "[ f0]"},
	} {
		a := New(Options{})
		for i, text := range test.files {
			a.Add(i, Input{File: fmt.Sprintf("f%d", i), Trace: read(t, text)})
		}
		of := []string{}
		for _, r := range a.Runs() {
			of = append(of, r.CopyOf)
		}
		if got := fmt.Sprint(of); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}
