package timeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A call and an event are lines of a drawn trace.
type (
	call struct {
		thread, start, dur, corr, ext int
		driver, graph                 bool
	}
	event struct{ stream, start, dur, corr, ext, name int }
)

func (c call) end() int { return c.start + c.dur }

// drawLaunches is a trace of a few calls on two threads and a few events on two streams, with so few
// numbers that all clash.
func drawLaunches(rng *rand.Rand) (calls []call, events []event, source string) {
	var b strings.Builder
	device := []string{"0", "9"}[rng.IntN(2)] // "9": the first row of the trace is a call
	for i := range 3 + rng.IntN(8) {
		c := call{rng.IntN(2), 10*i + 1, 1 + rng.IntN(14), rng.IntN(7), rng.IntN(3), rng.IntN(4) == 0, false}
		calls = append(calls, c)
		name := fmt.Sprintf("cuda_runtime cudaLaunchKernel%d", i)
		if c.driver {
			name = fmt.Sprintf("cuda_driver cuLaunchKernel%d", i)
		}
		fmt.Fprintf(&b, "1/%d %d +%d %s corr=%d ext=%d\n", c.thread+1, c.start, c.dur, name, c.corr, c.ext)
	}
	for i := range 2 + rng.IntN(8) {
		e := event{rng.IntN(2), 10*rng.IntN(12) + i, 1 + rng.IntN(3), rng.IntN(8), rng.IntN(3), i}
		events = append(events, e)
		fmt.Fprintf(&b, "%s/%d %d +%d kernel k%d corr=%d ext=%d\n", device, 7+e.stream, e.start, e.dur, i, e.corr,
			e.ext)
	}
	return calls, events, b.String()
}

// launchOf looks through all calls: the outer one of those with the id, or the one with the
// External id where they are apart; -1 without one.
func launchOf(calls []call, e event) int {
	var with []int
	for i, c := range calls {
		if c.corr == e.corr && e.corr != 0 {
			with = append(with, i)
		}
	}
	slices.SortStableFunc(with, func(a, b int) int { return calls[a].thread - calls[b].thread })
	if len(with) == 0 {
		return -1
	}
	if !apart(calls, with) {
		return with[0]
	}
	with = slices.DeleteFunc(with, func(i int) bool { return calls[i].ext != e.ext || e.ext == 0 })
	if len(with) == 1 {
		return with[0]
	}
	return -1
}

// apart reports whether some of the calls begin outside the first one.
func apart(calls []call, with []int) bool {
	for _, i := range with {
		if calls[i].thread != calls[with[0]].thread || calls[i].start >= calls[with[0]].end() {
			return true
		}
	}
	return false
}

// TestJoinsAgainstSearch: every event of drawn traces has the launch that a plain search finds,
// and what is counted of them is what one counts by hand.
func TestJoinsAgainstSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		calls, events, source := drawLaunches(rng)
		r := only(t, source)
		if t.Failed() {
			t.Fatal(source)
		}
		checkLaunches(t, r, calls, events)
		checkCounts(t, r, calls, events)
		if t.Failed() {
			t.Fatal(source)
		}
	}
}

func checkLaunches(t *testing.T, r *Rank, calls []call, events []event) {
	t.Helper()
	for _, d := range r.Devices {
		for i, row := range d.Rows {
			var n int
			fmt.Sscanf(r.Name(row), "k%d", &n)
			want, got := launchOf(calls, events[n]), "none"
			if l := d.Launch[i]; l >= 0 {
				got = r.Name(l)
			}
			if want < 0 && got != "none" || want >= 0 && !strings.HasSuffix(got, fmt.Sprint("LaunchKernel", want)) {
				t.Errorf("k%d is launched by %s, want call %d", n, got, want)
			}
		}
	}
}

func checkCounts(t *testing.T, r *Rank, calls []call, events []event) {
	t.Helper()
	var want Links
	least, pairs, byCall := 0, 0, map[int]int{}
	for _, e := range events {
		want.Events++
		l := launchOf(calls, e)
		if l < 0 {
			want.Unlinked++
			first := true
			for _, other := range events {
				first = first && (launchOf(calls, other) < 0 || other.start >= e.start)
			}
			want.UnlinkedAtStart += oneIf(first && slices.ContainsFunc(events,
				func(o event) bool { return launchOf(calls, o) >= 0 }))
			continue
		}
		if delay := e.start - calls[l].start; pairs == 0 || delay < least {
			least = delay
		}
		pairs++
		byCall[l]++
	}
	for corr := 1; corr < 7; corr++ {
		var with []int
		for thread := range 2 {
			for i, c := range calls {
				if c.corr == corr && c.thread == thread {
					with = append(with, i)
				}
			}
		}
		want.Duplicates += oneIf(len(with) > 0 && apart(calls, with))
	}
	got := r.Links
	if got.Events != want.Events || got.Unlinked != want.Unlinked || got.UnlinkedAtStart != want.UnlinkedAtStart ||
		got.Duplicates != want.Duplicates {
		t.Errorf("%+v, want %+v", got, want)
	}
	if ns, n := r.LeastDelay(); ns != int64(least) || n != pairs {
		t.Errorf("least delay %d of %d, want %d of %d", ns, n, least, pairs)
	}
	checkLost(t, r, calls, events)
	for i := range calls {
		for _, id := range r.Host {
			track := r.Trace.Tracks()[id]
			for row := int32(track.First); row < int32(track.First+track.N); row++ {
				if strings.HasSuffix(r.Name(row), fmt.Sprint("LaunchKernel", i)) && len(r.LaunchedBy(row)) < byCall[i] {
					t.Errorf("call %d launches %d events, want %d", i, len(r.LaunchedBy(row)), byCall[i])
				}
			}
		}
	}
}

