package gradients

import "testing"

// TestFillsPadded: a tensor that is divided among ranks is padded to whole rows of each.
func TestFillsPadded(t *testing.T) {
	for _, test := range []struct {
		rows, columns, ranks, elems int64
		want                        bool
	}{
		{8, 4, 2, 32, true}, {8, 4, 4, 32, true}, {7, 4, 2, 32, true}, {7, 4, 2, 28, true}, {7, 4, 4, 32, true}, {5,
			4, 4, 32, true},
		{5, 4, 4, 24, false}, {9, 4, 4, 48, true}, {9, 4, 4, 36, true}, {8, 4, 4, 36, false}, {1, 4, 8, 32, true}, {1,
			4, 0, 32, false},
		{1, 4, 0, 4, true}, {0, 4, 2, 0, false}, {8, 4, 4, 48, false}, {1, 1, 1, 1, true},
	} {
		o := operation{of: operand([]int64{test.rows, test.columns})}
		c := HostCollective{Elems: test.elems, GroupSize: test.ranks}
		if got := o.fills(&c); got != test.want {
			t.Errorf("%d by %d among %d in %d: %v", test.rows, test.columns, test.ranks, test.elems, got)
		}
	}
}

// TestSeveralForwards: how many forward passes are micro-batches.
func TestSeveralForwards(t *testing.T) {
	for _, test := range []struct {
		name  string
		order nodeOrder
		n     int
		want  int
	}{
		{"one", nodeOrder{sums: true}, 1, 1},
		{"two that are no sum", nodeOrder{}, 2, 2},
		{"summed without an addition", nodeOrder{sums: true}, 2, 1},
		{"two that are added up", nodeOrder{sums: true, joins: true}, 2, 2},
		{"two losses of the same outputs", nodeOrder{losses: 2, rest: 12, nodes: 20}, 2, 1},
		{"two losses of two passes", nodeOrder{losses: 2, rest: 11, nodes: 20}, 2, 2},
		{"one loss", nodeOrder{losses: 1, rest: 20, nodes: 20}, 2, 2},
		{"beside each other", nodeOrder{open: true, before: 2, nodes: 20}, 2, 1},
		{"not quite", nodeOrder{open: true, before: 8, nodes: 20}, 2, 2},
		{"the first shared at the end", nodeOrder{open: true, before: 7, nodes: 19}, 2, 1},
		{"nothing was accumulated", nodeOrder{before: 2, nodes: 20}, 2, 2},
	} {
		if got := test.order.several(test.n); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
}
