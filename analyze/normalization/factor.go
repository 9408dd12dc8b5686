package normalization

import "math"

// Factor is a number that multiplies all gradients, named in terms of R ranks, A
// micro-batches of a window, k of this step, and N tokens.
type Factor struct {
	Name  string  `json:"name"` // 1/R, A, N ...; "" where it is not known
	Value float64 `json:"value"`
	Text  string  `json:"text"` // how it comes about; "" for One
}

// One is the factor that changes nothing.
var One = Factor{"1", 1, ""}

// Factors are the factors that mistakes leave behind, the likelier first; those that
// equal an earlier one are left in, because one cannot tell them apart.
func (c *Counts) Factors() []Factor {
	return factors(c.Ranks(), c.Window(), c.Micro(), c.Total())
}

func factors(ranks, window, micro int, tokens int64) []Factor {
	r, n := float64(ranks), float64(tokens)
	a, k := float64(window), float64(micro)
	ranked, split, counted := ranks > 1, window > 1, tokens > 1
	list := []Factor{One}
	add := func(known bool, name string, value float64, text string) {
		if known && value != 1 {
			list = append(list, Factor{name, value, text})
		}
	}
	add(k > 0 && k < a, "k/A", k/a, "a window of k micro-batches is divided by the A of a full one")
	add(ranked, "1/R", 1/r, "divided by the number of ranks once too often: 1/N, or no R, on top of a mean over ranks")
	add(ranked, "R", r, "a sum over ranks where a mean is meant, or multiplied by the number of ranks in vain")
	add(split, "1/A", 1/a, "divided by the micro-batches of a window once too often")
	add(split, "A", a, "not divided by the micro-batches of a window")
	add(ranked && split, "1/(RA)", 1/(r*a), "divided by ranks and micro-batches once too often")
	add(ranked && split, "RA", r*a, "divided by neither ranks nor micro-batches")
	add(ranked && split, "R/A", r/a, "a sum over ranks, and divided by the micro-batches once too often")
	add(ranked && split, "A/R", a/r, "divided by the number of ranks once too often, and not by the micro-batches")
	add(counted, "N", n, "not normalized: summed losses, summed over ranks, divided by nothing")
	add(counted && ranked, "N/R", n/r, "summed losses are divided by the number of ranks alone, not by tokens")
	add(counted && split, "N/A", n/a, "summed losses are divided by the number of micro-batches alone, not by tokens")
	add(counted && ranked && split, "N/(RA)", n/(r*a),
		"summed losses are divided by ranks and micro-batches, not by tokens")
	add(counted, "1/N", 1/n, "divided by the tokens twice")
	return list
}

// nameFactors lists the factors within a relative tolerance of v.
func nameFactors(list []Factor, v, tolerance float64) []Factor {
	var hits []Factor
	for _, f := range list {
		if math.Abs(v/f.Value-1) <= tolerance {
			hits = append(hits, f)
		}
	}
	return hits
}
