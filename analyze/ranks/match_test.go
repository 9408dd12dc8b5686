package ranks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/text"
)

// call is one collective of a made-up rank; times in us.
type call struct {
	kind       string // a key of collectiveNames
	group      string
	members    []int
	elems      int
	seq        int // -1: not written
	unlinked   bool
	stream     int
	start, end int
}

// collectiveNames are the names that PyTorch records, by those in the kernels.
var collectiveNames = map[string]string{
	"ReduceScatter": "_reduce_scatter_base",
	"AllGather":     "_allgather_base",
	"AllReduce":     "allreduce",
	"SendRecv":      "send",
	"AllToAll":      "all_to_allv",
}

// rankTrace writes the trace of a rank that does these calls and nothing else.
func rankTrace(t testing.TB, rank, world int, calls []call) *trace.Trace {
	t.Helper()
	return rankTraceWith(t, rank, world, calls, nil)
}

// rankTraceWith is rankTrace with more arguments for the record of each call and the name
// of what launches it, where more is not nil.
func rankTraceWith(
	t testing.TB, rank, world int, calls []call, more func(i int) (args, launch string),
) *trace.Trace {
	t.Helper()
	args, launch := "", "launch"
	var b strings.Builder
	fmt.Fprintf(&b, "distributed backend=nccl rank=%d world_size=%d\n", rank, world)
	b.WriteString("1/1 0us +1us cpu_op aten::mm\n")
	for i, c := range calls {
		corr, kernel := i+1, c.kind
		if kernel == "AllToAll" {
			kernel = "SendRecv"
		}
		if more != nil {
			args, launch = more(i)
		}
		if !c.unlinked {
			members := strings.ReplaceAll(fmt.Sprint(c.members), " ", ", ")
			fmt.Fprintf(&b, "1/1 %dus +1us cpu_op record_param_comms coll=%s", c.start-5, collectiveNames[c.kind])
			fmt.Fprintf(&b, " in=%d out=%d dtype=Float group=%q gsize=%d granks=%q",
				c.elems, c.elems, c.group, len(c.members), members)
			if c.seq >= 0 {
				fmt.Fprintf(&b, " seq=%d", c.seq)
			}
			fmt.Fprintf(&b, "%s\n1/1 %dus +0us cuda_runtime %s corr=%d\n", args, c.start-5, launch, corr)
		}
		fmt.Fprintf(&b, "0/%d %dus +%dus kernel ncclDevKernel_%s corr=%d\n",
			c.stream, c.start, c.end-c.start, kernel, corr)
	}
	tr, err := text.Read(strings.NewReader(b.String()), "made up")
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// run makes sources of what each rank calls.
func run(t testing.TB, ranks ...[]call) []Source {
	t.Helper()
	var traces []*trace.Trace
	for rank, calls := range ranks {
		traces = append(traces, rankTrace(t, rank, len(ranks), calls))
	}
	return sourcesOf(t, traces...)
}

// moved returns calls that start later or earlier by some us and end as before.
func moved(calls []call, us int) []call {
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].start += us
	}
	return calls
}

// without leaves calls out.
func without(calls []call, from, to int) []call { return slices.Delete(slices.Clone(calls), from, to) }

// insert adds a call between two others, 500 us after the first.
func insert(calls []call, at int) []call {
	extra := calls[at-1]
	extra.start, extra.end = extra.start+500, extra.end+500
	return slices.Insert(slices.Clone(calls), at, extra)
}

// later moves calls as a whole.
func later(calls []call, us int) []call {
	return edit(calls, func(_ int, c *call) { c.start, c.end = c.start+us, c.end+us })
}

// edit changes every call.
func edit(calls []call, f func(int, *call)) []call {
	calls = slices.Clone(calls)
	for i := range calls {
		f(i, &calls[i])
	}
	return calls
}

// reductions are n equal all-reduces of 100 us, a millisecond apart, in one group.
func reductions(n int, group string, stream, elems int, members ...int) []call {
	var list []call
	for i := range n {
		at := 1000 + 1000*i
		list = append(list, call{"AllReduce", group, members, elems, -1, false, stream, at, at + 100})
	}
	return list
}

