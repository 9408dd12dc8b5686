package gradients

import "testing"

// A gradient whose rows the ranks do not divide is reduced with some more rows: its parameter is
// one that the optimizer touches. What is larger than padding explains is another tensor.
func TestAnyPadded(t *testing.T) {
	stepped := map[string]map[string]bool{"AdamW": {"50264 768 ": true, "8 ": true, "": true}}
	for _, test := range []struct {
		dims []int64
		want bool
	}{
		{[]int64{50257, 768}, true},
		{[]int64{50264, 768}, false}, // as it is
		{[]int64{50265, 768}, false}, // fewer rows than it has
		{[]int64{40000, 768}, false}, // much more than padding
		{[]int64{50257, 512}, false},
		{[]int64{50257}, false},
		{[]int64{7}, false}, // 8 is over a tenth more
		{[]int64{}, false},
	} {
		if got := anyPadded(stepped, test.dims); got != test.want {
			t.Errorf("%v: %t, want %t", test.dims, got, test.want)
		}
	}
}
