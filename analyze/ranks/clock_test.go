package ranks

import "testing"

func TestScatter(t *testing.T) {
	for _, c := range []struct {
		list []int64
		want int64
	}{{nil, 0}, {[]int64{7}, 0}, {[]int64{5, 5, 5}, 0}, {[]int64{1, 2, 4, 8, 100}, 3}, {[]int64{-10, 0, 10}, 10}} {
		before := clone(c.list)
		if got := scatterOf(c.list); got != c.want {
			t.Errorf("%v: %d, want %d", c.list, got, c.want)
		}
		for i := range before {
			if before[i] != c.list[i] {
				t.Errorf("changed to %v", c.list)
			}
		}
	}
}

// A steady drift over a whole recording stands out from its own scatter.
func TestSteadyDriftStandsOut(t *testing.T) {
	var first, second []int64
	for i := range int64(100) {
		first, second = append(first, i), append(second, 100+i)
	}
	drift, scatter := median(clone(second))-median(clone(first)), max(scatterOf(first), scatterOf(second))
	if drift <= standsOut*scatter {
		t.Errorf("drift %d, scatter %d", drift, scatter)
	}
}
