package timeline

import (
	"fmt"
	"strings"
	"testing"
)

// graphRun is calls and replays, in us: each call at a time, each replay of a graph at another,
// with three parts that have ids of their own.
type graphRun struct {
	calls   []int
	replays [][2]int // graph, start
}

func (g graphRun) source() string {
	var b strings.Builder
	b.WriteString("1/1 0us +1us cuda_runtime cudaLaunchKernel corr=1\n0/7 2us +1us kernel eager corr=1\n")
	for i, at := range g.calls {
		fmt.Fprintf(&b, "1/1 %dus +2us cuda_runtime cudaGraphLaunch corr=%d\n", at, 100+i)
		fmt.Fprintf(&b, "1/1 %dus +1us cuda_driver cuGraphLaunch corr=%d\n", at, 300+i)
	}
	for i, r := range g.replays {
		for node := range 3 {
			fmt.Fprintf(&b, "0/%d %dus +5us kernel part corr=%d graph=%d node=%d\n",
				7+node, r[1]+10*node, 1000+10*i+node, r[0], node+1)
		}
	}
	return b.String()
}

// launchTimes is when each kernel was launched, in us and in order of start, - where that is
// not known.
func launchTimes(r *Rank) string {
	var list []string
	d := r.Devices[0]
	for i := range d.Rows {
		text := "-"
		if l := d.Launch[i]; l >= 0 {
			text = fmt.Sprint(r.Col.Start[l] / 1000)
		}
		list = append(list, text)
	}
	return strings.Join(list, " ")
}

// TestReplaysWithIDsOfTheirOwn: parts that share no id with a call go with it where
// everything fits, and with none where anything does not.
func TestReplaysWithIDsOfTheirOwn(t *testing.T) {
	for _, c := range []struct {
		name string
		run  graphRun
		edit []string
		want string
	}{
		{"one a call", graphRun{[]int{10, 110}, [][2]int{{3, 20}, {3, 120}}}, nil, "0 10 10 10 110 110 110"},
		{"far behind the host", graphRun{[]int{10, 14}, [][2]int{{3, 20}, {3, 120}}}, nil, "0 10 10 10 14 14 14"},
		{"two graphs in turn", graphRun{[]int{10, 60, 110, 160}, [][2]int{{3, 20}, {4, 70}, {3, 120}, {4, 170}}}, nil,
			"0 10 10 10 60 60 60 110 110 110 160 160 160"},
		{"one launched before the recording", graphRun{[]int{110}, [][2]int{{3, 20}, {3, 120}}}, nil,
			"0 - - - 110 110 110"},
		{"one that ran after it", graphRun{[]int{10, 110, 190}, [][2]int{{3, 20}, {3, 120}}}, nil,
			"0 10 10 10 110 110 110"},
		{"two graphs, a call too few", graphRun{[]int{60, 110}, [][2]int{{3, 20}, {4, 70}, {3, 120}}}, nil,
			"0 - - - - - - - - -"},
		{"before its call", graphRun{[]int{10, 125}, [][2]int{{3, 20}, {3, 120}}}, nil, "0 - - - - - -"},
		{"a part missing", graphRun{[]int{10, 110}, [][2]int{{3, 20}, {3, 120}}},
			[]string{"corr=1001 graph=3 node=2", "corr=1001 graph=3 node=9"}, "0 - - - - - -"},
		{"no numbers of parts", graphRun{[]int{10, 110}, [][2]int{{3, 20}, {3, 120}}},
			[]string{"node=1", "", "node=2", "", "node=3", ""}, "0 - - - - - -"},
		{"no call", graphRun{nil, [][2]int{{3, 20}, {3, 120}}}, nil, "0 - - - - - -"},
		{"ids of the calls", graphRun{[]int{10, 110}, [][2]int{{3, 20}, {3, 120}}},
			[]string{"corr=1000", "corr=100", "corr=1001", "corr=100", "corr=1002", "corr=100",
				"corr=1010", "corr=101", "corr=1011", "corr=101", "corr=1012", "corr=101"}, "0 10 10 10 110 110 110"},
		// As Kineto has it: one id a replay, of a call before the recording. The last call ran later.
		{"ids of calls that are not there", graphRun{[]int{1}, [][2]int{{3, 20}}},
			[]string{"corr=1001", "corr=1000", "corr=1002", "corr=1000"}, "0 - - -"},
		{"ids of one call", graphRun{[]int{10, 110}, [][2]int{{3, 20}, {3, 120}}},
			[]string{"corr=1000", "corr=100", "corr=1001", "corr=100", "corr=1002", "corr=100"},
			"0 10 10 10 110 110 110"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := only(t, strings.NewReplacer(c.edit...).Replace(c.run.source()))
			if got := launchTimes(r); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
