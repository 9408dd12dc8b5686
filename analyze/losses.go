package analyze

import (
	"slices"

	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// LossSums are the summed losses of one step by rank and micro-batch, in the shape of
// the token counts of the step; nil where one is missing.
func LossSums(log *sidecar.LossLog, step int64, c *normalization.Case) [][]float64 {
	byRank := make(map[int64]map[int64]float64)
	var ranks []int64
	for _, m := range log.Micro {
		if m.Step != step {
			continue
		}
		if byRank[m.Rank] == nil {
			byRank[m.Rank] = make(map[int64]float64)
			ranks = append(ranks, m.Rank)
		}
		byRank[m.Rank][m.MicroBatch] = m.Sum
	}
	if len(ranks) != len(c.Tokens) {
		return nil
	}
	slices.Sort(ranks)
	var sums [][]float64
	for r, rank := range ranks {
		row := make([]float64, len(c.Tokens[r]))
		for j := range row {
			v, ok := byRank[rank][int64(j)]
			if !ok {
				return nil
			}
			row[j] = v
		}
		sums = append(sums, row)
	}
	return sums
}
