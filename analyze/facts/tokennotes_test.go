package facts

import (
	"fmt"
	"testing"
)

// TestTokenNotes: counts by step, and by micro-batch within it; what is no count says nothing.
func TestTokenNotes(t *testing.T) {
	r := one(t, `
1/1 1us +1 user_annotation gaprof.tokens=59
1/1 2us +1 user_annotation gaprof.tokens=0
1/1 3us +1 user_annotation gaprof.tokens=-4
1/1 4us +1 user_annotation gaprof.tokens=many
1/1 5us +1 user_annotation gaprof.tokens=
1/1 6us +1 user_annotation gaprof.tokens=4294967295
1/1 7us +1 user_annotation gaprof.tokens=4294967296
1/1 8us +1 user_annotation gaprof.tokens=99999999999999999999
1/1 10us +5us user_annotation Optimizer.step#A.step
1/1 16us +1 cpu_op torch::autograd::AccumulateGrad
1/2 17us +1 user_annotation gaprof.tokens=59
1/1 20us +5us user_annotation Optimizer.step#A.step
1/1 26us +1 user_annotation gaprof.tokens=7
0/7 12us +1us gpu_user_annotation gaprof.tokens=8`)
	if got, want := fmt.Sprint(r.TokenNotes), "[{0 0 59} {0 1 0} {0 2 4294967295} {1 0 59}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if r := one(t,
		"1/1 1us +1 user_annotation tokens=59\n"+
			"1/1 10us +5us user_annotation Optimizer.step#A.step"); r.TokenNotes != nil {
		t.Error(r.TokenNotes)
	}
}
