package reference

import (
	"fmt"
	"math"

	"github.com/gaprof/gaprof/reference/ops"
)

// Batch is one micro-batch: rows of SequenceLength elements, one after the other, in
// lists of equal length.
type Batch struct {
	Tokens  []int64 // from 0 to below the vocabulary
	Labels  []int64 // the tokens, and ops.IgnoreIndex for those that are padding
	Targets []int64 // labels moved by one: position t predicts Targets[t]; ops.IgnoreIndex is no target
}

// Valid returns the number of targets.
func (b Batch) Valid() int {
	n := 0
	for _, target := range b.Targets {
		if target != ops.IgnoreIndex {
			n++
		}
	}
	return n
}

// Data gives each rank its micro-batches. All ranks read it at once, and it gives the
// same answer to the same question.
type Data interface {
	// Vocabulary is one more than the largest token.
	Vocabulary() int
	// Len returns how many micro-batches a rank has; Endless for no end.
	Len(rank int) int
	// Batch returns micro-batch i of a rank.
	Batch(rank, i int) Batch
}

// Endless is the Len of data without an end.
const Endless = math.MaxInt

// Batches are given micro-batches, by rank.
type Batches struct {
	Words int       // one more than the largest token
	Ranks [][]Batch // by rank, in order; a rank that is missing has none
}

// Vocabulary returns Words.
func (b Batches) Vocabulary() int { return b.Words }

// Len returns how many micro-batches a rank has.
func (b Batches) Len(rank int) int {
	if rank >= len(b.Ranks) {
		return 0
	}
	return len(b.Ranks[rank])
}

// Batch returns micro-batch i of a rank.
func (b Batches) Batch(rank, i int) Batch { return b.Ranks[rank][i] }

// limited is data that ends early.
type limited struct {
	Data
	n int
}

func (l limited) Len(rank int) int { return min(l.n, l.Data.Len(rank)) }

// steps returns how many whole windows all ranks have, and whether some rank has the
// beginning of another.
func steps(d Data, world, accumulation int) (whole int, more bool) {
	least, most := Endless, 0
	for rank := range world {
		least, most = min(least, d.Len(rank)), max(most, d.Len(rank))
	}
	return least / accumulation, most > least/accumulation*accumulation
}

// checkBatch refuses a batch that the model cannot take.
func checkBatch(b Batch, elements, words int) error {
	for _, list := range [][]int64{b.Tokens, b.Labels, b.Targets} {
		if len(list) != elements {
			return fmt.Errorf("a micro-batch has %d elements, %d are wanted", len(list), elements)
		}
	}
	known := func(token int64) bool { return token >= 0 && token < int64(words) }
	for i, token := range b.Tokens {
		target := b.Targets[i]
		if !known(token) || target != ops.IgnoreIndex && !known(target) {
			return fmt.Errorf("token %d with target %d is outside the vocabulary of %d", token, target, words)
		}
	}
	return nil
}

// shift returns the targets of rows of labels: each is the next label, the last none.
func shift(labels []int64, length int) []int64 {
	targets := make([]int64, len(labels))
	for i := range labels {
		if targets[i] = ops.IgnoreIndex; (i+1)%length != 0 {
			targets[i] = labels[i+1]
		}
	}
	return targets
}