// summary is what the tests below compare: groups, then waits and caused waits in us.
func summary(r *Result) string {
	var parts []string
	for _, g := range r.Groups {
		text := fmt.Sprintf("%s%v %s %d", g.Name, g.Ranks, g.Status, len(g.Collectives))
		if g.NoFigures != "" {
			text += " no figures"
		}
		if len(g.Gaps) > 0 {
			text += fmt.Sprintf(" gaps %v", g.Gaps)
		}
		parts = append(parts, text)
	}
	waits := ""
	for _, f := range r.Figures {
		waits += fmt.Sprintf(" %d/%d", f.Wait/1000, f.Caused/1000)
	}
	return fmt.Sprintf("%s; %d:%s", strings.Join(parts, ", "), r.Straggler, waits)
}

func TestMatch(t *testing.T) {
	equal := reductions(10, "0", 9, 64, 0, 1)
	long := reductions(20, "0", 9, 64, 0, 1)
	three := reductions(10, "0", 9, 64, 0, 1, 2)
	numbers := func(first int) func(int, *call) { return func(i int, c *call) { c.seq = first + i } }
	tensor := func(a, b int) []call { return reductions(6, fmt.Sprint("tp", a), 5, 32, a, b) }
	data := func(a, b int) []call { return later(reductions(6, fmt.Sprint("dp", a), 9, 64, a, b), 300) }
	groupA, groupB := reductions(5, "a", 9, 64, 0, 1), reductions(5, "b", 11, 64, 0, 1)
	oneStream := edit(append(reductions(4, "a", 9, 64, 0, 1), later(reductions(4, "b", 9, 64, 0, 1), 4000)...),
		func(i int, c *call) { c.unlinked = i == 0 })
	for _, c := range []struct {
		name  string
		ranks [][]call
		want  string
	}{
		{"no collectives at all", [][]call{nil, nil}, "; -1: 0/0 0/0"},
		{"one rank", [][]call{equal}, "0[0] one_rank 0; -1: 0/0"},
		{"a rank without collectives", [][]call{three, moved(three, 10), nil}, "0[0 1] matched 10; 1: 100/0 0/100 0/0"},
		{"all at once", [][]call{equal, equal}, "0[0 1] matched 10; -1: 0/0 0/0"},
		{"one is late", [][]call{equal, moved(equal, 20)}, "0[0 1] matched 10; 1: 200/0 0/200"},
		{"the last is later than the next by half", [][]call{
			three,
			moved(three, 20),
			moved(three, 10),
		}, "0[0 1 2] matched 10; 1: 200/0 0/200 100/0"},
		{"equal ones, the end missing", [][]call{
			equal,
			moved(without(equal, 9, 10), 20),
		}, "0[0 1] matched 9; 1: 180/0 0/180"},
		{"equal ones, the start missing", [][]call{
			equal,
			moved(without(equal, 0, 3), 20),
		}, "0[0 1] matched 7; 1: 140/0 0/140"},
		// No signature differs: only the clock says that three of the pairs would be wrong.
		{"equal ones, one missing", [][]call{
			equal,
			moved(without(equal, 3, 4), 20),
		}, "0[0 1] matched 9 gaps [{1 false 0 3}]; 1: 180/0 0/180"},
		{"one missing on the reference", [][]call{
			without(append(slices.Clone(three), reductions(11, "0", 9, 64, 0, 1, 2)[10]), 3, 4),
			three,
			three,
		}, "0[0 1 2] matched 9 gaps [{0 false 1 3}]; -1: 0/0 0/0 0/0"},
		{"two equal ones too near", [][]call{
			edit(equal, func(i int, c *call) { c.start, c.end = 1000+50*i, 1040+50*i }),
			edit(equal, func(i int, c *call) { c.start, c.end = 1010+50*i, 1050+50*i })},
			"0[0 1] unmatched 0; -1: 0/0 0/0"},
		{"numbers tell them apart", [][]call{
			edit(equal, func(i int, c *call) { c.start, c.end, c.seq = 1000+50*i, 1040+50*i, i }),
			edit(without(equal, 0, 1), func(i int, c *call) { c.start, c.end, c.seq = 1060+50*i, 1100+50*i, i+1 })},
			"0[0 1] matched 9; 1: 90/0 0/90"},
		{"numbers, the first without a message", [][]call{
			edit(equal, func(i int, c *call) { c.seq, c.unlinked = i+7, i < 3 }),
			moved(edit(equal, numbers(7)), 20)}, "0[0 1] matched 10; 1: 200/0 0/200"},
		{"numbers of what differs", [][]call{
			edit(equal, numbers(7)),
			edit(equal, func(i int, c *call) { c.seq, c.elems = i+7, 128 }),
		}, "0[0 1] unmatched 0; -1: 0/0 0/0"},
		{"numbers of another time", [][]call{
			edit(equal, numbers(7)),
			edit(equal, numbers(70)),
		}, "0[0 1] unmatched 0; -1: 0/0 0/0"},
		{"numbers, one missing", [][]call{
			edit(three, numbers(0)),
			without(edit(three, numbers(0)), 4, 5),
			moved(edit(three, numbers(0)), 5),
		}, "0[0 1 2] matched 9 gaps [{1 false 0 4}]; 2: 45/0 45/0 0/90"},
		{"numbers and a clock a second off", [][]call{
			edit(equal, numbers(0)),
			edit(equal, func(i int, c *call) { c.start, c.end, c.seq = c.start+1e6, c.end+1e6, i }),
		}, "0[0 1] matched 10 no figures; -1: 0/0 0/0"},
		{"no message on either side", [][]call{
			edit(equal, func(_ int, c *call) { c.unlinked = true }),
			moved(edit(equal, func(_ int, c *call) { c.unlinked = true }), 20),
		}, "[0 1] matched 10; 1: 200/0 0/200"},
		{"no message on one side", [][]call{
			equal,
			moved(edit(equal, func(_ int, c *call) { c.unlinked = true }), 20),
		}, "0[0 1] matched 10; 1: 200/0 0/200"},
		{"sizes differ", [][]call{
			equal,
			edit(equal, func(_ int, c *call) { c.elems = 1 }),
		}, "0[0 1] unmatched 0; -1: 0/0 0/0"},
		{"send and receive are not matched", [][]call{
			append(reductions(4, "0", 9, 64, 0, 1), call{"SendRecv", "0", []int{0, 1}, 8, -1, false, 11, 1500, 1520}),
			equal[:4],
		}, "0[0 1] matched 4; -1: 0/0 0/0"},
		{"all-to-all has a message here and none there", [][]call{
			edit(equal, func(i int, c *call) { c.kind, c.elems = "AllToAll", i }),
			edit(equal, func(i int, c *call) { c.kind, c.unlinked = "AllToAll", true }),
		}, "0[0 1] matched 10; -1: 0/0 0/0"},
		{"two by two", [][]call{
			append(tensor(0, 1), data(0, 2)...), append(moved(tensor(0, 1), 10), data(1, 3)...),
			append(tensor(2, 3), moved(data(0, 2), 20)...), append(tensor(2, 3), data(1, 3)...)},
			"dp0[0 2] matched 6, dp1[1 3] matched 6, tp0[0 1] matched 6, tp2[2 3] matched 6; 2: 180/0 0/60 0/120 0/0"},
		{"one name for the groups of different ranks", [][]call{
			reductions(5, "g", 9, 64, 0, 1),
			moved(reductions(5, "g", 9, 64, 0, 1), 10),
			reductions(7, "g", 9, 32, 2, 3),
			moved(reductions(7, "g", 9, 32, 2, 3), 20),
		}, "g[0 1] matched 5, g[2 3] matched 7; 3: 50/0 0/50 140/0 0/140"},
		{"two groups in another order on each rank", [][]call{
			slices.Concat(groupA, moved(groupB, -50)),
			slices.Concat(groupA, moved(groupB, 50)),
		}, "a[0 1] matched 5, b[0 1] matched 5; 1: 500/0 0/500"},
		{"the clock is off by 5 ms", [][]call{
			edit(long, func(i int, c *call) { c.elems = 64 + i }),
			edit(long, func(i int, c *call) { c.elems, c.start, c.end = 64+i, c.start+5000, c.end+5000 }),
		}, "0[0 1] matched 20 no figures; -1: 0/0 0/0"},
		// The clock could as well be off by half of what was recorded.
		{"the clock is off by 5 of 10 ms", [][]call{
			edit(equal, func(i int, c *call) { c.elems = 64 + i }),
			edit(equal, func(i int, c *call) { c.elems, c.start, c.end = 64+i, c.start+5000, c.end+5000 }),
		}, "0[0 1] unmatched 0; -1: 0/0 0/0"},
		{"one more than the others have", [][]call{three, three, insert(three, 5)},
			"0[0 1 2] matched 10 gaps [{2 true 2 5}]; -1: 0/0 0/0 0/0"},
		// One stream with two groups does not say whose the collectives without a message are.
		{"two groups on one stream", [][]call{
			oneStream,
			oneStream,
		}, "[0 1] matched 1, a[0 1] matched 3, b[0 1] matched 4; -1: 0/0 0/0"},
		{"more ranks than the group has", [][]call{
			reductions(4, "g", 9, 64, 0, 1),
			reductions(4, "g", 9, 64, 0, 1),
			reductions(4, "g", 9, 64, 0, 1),
		}, "g[0 1 2] unmatched 0; -1: 0/0 0/0 0/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Match(run(t, c.ranks...), Options{})
			if got := summary(r); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
				for _, g := range r.Groups {
					t.Log(g.Name, g.Reason, g.NoFigures)
				}
			}
		})
	}
}

