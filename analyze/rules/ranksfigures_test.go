package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
)

// ranksGolden is what each finding about several ranks together says and costs.
var ranksGolden = filepath.Join("testdata", "ranks.golden")

// TestFiguresOfRanks holds what is said of simulated runs of several ranks: of stragglers and why they
// are late, of collectives that do not belong together, of clocks.
func TestFiguresOfRanks(t *testing.T) {
	var b strings.Builder
	say := func(name string, inputs []analyze.Input) {
		fmt.Fprintln(&b, name)
		r := analyze.Run(inputs, analyze.Options{Rules: rules.All()})
		for i := range r.Findings {
			if f := &r.Findings[i]; strings.HasPrefix(f.Rule, "ST") || strings.HasPrefix(f.Rule, "TH") {
				b.WriteString(written(f))
				sayMore(&b, f)
			}
		}
	}
	for _, c := range eachLate {
		say("late: "+c.name, c.run.inputs(t))
	}
	for _, c := range moreLate {
		say("late: "+c.name, c.run.inputs(t))
	}
	say("a chain", chainRun.inputs(t))
	say("passed on", passedOnRun.inputs(t))
	for _, name := range []string{"alike", "clocks apart", "hidden", "in turn"} {
		say(name, nobodyLate[name].inputs(t))
	}
	for _, c := range unlikeRanks {
		zero, one := rankRun(0, c.zero, 700, 20), rankRun(1, c.one, 700, 20)
		for _, edit := range c.edits {
			zero, one = edit(0, zero), edit(1, one)
		}
		a, d := rankFile(t, "rank0.txt", zero), rankFile(t, "rank1.txt", one)
		if c.hosts {
			a.File, d.File = "node1_11.1700000000000.pt.trace.json", "node2_11.1700000000001.pt.trace.json"
		}
		say(c.name, []analyze.Input{a, d})
	}
	got := b.String()
	if *update {
		if err := os.WriteFile(ranksGolden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(ranksGolden)
	if err != nil {
		t.Fatal(err)
	}
	sameReport(t, ranksGolden+" (-update writes it)", got, string(want))
}

// sayMore writes what only findings about several ranks have.
func sayMore(b *strings.Builder, f *report.Finding) {
	var list []string
	for _, e := range f.Evidence {
		list = append(list, fmt.Sprintf("rank %d at %d", e.Rank, e.Start/1000))
	}
	fmt.Fprintf(b, "    fix: %s\n    all evidence: %s\n", f.Fix, strings.Join(list, ", "))
	if f.Lateness == nil {
		return
	}
	for i := range f.Lateness.Chain {
		sayLink(b, &f.Lateness.Chain[i])
	}
	sayLink(b, &f.Lateness.LateRank)
}

func sayLink(b *strings.Builder, l *report.LateRank) {
	fmt.Fprintf(b, "    rank %d in group %q: %s %d of %d, in %d of %d, unexplained %d\n", l.Rank, l.Group, l.Cause,
		l.NS,
		l.Late, l.LateSteps, l.Steps, l.Unexplained)
	for _, p := range l.Parts {
		fmt.Fprintf(b, "      %s %d\n", p.Cause, p.NS)
	}
	if l.WaitsFor != nil {
		fmt.Fprintf(b, "      waits for %d\n", *l.WaitsFor)
	}
	for _, e := range l.Evidence {
		fmt.Fprintf(b, "      %s of rank %d at %d for %d\n", e.Name, e.Rank, e.Start, e.Duration)
	}
}

// tokens makes each step of the ranks note so many tokens.
func tokens(of ...int) func(rank, step int) []act {
	return func(rank, step int) []act {
		list := longer(100, "", 2)(rank, step)
		if of[rank] == 0 {
			return list
		}
		return append([]act{{'h', fmt.Sprintf("gaprof.tokens=%d", of[rank]), 1, "user_annotation"}}, list...)
	}
}

// moreLate are further runs in which rank 1 is late, and what is said is of interest.
var moreLate = []struct {
	name string
	run  lateRun
}{
	{"tokens", lateRun{steps: 4, ranks: 4, step: tokens(100, 200, 110, 120)}},
	{"tokens of others are not known", lateRun{steps: 4, ranks: 4, step: tokens(0, 200, 0, 0)}},
	{"tokens of the late one are not known", lateRun{steps: 4, ranks: 4, step: tokens(100, 0, 110, 120)}},
	{"tokens of one other", lateRun{steps: 4, ranks: 4, step: tokens(0, 200, 110, 0)}},
	{"another kernel", lateRun{steps: 4, ranks: 4, step: func(rank, _ int) []act {
		if rank == 1 {
			return usual(kernel("once", 900, "[4,1,1]"))
		}
		return usual()
	}}},
	{"without shapes", lateRun{steps: 4, ranks: 4, step: func(rank, step int) []act {
		list := longer(150, "", 1)(rank, step)
		for i := range list {
			list[i].more = ""
		}
		return list
	}}},
	{"compilation", lateRun{steps: 4, ranks: 3, step: onRank1(act{'h', `"Torch-Compiled Region"`, 10,
		"user_annotation"},
		act{'h', "cuModuleLoadData", 3000, "cuda_driver"})}},
	{"slower in some steps", lateRun{steps: 8, ranks: 4, step: func(rank, step int) []act {
		if step%2 == 0 {
			return usual()
		}
		return longer(200, "", 1)(rank, step)
	}}},
	{"twice as late as another", lateRun{steps: 5, ranks: 4, step: func(rank, step int) []act {
		switch rank {
		case 1:
			return longer(200, "", 1)(1, step)
		case 2:
			return longer(step%2*30+100, "", 1)(1, step)
		}
		return usual()
	}}},
	{"not twice as late as another", lateRun{steps: 5, ranks: 4, step: func(rank, step int) []act {
		if rank == 1+step%2 {
			return longer(200, "", 1)(1, step)
		}
		return usual()
	}}},
	{"in two groups", lateRun{steps: 4, ranks: 4, groups: map[string][]int{"x": {0, 1}, "y": {1, 2, 3}},
		step: func(rank, _ int) []act {
			list := []act{kernel("gemm", 300, "[8,8,1]"), {kind: 'b'}}
			if rank == 1 {
				list = append([]act{{'h', "cudaMalloc", 2000, "cuda_runtime"}}, list...)
			}
			if rank > 0 {
				list = append(list, act{'c', "y", 60, ""}, act{kind: 'w'})
			}
			list = append(list, kernel("gemm_bwd", 500, "[8,8,1]"))
			if rank < 2 {
				list = append(list, act{'c', "x", 50, ""}, act{kind: 'w'})
			}
			return append(list, act{kind: 'o'})
		}}},
}

// numbered gives the collectives of rankRun sequence numbers.
func numbered(_ int, text string) string {
	for i := 1; strings.Contains(text, "gsize=2\n"); i++ {
		text = strings.Replace(text, "gsize=2\n", fmt.Sprintf("gsize=2 seq=%d\n", i), 1)
	}
	return text
}

// without removes a step's collective of a rank, and its kernel.
func without(of int, steps ...int) func(int, string) string {
	return func(rank int, text string) string {
		if rank != of {
			return text
		}
		for _, step := range steps {
			lines := strings.Split(text, "\n")
			corr := fmt.Sprintf("corr=%d", 2*step+2)
			text = strings.Join(slices.DeleteFunc(lines, func(l string) bool {
				return strings.HasSuffix(l, corr) || strings.HasPrefix(l, fmt.Sprintf("100/2 %dus +9us cpu_op record",
					1000*step+40))
			}), "\n")
		}
		return text
	}
}

// other makes a step's collective of a rank another one.
func other(of, step int, from, to string) func(int, string) string {
	return func(rank int, text string) string {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			if rank == of && strings.HasPrefix(l, fmt.Sprintf("100/2 %dus +9us cpu_op record", 1000*step+40)) {
				lines[i] = strings.Replace(l, from, to, 1)
			}
		}
		return strings.Join(lines, "\n")
	}
}

// later moves the times of a rank by so many ms.
func later(of, ms int) func(int, string) string {
	return func(rank int, text string) string {
		if rank != of {
			return text
		}
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			var track string
			var at int
			if n, _ := fmt.Sscanf(l, "%s %dus", &track, &at); n == 2 {
				lines[i] = strings.Replace(l, fmt.Sprintf("%s %dus", track, at), fmt.Sprintf("%s %dus", track,
					at+1000*ms), 1)
			}
		}
		return strings.Join(lines, "\n")
	}
}

