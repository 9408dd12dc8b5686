package gate

import "slices"

// sample is a value and where it was found; rank and step are -1 where it has none.
type sample struct {
	value      float64
	rank, step int64
}

// worst is the greatest sample, or the least; of equals the first.
func worst(all []sample, most bool) sample {
	w := all[0]
	for _, s := range all[1:] {
		if most && s.value > w.value || !most && s.value < w.value {
			w = s
		}
	}
	return w
}

// leastP is the least p that two samples can reach: 2 of all ways to mix them.
func leastP(n, m int) float64 {
	ways := 1.0
	for i := 1; i <= n; i++ {
		ways *= float64(m+i) / float64(i)
	}
	return 2 / ways
}

// aggregate makes one value of several.
func aggregate(how string, values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	switch how {
	case "max":
		return sorted[n-1]
	case "mean":
		sum := 0.0
		for _, v := range sorted {
			sum += v
		}
		return sum / float64(n)
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
