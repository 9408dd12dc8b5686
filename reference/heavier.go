package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// heavier is data of which some ranks take several micro-batches as one.
type heavier struct {
	Data
	times []int // by rank, at least 1
}

// Len returns how many of its micro-batches a rank has.
func (h heavier) Len(rank int) int {
	if n := h.Data.Len(rank); n != Endless {
		return n / h.times[rank]
	}
	return Endless
}

// Batch returns micro-batch i of a rank.
func (h heavier) Batch(rank, i int) Batch {
	var all Batch
	for j := range h.times[rank] {
		b := h.Data.Batch(rank, i*h.times[rank]+j)
		all.Tokens = append(all.Tokens, b.Tokens...)
		all.Labels = append(all.Labels, b.Labels...)
		all.Targets = append(all.Targets, b.Targets...)
	}
	return all
}

// Valid counts the targets of micro-batch i of a rank.
func (h heavier) Valid(rank, i int) int {
	n := 0
	for j := range h.times[rank] {
		n += validOf(h.Data, rank, i*h.times[rank]+j)
	}
	return n
}

// mostTimes is how many times as many rows a rank may have at most.
const mostTimes = 1000

// parseMoreRows parses rank=factor into one factor per rank; nil for none.
func parseMoreRows(text string, world int) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	left, right, _ := strings.Cut(text, "=")
	rank, err := strconv.Atoi(left)
	factor, err2 := strconv.Atoi(right)
	if err != nil || err2 != nil || rank < 0 || rank >= world || factor < 1 || factor > mostTimes {
		return nil, &OptionError{"more-rows", fmt.Sprintf("%q is no rank=factor", text),
			fmt.Sprintf("ranks are 0 to %d, factors whole numbers up to %d: `more-rows` 1=3", world-1, mostTimes)}
	}
	times := slices.Repeat([]int{1}, world)
	times[rank] = factor
	return times, nil
}

// rowsOf returns how many rows the micro-batches of a rank have.
func rowsOf(p *plan, rank int) int {
	if p.times == nil {
		return p.LocalBatchSize
	}
	return p.LocalBatchSize * p.times[rank]
}

// mostRows returns the largest number of rows of any rank.
func mostRows(p *plan) int {
	if p.times == nil {
		return p.LocalBatchSize
	}
	return p.LocalBatchSize * slices.Max(p.times)
}
