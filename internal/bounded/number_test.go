package bounded

import (
	"math"
	"testing"
)

func TestNumbers(t *testing.T) {
	const most = math.MaxInt64
	for _, c := range []struct{ a, b, sum, product int64 }{
		{0, 0, 0, 0}, {2, 3, 5, 6}, {most, 0, most, 0}, {0, most, most, 0},
		{most, 1, most, most}, {1, most, most, most},
		{most, most, most, most}, {1 << 62, 1 << 62, most, most}, {1 << 31, 1 << 31, 1 << 32, 1 << 62},
		{most / 2, 2, most/2 + 2, most - 1},
	} {
		if sum, product := Add(c.a, c.b), Mul(c.a, c.b); sum != c.sum || product != c.product {
			t.Errorf("%d and %d: %d, %d", c.a, c.b, sum, product)
		}
	}
}
