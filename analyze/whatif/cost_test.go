package whatif

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gaprof/gaprof/trace/graph"
)

// TestCostBetween: what was seen costs what it did, in between it rises from one to the next, and
// outside the line goes on.
func TestCostBetween(t *testing.T) {
	line, why := fitCost([]point{{100, 1000}, {200, 1400}, {400, 1600}})
	if why != "" || line.least != 100 || line.most != 400 {
		t.Fatalf("%+v, %s", line, why)
	}
	for bytes, want := range map[int64]float64{
		100: 1000, 200: 1400, 400: 1600, 150: 1200, 300: 1500, 250: 1450,
		50: line.alpha + 50*line.beta, 500: 1600 + 100*line.beta, 1400: 1600 + 1000*line.beta,
	} {
		if got := line.between(bytes); math.Abs(got-want) > 1e-6 {
			t.Errorf("%d bytes: %v, want %v", bytes, got, want)
		}
	}
	if line.off <= 0 || line.off > 0.2 {
		t.Errorf("off by %v", line.off)
	}
}

// TestCostIsTheLeastSquares: no line near the fitted one has smaller relative errors, and off is
// their root mean square.
func TestCostIsTheLeastSquares(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var list []point
		for i := range int64(6) {
			list = append(list, point{1000 << i, 20_000 + 30<<i + r.Int64N(4000)})
		}
		line, why := fitCost(list)
		if why != "" {
			continue
		}
		errors := func(alpha, beta float64) float64 {
			sum := 0.0
			for _, p := range list {
				d := (alpha+beta*float64(p.bytes))/float64(p.ns) - 1
				sum += d * d
			}
			return math.Sqrt(sum / float64(len(list)))
		}
		if got := errors(line.alpha, line.beta); math.Abs(got-line.off) > 1e-12 {
			t.Errorf("off by %v, says %v", got, line.off)
		}
		for _, d := range [][2]float64{{1.01, 1}, {0.99, 1}, {1, 1.05}, {1, 0.95}, {1.01, 0.95}, {0.99, 1.05}} {
			if errors(d[0]*line.alpha, d[1]*line.beta) < line.off {
				t.Errorf("alpha and beta times %v fit better than %+v", d, line)
			}
		}
	}
}

// TestAsOthers: what a rank does takes as long as on the others in all, each piece in proportion to
// its median there; where they do other things, to its own.
func TestAsOthers(t *testing.T) {
	for _, test := range []struct {
		name   string
		own    []int64
		others [][]int64
		to     func([]int64) int64
		want   string
	}{
		{"the median of three", []int64{10, 100}, [][]int64{{1, 9}, {4, 16}, {2, 10}}, median, "[2 10]"},
		{"with a pause somewhere on each", []int64{90, 10}, [][]int64{{10, 30}, {30, 10}, {10, 10}}, median, "[20 20]"},
		{"the others do more things", []int64{30, 10}, [][]int64{{5, 5, 10}, {4, 8, 8}}, median, "[15 5]"},
		{"half of them do the same", []int64{30, 10}, [][]int64{{6, 14}, {4, 8, 8}}, median, "[6 14]"},
		{"the mean", []int64{10}, [][]int64{{10}, {40}, {10}}, average, "[20]"},
		{"nothing took time", []int64{0, 0}, [][]int64{{4, 8, 8}}, median, "[0 0]"},
	} {
		at := make(map[graph.Node]int64)
		list := func(values []int64) (nodes []graph.Node) {
			for _, v := range values {
				n := graph.Node(len(at))
				at[n], nodes = v, append(nodes, n)
			}
			return nodes
		}
		own := list(test.own)
		var others [][]graph.Node
		for _, o := range test.others {
			others = append(others, list(o))
		}
		got := append([]int64(nil), test.own...)
		asOthers(own, others, test.to, func(n graph.Node) int64 { return at[n] },
			func(n graph.Node, ns int64) { got[n] = ns })
		if fmt.Sprint(got) != test.want {
			t.Errorf("%s: %v, want %s", test.name, got, test.want)
		}
	}
}

// TestTrim: recordings begin and end at different places, so of the first and the last part as
// much counts as all ranks have, next to what they share.
func TestTrim(t *testing.T) {
	nodes := func(from, to graph.Node) (list []graph.Node) {
		for ; from < to; from++ {
			list = append(list, from)
		}
		return list
	}
	parts := [][]part{
		{{}, {nodes(10, 14), nodes(20, 23)}, {nodes(1, 3), nil}, {nodes(30, 33), nodes(40, 42)}},
		{{nodes(0, 3), nodes(3, 6)}, {nodes(50, 52), nodes(60, 64)}, {nodes(4, 9), nil},
			{nodes(70, 75), nodes(80, 81)}},
	}
	trim(parts)
	want := "[[{[] []} {[12 13] [20 21 22]} {[1 2] []} {[30 31 32] [40]}] " +
		"[{[] []} {[50 51] [61 62 63]} {[4 5 6 7 8] []} {[70 71 72] [80]}]]"
	if got := fmt.Sprint(parts); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestRanksOfArgument: ranks are numbers joined by +.
func TestRanksOfArgument(t *testing.T) {
	for arg, want := range map[string]string{
		"": "[]", "all": "[]", "0": "[0]", "1+12": "[1 12]", "-1": "", "1+": "", "a": "", "1,2": "",
	} {
		list, err := parseRanks(arg)
		if got := fmt.Sprint(list); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%q: %s, %v", arg, got, err)
		}
	}
}

// TestMedians: of an even number the mean of the middle two.
func TestMedians(t *testing.T) {
	for want, list := range map[int64][]int64{4: {9, 1, 4}, 3: {8, 1, 4, 2}, 7: {7}} {
		if got := median(list); got != want {
			t.Errorf("median %d, want %d", got, want)
		}
	}
	if got := average([]int64{1, 2, 9}); got != 4 {
		t.Errorf("average %d", got)
	}
	if a, b := medianOr(nil, 5), medianOr([]int64{3, 1, 2}, 5); a != 5 || b != 2 {
		t.Error(a, b)
	}
}