// littleLate is a rank that is late by a microsecond in all steps but the fourth, in which onceLate is late.
var littleLate = []int{201, 201, 201, 200, 201, 201, 201, 201}

func onceLate(us int) []int { return []int{200, 200, 200, us, 200, 200, 200, 200} }

func alike(n, us int) []int { return slices.Repeat([]int{us}, n) }

// unlikeRanks are runs of two ranks whose collectives or clocks do not fit.
var unlikeRanks = []struct {
	name      string
	zero, one []int // moments of the collective in each step, us
	edits     []func(rank int, text string) string
	hosts     bool // the files are of two hosts
}{
	{name: "late once", zero: []int{210, 210, 210, 200, 210, 210, 210, 210},
		one: []int{200, 200, 200, 600, 200, 200, 200, 200}},
	{name: "late in most steps", zero: alike(8, 200), one: []int{260, 260, 260, 260, 260, 200, 260, 260}},
	{name: "late by a hundredth", zero: alike(8, 200), one: alike(8, 210)},
	{name: "late once, by a hundredth of all", zero: littleLate, one: onceLate(275)},
	{name: "late once, by less", zero: littleLate, one: onceLate(274)},
	{name: "twice as late as the other", zero: append(alike(10, 200), 350, 350),
		one: append(alike(10, 260), 200, 200)},
	{name: "not twice as late as the other", zero: append(alike(10, 200), 350, 351),
		one: append(alike(10, 260), 200, 200)},
	{name: "late by less", zero: alike(8, 200), one: alike(8, 200)},
	{name: "numbered", zero: alike(6, 200), one: alike(6, 200), edits: []func(int, string) string{numbered}},
	{name: "one is lacking", zero: alike(6, 200), one: alike(6, 200),
		edits: []func(int, string) string{numbered, without(1, 3)}},
	{name: "three are lacking", zero: alike(9, 200), one: alike(9, 200),
		edits: []func(int, string) string{numbered, without(1, 3, 5, 6)}},
	{name: "the first is lacking", zero: alike(6, 200), one: alike(6, 200),
		edits: []func(int, string) string{numbered, without(0, 0)}},
	{name: "one is lacking, without numbers", zero: alike(6, 200), one: alike(6, 200),
		edits: []func(int, string) string{without(1, 3)}},
	{name: "one of another size", zero: alike(6, 200), one: alike(6, 200),
		edits: []func(int, string) string{numbered, other(1, 3, "in=250000 out=125000", "in=8 out=4")}},
	{name: "one of another type", zero: alike(6, 200), one: alike(6, 200),
		edits: []func(int, string) string{numbered, other(1, 3, "dtype=Float", "dtype=Half")}},
	{name: "one of another size, without numbers", zero: alike(6, 200), one: alike(6, 200),
		edits: []func(int, string) string{other(1, 3, "in=250000 out=125000", "in=8 out=4")}},
	{name: "three of another size", zero: alike(6, 200), one: alike(6, 200), edits: []func(int, string) string{numbered,
		other(1, 1, "in=250000", "in=9"), other(1, 2, "in=250000", "in=9"), other(1, 3, "in=250000", "in=9")}},
	{name: "a clock that is off", zero: alike(6, 200), one: alike(6, 200),
		edits: []func(int, string) string{numbered, later(1, 5)}},
	{name: "a clock that is off, on another host", zero: alike(6, 200), one: alike(6, 240), hosts: true,
		edits: []func(int, string) string{numbered, later(1, 5)}},
	{name: "another host", zero: alike(6, 200), one: alike(6, 240), hosts: true},
	{name: "one collective at an impossible time", zero: alike(8, 200), one: []int{200, 200, 200, 690, 200, 200, 200,
		200},
		edits: []func(int, string) string{numbered, func(rank int, text string) string {
			if rank == 0 {
				return strings.Replace(text, "0/20 3200us +500us", "0/20 3200us +100us", 1)
			}
			return text
		}}},
}
