package gradients

import (
	"fmt"
	"testing"
)

// TestWritten: what may clear gradients before backward adds to them: all of them in one buffer, or so
// many tensors of their shapes that it may be a loop over them; not a single small tensor.
func TestWritten(t *testing.T) {
	params := []string{"100,20", "20,5", "8", "64", "32,8"}
	for _, test := range []struct {
		name   string
		writes []string // shapes
		want   bool
	}{
		{"nothing", nil, false},
		{"a small tensor that has the shape of a parameter", []string{"8"}, false},
		{"twice", []string{"8", "64"}, true},
		{"of no parameter", []string{"9", "7,7", "3", "5"}, false},
		{"each of them", params, true},
		{"a buffer of all of them", []string{fmt.Sprint(2000 + 100 + 8 + 64 + 256)}, true},
	} {
		s := &script{params: params}
		for step := range 2 {
			if step == 1 {
				for _, shape := range test.writes {
					s.event(2, "aten::copy_", fmt.Sprintf(`dims=[[%[1]s],[%[1]s],[]] type=["float","float","Scalar"]`,
						shape))
				}
			}
			s.move('f')
			s.move('b')
			s.move('s')
		}
		if r := one(t, s.text.String()); r.Written[1] != test.want || r.Written[0] {
			t.Errorf("%s: %v", test.name, r.Written)
		}
	}
}
