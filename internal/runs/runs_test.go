package runs

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type pair struct{ key, place int }

func byKey(a, b pair) int { return cmp.Compare(a.key, b.key) }

// TestSort: the result is that of a stable sort, whatever the runs.
func TestSort(t *testing.T) {
	lists := [][]int{nil, {1}, {1, 1}, {2, 1}, {1, 2, 3, 1, 2, 3}, {3, 2, 1}, {1, 3, 2, 2, 2, 1, 5}}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		var list []int
		for range n * 3 {
			list = append(list, rng.IntN(n))
		}
		lists = append(lists, list)
	}
	var room []pair
	for _, keys := range lists {
		var got []pair
		for i, k := range keys {
			got = append(got, pair{k, i})
		}
		want := slices.Clone(got)
		slices.SortStableFunc(want, byKey)
		room = Sort(got, byKey, room)
		if !slices.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", keys, got, want)
		}
	}
}

// TestSortInOrder: a list in order costs no room.
func TestSortInOrder(t *testing.T) {
	if room := Sort([]int{1, 2, 2, 3}, cmp.Compare[int], nil); room != nil {
		t.Errorf("took room for %d", cap(room))
	}
}
