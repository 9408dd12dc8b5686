package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MicroBatches is how many a step of a rank has where GlobalBatchSize is 0.
const MicroBatches = 4

// batches derives the accumulation steps from the batch sizes or from given token counts.
func (p *plan) batches() error {
	if p.TokenCounts != "" {
		return p.countedBatches()
	}
	unit := p.LocalBatchSize * p.WorldSize
	switch {
	case p.GlobalBatchSize < 0:
		p.accumulation = 1
		return nil
	case p.GlobalBatchSize == 0:
		p.GlobalBatchSize = MicroBatches * unit
	}
	if p.GlobalBatchSize%unit != 0 {
		reason := "global batch size must be multiple of local batch size times data-parallel degree " +
			"(%d %% (%d * %d) != 0)"
		nearest := max(1, (p.GlobalBatchSize+unit/2)/unit) * unit
		return &OptionError{"global-batch-size", fmt.Sprintf(reason, p.GlobalBatchSize, p.LocalBatchSize, p.WorldSize),
			fmt.Sprintf("take %d, or -1 for no accumulation", nearest)}
	}
	p.accumulation = p.GlobalBatchSize / unit
	return nil
}

// countedBatches derives the accumulation steps from given token counts.
func (p *plan) countedBatches() error {
	counts, err := ParseTokenCounts(p.TokenCounts)
	if err != nil {
		return err
	}
	if len(counts) != p.WorldSize {
		return countsError("give every rank its counts",
			"they are of %d ranks, `world-size` is %d", len(counts), p.WorldSize)
	}
	room := p.LocalBatchSize * (p.SequenceLength - 1)
	for rank, list := range counts {
		if most := slices.Max(list); most > room {
			length := (most+p.LocalBatchSize-1)/p.LocalBatchSize + 1
			return countsError(fmt.Sprintf("raise `sequence-length` to %d", length),
				"%d tokens of rank %d do not fit into %d rows with %d targets",
				most, rank, p.LocalBatchSize, p.SequenceLength-1)
		}
	}
	p.counts, p.accumulation = counts, len(counts[0])
	p.GlobalBatchSize = p.LocalBatchSize * p.WorldSize * p.accumulation
	return nil
}

func countsError(wayOut, reason string, args ...any) error {
	return &OptionError{"token-counts", fmt.Sprintf(reason, args...), wayOut}
}

// ParseTokenCounts parses the number of valid tokens of every micro-batch. Ranks are
// separated by slashes and micro-batches by commas: 59,60,14,11/12,268,133,6.
func ParseTokenCounts(text string) ([][]int, error) {
	var counts [][]int
	for rank, part := range strings.Split(text, "/") {
		var list []int
		for _, word := range strings.Split(part, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(word))
			if err != nil || n < 0 {
				return nil, countsError("write 59,60,14,11/12,268,133,6", "%q of rank %d is no count", word, rank)
			}
			list = append(list, n)
		}
		if rank > 0 && len(list) != len(counts[0]) {
			return nil, countsError("every rank takes part in every micro-batch; write 0 for one without tokens",
				"rank %d has %d micro-batches, rank 0 has %d", rank, len(list), len(counts[0]))
		}
		counts = append(counts, list)
	}
	return counts, nil
}

// ragged reports whether counts differ between ranks in some micro-batch.
func ragged(counts [][]int) bool {
	for _, list := range counts {
		if !slices.Equal(list, counts[0]) {
			return true
		}
	}
	return false
}

// parseStraggler parses rank=factor into one factor per rank; 0 means full speed.
func parseStraggler(text string, world int) ([]float64, error) {
	if text == "" {
		return nil, nil
	}
	left, right, _ := strings.Cut(text, "=")
	rank, err := strconv.Atoi(left)
	factor, err2 := strconv.ParseFloat(right, 64)
	if err != nil || err2 != nil || rank < 0 || rank >= world || !(factor >= 1 && factor <= 1000) {
		return nil, &OptionError{"straggler", fmt.Sprintf("%q is no rank=factor", text),
			fmt.Sprintf("ranks are 0 to %d, factors 1 to 1000: `straggler` 1=2", world-1)}
	}
	slow := make([]float64, world)
	slow[rank] = factor
	return slow, nil
}
