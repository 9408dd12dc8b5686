package facts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gaprof/gaprof/trace"
)

// TestManyAndDeep: anything quadratic in the size of a file would take too long here, and
// what is not looked at is reported.
func TestManyAndDeep(t *testing.T) {
	const n, optimizers = 30_000, 100_000
	var nested, many strings.Builder
	for i := range n {
		fmt.Fprintf(&nested, "1/1 %dus +%dus cpu_op aten::linear\n", i, 2*n-2*i)
	}
	for i := range optimizers {
		fmt.Fprintf(&many, "1/1 %dus +5us user_annotation Optimizer.step#A%d.step\n", 10*i, i)
	}
	fmt.Fprintf(&nested, "1/1 %dus +1us cpu_op aten::mul_\n", n)
	nested.WriteString(twoOptimizers(n))
	began := time.Now()
	r := one(t, nested.String())
	const message = "more than 2048 spans around one event"
	if len(r.Problems) != 1 || r.Problems[0].Code != trace.DeepNesting || r.Problems[0].Count != 1 ||
		!strings.Contains(r.Problems[0].Message(), message) {
		t.Errorf("nested: %v", r.Problems)
	}
	if r = one(t, many.String()); len(r.Steps) != 1 || len(r.Optimizers) != optimizers || len(r.Problems) != 0 {
		t.Errorf("many: %d steps, %d optimizers, %v", len(r.Steps), len(r.Optimizers), r.Problems)
	}
	// A second or two; the race detector on a busy machine takes twenty times as long.
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("took %v", took)
	}
}

// twoOptimizers is two optimizers, the first around n spans that are nested.
func twoOptimizers(n int) string {
	return fmt.Sprintf("1/1 0us +%dus user_annotation Optimizer.step#A.step\n", 3*n) +
		fmt.Sprintf("1/1 %dus +1us user_annotation Optimizer.step#B.step\n", 3*n+2)
}