// Ranks that share a process cannot be told apart, so neither can their collectives.
func TestMixedProcess(t *testing.T) {
	sources := run(t, reductions(5, "0", 9, 64, 0, 1), reductions(5, "0", 9, 64, 0, 1))
	sources[1].Rank.Senders = []int64{1, 2}
	if got := summary(Match(sources, Options{})); got != "0[0 1] unmatched 0; -1: 0/0 0/0" {
		t.Error(got)
	}
}

// A clock that drifts by more than collectives last is said to, aligned or not.
func TestDrift(t *testing.T) {
	calls := edit(reductions(40, "0", 9, 64, 0, 1), func(i int, c *call) { c.seq = i })
	drifting := edit(calls, func(i int, c *call) { c.start, c.end = c.start+6*i-120, c.end+6*i-120 })
	for _, ask := range []bool{false, true} {
		r := Match(run(t, calls, drifting), Options{AlignClocks: ask})
		if g := r.Groups[0]; g.Status != Matched || strings.Contains(g.NoFigures, "drifts") || r.Figures[0].Known {
			t.Errorf("%+v", g)
		}
		faster := edit(drifting, func(i int, c *call) { c.start, c.end = c.start+6*i, c.end+6*i })
		r = Match(run(t, calls, faster), Options{AlignClocks: ask})
		if !strings.Contains(r.Groups[0].NoFigures, "drifts by") {
			t.Error(r.Groups[0].NoFigures)
		}
	}
}

