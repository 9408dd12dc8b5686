package reference

import (
	"fmt"
	"math"

	"github.com/gaprof/gaprof/reference/ops"
)

// Batch is one micro-batch: LocalBatchSize x SequenceLength elements, row by row. All
// three slices have that length.
type Batch struct {
	Tokens  []int64 // each from 0 to the vocabulary size - 1
	Labels  []int64 // the tokens, with ops.IgnoreIndex in place of padding
	Targets []int64 // labels shifted by one: what position t predicts; ops.IgnoreIndex for nothing
}

// Valid returns the number of targets other than ops.IgnoreIndex.
func (b Batch) Valid() int {
	n := 0
	for _, target := range b.Targets {
		if target != ops.IgnoreIndex {
			n++
		}
	}
	return n
}

// Data supplies the micro-batches of each rank. Ranks call it concurrently, and the same
// call must always return the same result.
type Data interface {
	// Vocabulary returns the vocabulary size, one more than the largest token.
	Vocabulary() int
	// Len returns the number of micro-batches of a rank, or Endless.
	Len(rank int) int
	// Batch returns micro-batch i of a rank.
	Batch(rank, i int) Batch
}

// Counter is Data that can tell the targets of a micro-batch without making it. Where tensors
// have no contents, nothing else of a micro-batch is needed.
type Counter interface {
	// Valid returns what Batch(rank, i).Valid() would.
	Valid(rank, i int) int
}

// validOf counts the targets of micro-batch i of a rank.
func validOf(d Data, rank, i int) int {
	if c, ok := d.(Counter); ok {
		return c.Valid(rank, i)
	}
	return d.Batch(rank, i).Valid()
}

// Endless is the Len of data that never runs out.
const Endless = math.MaxInt

// Batches is Data held in memory.
type Batches struct {
	Words int       // vocabulary size, one more than the largest token
	Ranks [][]Batch // by rank; ranks beyond the end have no data
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

// limited is data that ends after n micro-batches of each rank.
type limited struct {
	Data
	n int
}

// Valid counts the targets of micro-batch i of a rank.
func (l limited) Valid(rank, i int) int { return validOf(l.Data, rank, i) }

func (l limited) Len(rank int) int { return min(l.n, l.Data.Len(rank)) }

// steps returns the number of steps for which every rank has all micro-batches, and
// whether some rank has data left for part of another.
func steps(d Data, world, accumulation int) (whole int, more bool) {
	least, most := Endless, 0
	for rank := range world {
		least, most = min(least, d.Len(rank)), max(most, d.Len(rank))
	}
	return least / accumulation, most > least/accumulation*accumulation
}

// checkBatch rejects a batch that the model cannot process.
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

// shift returns the targets for rows of labels: each the next label; the last has none.
func shift(labels []int64, length int) []int64 {
	targets := make([]int64, len(labels))
	for i := range labels {
		if targets[i] = ops.IgnoreIndex; (i+1)%length != 0 {
			targets[i] = labels[i+1]
		}
	}
	return targets
}