// checkLost counts the calls of whose ids neither an event nor another call that has one is there: each
// id once.
func checkLost(t *testing.T, r *Rank, calls []call, events []event) {
	t.Helper()
	there, used, unused, kernels := map[int]bool{}, map[int]bool{}, map[int]bool{}, 0
	for _, e := range events {
		there[e.corr] = true
		used[launchOf(calls, e)] = true
	}
	for i, c := range calls {
		if c.corr == 0 {
			continue
		}
		if used[i] {
			kernels++
		} else if !there[c.corr] {
			unused[c.corr] = true
		}
	}
	want := Launches{kernels + len(unused), len(unused)}
	if got := r.LaunchesIn(func(int64) bool { return true }); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestRepeated: the same event twice is one that is repeated; one thing that differs makes it another.
func TestRepeated(t *testing.T) {
	const launch = "1/1 0 +1 cuda_runtime cudaLaunchKernel corr=1\n1/1 2 +1 cuda_runtime cudaLaunchKernel corr=2\n"
	for _, test := range []struct {
		events string
		want   int
	}{
		{"0/7 5 +3 kernel k corr=1\n0/7 5 +3 kernel k corr=1", 1},
		{"0/7 5 +3 kernel k corr=1\n0/7 5 +3 kernel k corr=1\n0/7 5 +3 kernel k corr=1", 2},
		{"0/7 5 +3 kernel k corr=1\n0/7 5 +3 kernel other corr=1\n0/7 5 +3 kernel k corr=1", 1},
		{"0/7 5 +3 kernel k corr=1\n0/7 5 +3 kernel k corr=2", 0},
		{"0/7 5 +3 kernel k corr=1\n0/8 5 +3 kernel k corr=1", 0},
		{"0/7 5 +3 kernel k corr=1\n0/7 5 +3 kernel other corr=1", 0},
		{"0/7 5 +3 kernel k corr=1\n0/7 5 +4 kernel k corr=1", 0},
		{"0/7 5 +3 kernel k corr=1\n0/7 6 +3 kernel k corr=1", 0},
		{"0/7 5 +0 kernel k corr=1\n0/7 5 +0 kernel k corr=1", 0},
		{"0/7 5 +3 kernel k\n0/7 5 +3 kernel k", 0},
		{"0/7 5 +1 kernel k corr=1\n0/7 5 +1 kernel k corr=1\n0/7 9 +1 kernel k corr=2\n0/7 9 +1 kernel k corr=2", 2},
	} {
		if got := only(t, launch+test.events).Repeated(); got != test.want {
			t.Errorf("%s:\n%d, want %d", test.events, got, test.want)
		}
	}
}

// TestLost: launches without a kernel, but for those that a graph captures and those that
// launch no kernel.
func TestLost(t *testing.T) {
	for _, test := range []struct {
		name, source string
		want         Launches
	}{
		{"none", "1/1 0 +1 cuda_runtime cudaLaunchKernel corr=1\n0/7 5 +3 kernel k corr=1", Launches{1, 0}},
		{"one of two",
			"1/1 0 +1 cuda_runtime cudaLaunchKernel corr=1\n1/1 2 +1 cuda_runtime cudaLaunchKernel corr=2\n" +
				"0/7 5 +3 kernel k corr=1", Launches{2, 1}},
		{"the first of two",
			"1/1 0 +1 cuda_runtime cudaLaunchKernel corr=1\n1/1 2 +1 cuda_runtime cudaLaunchKernel corr=2\n" +
				"0/7 5 +3 kernel k corr=2", Launches{2, 1}},
		{"no device at all", "1/1 0 +1 cuda_runtime cudaLaunchKernel corr=1", Launches{}},
		{"on two threads",
			"1/2 0 +1 cuda_runtime cudaLaunchKernel corr=1\n1/1 2 +1 cuda_runtime cudaLaunchKernel corr=2\n" +
				"1/2 4 +1 cuda_runtime cudaLaunchKernel corr=3\n0/7 5 +3 kernel k corr=1\n0/7 9 +3 kernel k corr=2",
			Launches{3, 1}},
		{"copies", "1/1 0 +1 cuda_runtime cudaMemcpyAsync corr=1\n1/1 2 +1 cuda_runtime cudaLaunchKernel corr=2\n" +
			"0/7 5 +3 kernel k corr=2", Launches{1, 0}},
		{"a driver call within",
			"1/1 0 +5 cuda_runtime cudaLaunchKernel corr=1\n1/1 1 +2 cuda_driver cuLaunchKernel corr=1\n" +
				"0/7 5 +3 kernel k corr=1", Launches{1, 0}},
		{"captured",
			"1/1 0 +1 cuda_runtime cudaLaunchKernel corr=1\n1/1 2 +5 cuda_runtime cudaGraphInstantiate corr=9\n" +
				"1/1 8 +1 cuda_runtime cudaLaunchKernel corr=2\n0/7 9 +3 kernel k corr=2", Launches{1, 0}},
		{"while one is made",
			"1/1 3 +1 cuda_runtime cudaLaunchKernel corr=1\n1/1 2 +5 cuda_runtime cudaGraphInstantiate corr=9\n" +
				"1/1 7 +1 cuda_runtime cudaLaunchKernel corr=2\n0/7 9 +3 kernel k corr=3", Launches{1, 1}},
		{"later than asked for",
			"1/1 0 +1 cuda_runtime cudaLaunchKernel corr=1\n1/1 90 +1 cuda_runtime cudaLaunchKernel corr=2\n" +
				"0/7 95 +3 kernel k corr=1", Launches{1, 0}},
	} {
		got := only(t, test.source).LaunchesIn(func(at int64) bool { return at < 90 })
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}