// A message that the link could not carry in the time of the transfer has no figure.
func TestBeyondTheLink(t *testing.T) {
	calls := reductions(10, "0", 9, 25_000_000, 0, 1) // 100 MB in 100 us: half of it to be sent, 500 GB/s
	for link, want := range map[int64]string{
		400e9: "0[0 1] matched 10 no figures; -1: 0/0 0/0",
		600e9: "0[0 1] matched 10; 1: 100/0 0/100",
		0:     "0[0 1] matched 10; 1: 100/0 0/100",
	} {
		r := Match(run(t, calls, moved(calls, 10)), Options{Link: func(Source) int64 { return link }})
		if got := summary(r); got != want {
			t.Errorf("link %d: %s, want %s", link, got, want)
		}
	}
}

// Of ranks with unlike links the slowest carries the message; one that is unknown leaves all unknown.
func TestSlowestLink(t *testing.T) {
	calls := reductions(10, "0", 9, 25_000_000, 0, 1) // as above
	for _, c := range []struct {
		links [2]int64
		known bool
	}{
		{[2]int64{400e9, 600e9}, false}, {[2]int64{600e9, 400e9}, false}, {[2]int64{600e9, 700e9}, true},
		{[2]int64{0, 400e9}, true}, {[2]int64{400e9, 0}, true},
	} {
		link := func(s Source) int64 { return c.links[s.ID] }
		r := Match(run(t, calls, moved(calls, 10)), Options{Link: link})
		if g := r.Groups[0]; (g.NoFigures == "") != c.known {
			t.Errorf("links of %v: %q", c.links, g.NoFigures)
		}
	}
}

