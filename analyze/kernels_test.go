package analyze

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// TestTopKernels: however few are asked for, they are the first of all, with equal times
// by name.
func TestTopKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var lines strings.Builder
	for i := range 100 {
		fmt.Fprintf(&lines, "0/7 %dus +%dus kernel k%d\n", 10*i, 1+rng.IntN(2), rng.IntN(60))
	}
	x := timeline.New(read(t, lines.String())).Ranks[0]
	all := topKernels(x, 1000)
	for i, k := range all[1:] {
		if before := all[i]; before.Busy < k.Busy || before.Busy == k.Busy && before.Name >= k.Name {
			t.Errorf("%s %d stands before %s %d", before.Name, before.Busy, k.Name, k.Busy)
		}
	}
	for n := 1; n <= len(all)+1; n++ {
		if got, want := topKernels(x, n), all[:min(n, len(all))]; !reflect.DeepEqual(got, want) {
			t.Errorf("top %d: got %v, want %v", n, got, want)
		}
	}
}
