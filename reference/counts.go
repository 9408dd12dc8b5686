package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParseTokenCounts reads valid tokens by rank and micro-batch, ranks separated by /,
// micro-batches by commas.
func ParseTokenCounts(text string) ([][]int, error) {
	var counts [][]int
	for rank, part := range strings.Split(text, "/") {
		var list []int
		for _, word := range strings.Split(part, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(word))
			if err != nil || n < 0 {
				return nil, &OptionError{"token-counts", fmt.Sprintf("%q of rank %d is no count", word, rank), "write 59,60,14,11/12,268,133,6"}
			}
			list = append(list, n)
		}
		if rank > 0 && len(list) != len(counts[0]) {
			return nil, &OptionError{"token-counts", fmt.Sprintf("rank %d has %d micro-batches, rank 0 has %d", rank, len(list), len(counts[0])),
				"every rank takes part in every micro-batch; write 0 for one without tokens"}
		}
		counts = append(counts, list)
	}
	return counts, nil
}

// ragged tells whether counts differ between ranks in some micro-batch.
func ragged(counts [][]int) bool {
	for _, list := range counts {
		if !slices.Equal(list, counts[0]) {
			return true
		}
	}
	return false
}

// parseStraggler reads rank=factor into one factor per rank.
func parseStraggler(text string, world int) ([]float64, error) {
	if text == "" {
		return nil, nil
	}
	left, right, _ := strings.Cut(text, "=")
	rank, err := strconv.Atoi(left)
	factor, err2 := strconv.ParseFloat(right, 64)
	if err != nil || err2 != nil || rank < 0 || rank >= world || !(factor >= 1 && factor <= 1000) {
		return nil, &OptionError{"straggler", fmt.Sprintf("%q is no rank=factor", text),
			fmt.Sprintf("ranks are 0 to %d, factors 1 to 1000: --straggler 1=2", world-1)}
	}
	slow := make([]float64, world)
	slow[rank] = factor
	return slow, nil
}