// The clock that is ahead is ahead, the one that gains drifts upwards, and what is late is late on the rank's own.
func TestSignsOfClocks(t *testing.T) {
	calls := edit(reductions(40, "0", 9, 64, 0, 1, 2), func(i int, c *call) { c.seq = i })
	ahead := edit(calls, func(i int, c *call) { c.start, c.end = c.start+300, c.end+300 })
	gains := edit(calls, func(i int, c *call) { c.start, c.end = c.start+2*i, c.end+2*i })
	r := Match(run(t, calls, ahead, moved(calls, 30)), Options{AlignClocks: true})
	g := r.Groups[0]
	if fmt.Sprint(g.Residual, g.Drift) != "[0 300000 0] [0 0 0]" || g.NoFigures != "" {
		t.Errorf("%v %v %s", g.Residual, g.Drift, g.NoFigures)
	}
	for k, want := range [3]int64{1000, 1300, 1000} {
		from, to := g.Late(run(t, calls, ahead, moved(calls, 30)), &g.Collectives[0], k)
		if from != want*1000 || to != from+30_000 {
			t.Errorf("on rank %d: from %d to %d", k, from, to)
		}
	}
	r = Match(run(t, calls, calls, gains), Options{AlignClocks: true})
	if g := r.Groups[0]; fmt.Sprint(g.Drift) != "[0 0 40000]" {
		t.Errorf("drifts by %v", g.Drift)
	}
}

// Members that PyTorch shortened agree with those of pg_config.
func TestShortenedMembers(t *testing.T) {
	s := &sorter{keys: map[groupKey]bool{
		{"0", 40, "[0 1 2 3]"}:      true,
		{"0", 40, "[4 5 6 7]"}:      true,
		{"0", 40, "[0, 1, ..., 3]"}: true,
	}}
	s.findWholes()
	for members, want := range map[string]string{
		"[0, 1, ..., 3]":   "[0 1 2 3]",
		"[4, 5, ..., 7]":   "[4 5 6 7]",
		"":                 "",
		"[9, 10, ..., 12]": "[9, 10, ..., 12]",
	} {
		if got := s.whole(groupKey{"0", 40, members}).members; got != want {
			t.Errorf("%q is %q, want %q", members, got, want)
		}
	}
}

func TestSteps(t *testing.T) {
	step := func(names ...string) string {
		text := ""
		for i, name := range names {
			text += fmt.Sprintf("1/1 %dus +1us cpu_op torch::autograd::AccumulateGrad dims=[[2]]\n", 10*i+1)
			text += fmt.Sprintf("1/1 %dus +5us user_annotation Optimizer.step#%s.step\n", 10*i+3, name)
		}
		return text
	}
	for _, c := range []struct {
		a, b string
		want string
	}{
		{step("A", "B"), step("A", "B"), "true 2 "},
		{step("A", "B", "A"), step("B", "A"),
			"false 2 rank 1 has 2 steps, rank 0 has 3; the last 2 are of the same optimizers on all ranks"},
		{step("A", "B"), step("B", "A"), "false 0 counted from the end, step 1 runs B on rank 0 and A on rank 1"},
		{"1/1 0us +1us cpu_op aten::mm\n", "1/1 0us +1us cpu_op aten::mm\n", "true 0 "},
	} {
		var traces []*trace.Trace
		for rank, source := range []string{c.a, c.b} {
			source = fmt.Sprintf("distributed backend=nccl rank=%d world_size=2\n%s", rank, source)
			tr, err := text.Read(strings.NewReader(source), "steps")
			if err != nil {
				t.Fatal(err)
			}
			traces = append(traces, tr)
		}
		s := compareSteps(sourcesOf(t, traces...))
		if got := fmt.Sprint(s.Same, s.Common, " ", s.Differ); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
