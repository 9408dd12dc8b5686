package timeline

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

func TestLaunchJoin(t *testing.T) {
	for _, test := range []struct {
		name, source                   string
		linked, duplicates, impossible int
	}{
		{"one launch of many operations is a graph", `
1/1 1 +5 cuda_runtime cudaGraphLaunch corr=1
0/7 10 +1 kernel a corr=1
0/7 20 +1 kernel b corr=1`, 2, 0, 0},
		{"a driver call inside a runtime call is the same launch", `
1/1 1 +5 cuda_runtime cudaLaunchKernel corr=1
1/1 2 +2 cuda_driver cuLaunchKernel corr=1
0/7 10 +1 kernel a corr=1`, 1, 0, 0},
		{"two separate launches with one id", `
1/1 1 +2 cuda_runtime cudaLaunchKernel corr=1
1/1 5 +2 cuda_runtime cudaLaunchKernel corr=1
0/7 10 +1 kernel a corr=1`, 0, 1, 0},
		{"two launches with one id on two threads", `
1/1 1 +9 cuda_runtime cudaLaunchKernel corr=1
1/2 2 +2 cuda_runtime cudaLaunchKernel corr=1
0/7 10 +1 kernel a corr=1`, 0, 1, 0},
		{"the External id decides between them", `
1/1 1 +2 cuda_runtime cudaLaunchKernel corr=1 ext=4
1/1 5 +2 cuda_runtime cudaLaunchKernel corr=1 ext=5
0/7 10 +1 kernel a corr=1 ext=5`, 1, 1, 0},
		{"unless both have it", `
1/1 1 +2 cuda_runtime cudaLaunchKernel corr=1 ext=5
1/1 5 +2 cuda_runtime cudaLaunchKernel corr=1 ext=5
0/7 10 +1 kernel a corr=1 ext=5`, 0, 1, 0},
		{"before its launch", `
1/1 10 +2 cuda_runtime cudaLaunchKernel corr=1
0/7 9 +1 kernel a corr=1`, 1, 0, 1},
		{"without any id", `
1/1 1 +2 cuda_runtime cudaLaunchKernel corr=1
0/7 9 +1 kernel a`, 0, 0, 0},
		{"AMD: hip runtime, stream 0", `
1/1 1 +2 cuda_runtime hipLaunchKernel corr=1
0/0 9 +1 kernel a corr=1`, 1, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := only(t, test.source).Links
			if got := l.Events - l.Unlinked; got != test.linked {
				t.Errorf("%d linked, want %d", got, test.linked)
			}
			if l.Duplicates != test.duplicates || len(l.Impossible) != test.impossible {
				t.Errorf("%d duplicates, %d impossible, want %d and %d",
					l.Duplicates, len(l.Impossible), test.duplicates, test.impossible)
			}
		})
	}
}

// TestOuterCall: of a runtime call and the driver call in it the launch is the outer one.
func TestOuterCall(t *testing.T) {
	r := only(t, `
1/1 1 +5 cuda_runtime cudaLaunchKernel corr=1
1/1 2 +2 cuda_driver cuLaunchKernel corr=1
0/7 10 +1 kernel a corr=1`)
	if name := r.Name(r.Devices[0].Launch[0]); name != "cudaLaunchKernel" {
		t.Errorf("launched by %s", name)
	}
}

// TestUnlinkedAtStart: events launched before the recording began are counted apart from
// those whose launch is lost in its middle.
func TestUnlinkedAtStart(t *testing.T) {
	r := only(t, `
1/1 1 +2 cuda_runtime cudaLaunchKernel corr=1
0/7 5 +1 kernel a corr=90
0/7 6 +1 kernel b corr=91
0/7 10 +1 kernel c corr=1
0/7 20 +1 kernel d corr=92`)
	if l := r.Links; l.Events != 4 || l.Unlinked != 3 || l.UnlinkedAtStart != 2 {
		t.Errorf("%+v", l)
	}
}

// TestLaunchedBy: what a span launched, on its own thread and before it ends.
func TestLaunchedBy(t *testing.T) {
	r := only(t, `
1/1 10 +20 user_annotation span
1/1 11 +2 cuda_runtime cudaLaunchKernel corr=1
1/1 29 +9 cuda_runtime cudaGraphLaunch corr=2
1/1 30 +2 cuda_runtime cudaLaunchKernel corr=3
1/2 12 +2 cuda_runtime cudaLaunchKernel corr=4
0/7 40 +1 kernel b corr=2
0/7 50 +1 kernel c corr=2
0/8 60 +1 kernel a corr=1
0/8 70 +1 kernel later corr=3
0/8 80 +1 kernel elsewhere corr=4`)
	span := slices.IndexFunc(r.Col.Name, func(id trace.StringID) bool { return r.Trace.String(id) == "span" })
	var got []string
	for _, l := range r.LaunchedBy(int32(span)) {
		got = append(got, r.Name(l.Event()))
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("launched %v, want %v", got, want)
	}
}

// TestSortLaunched: by launch call, those of one call by event, whatever the number of rows
// says of the digits.
func TestSortLaunched(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{1, 2, 100, 1 << 11, 1<<11 + 1, 1 << 23, 1<<31 - 1} {
		for _, n := range []int{0, 1, 3, 1000, 2048, 5000} {
			list := make([]Launched, n)
			for i := range list {
				list[i] = Launched(rng.IntN(rows)&^7)<<32 | Launched(rng.IntN(rows))
			}
			want := slices.Sorted(slices.Values(list))
			if got := sortLaunched(list, rows); !slices.Equal(got, want) {
				t.Errorf("%d of %d rows: got %x, want %x", n, rows, got, want)
			}
		}
	}
}

// TestCrowd: any number of calls may share an id, and as many device events ask for it. Their
// External ids decide, as between two of them, in time that grows with their number.
func TestCrowd(t *testing.T) {
	for _, n := range []int{3, leastCrowd - 1, leastCrowd, leastCrowd + 1, 30_000} {
		var b strings.Builder
		for i := range n { // the last two have the same
			fmt.Fprintf(&b, "1/1 %d +2 cuda_runtime cudaLaunchKernel corr=1 ext=%d\n", 5*i, min(i, n-2)+1)
		}
		for i := range n {
			fmt.Fprintf(&b, "0/7 %d +1 kernel k%d corr=1 ext=%d\n", 5*n+2*i, i, i+1)
		}
		b.WriteString("1/1 999999 +9 cuda_runtime cudaLaunchKernel corr=2\n0/8 999999 +1 kernel other corr=2\n")
		r := only(t, b.String())
		for _, d := range r.Devices {
			for i, row := range d.Rows {
				name, want := r.Name(row), "none"
				if id, err := strconv.Atoi(strings.TrimPrefix(name, "k")); err == nil && id < n-2 || name == "other" {
					want = "one"
				}
				got := "none"
				if l := d.Launch[i]; l >= 0 {
					got = "one"
					if r.Col.External[l] != r.Col.External[row] {
						got = "another's"
					}
				}
				if got != want {
					t.Fatalf("of %d, %s has %s, want %s", n, name, got, want)
				}
			}
		}
	}
}
