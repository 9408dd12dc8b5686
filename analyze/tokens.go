package analyze

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// tokenKey is a rank, by number, and a step.
type tokenKey struct {
	rank int64
	step int
}

// tokenCounts are the counts of all micro-batches by rank and step.
type tokenCounts struct {
	of    map[tokenKey][]int64
	whole map[tokenKey]bool // the count is of the step as a whole
	known bool              // the log says that each rank knows the count of all
	ranks map[int][]int64   // that have counts of a step, by step, ascending
	most  int               // counts of a rank and step that are not of the step as a whole

	// vouched says that a log and annotations agree: micro-batches may be more than are seen to
	// have a backward pass, as where a loop calls it once for the last.
	vouched bool
}

func newTokenCounts() *tokenCounts {
	return &tokenCounts{
		of: make(map[tokenKey][]int64), whole: make(map[tokenKey]bool), ranks: make(map[int][]int64),
	}
}

// index fills in what follows from of and whole: logs may have a million steps, so nobody
// goes over all of them for one.
func (counts *tokenCounts) index() {
	for key, list := range counts.of {
		counts.ranks[key.step] = append(counts.ranks[key.step], key.rank)
		if !counts.whole[key] {
			counts.most = max(counts.most, len(list))
		}
	}
	for _, ranks := range counts.ranks {
		slices.Sort(ranks)
	}
}

// loggedTokens makes a table of a log, shift steps earlier; nil without any.
func loggedTokens(list []sidecar.TokenCount, shift int) *tokenCounts {
	if len(list) == 0 {
		return nil
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(x, y sidecar.TokenCount) int { return cmp.Compare(x.MicroBatch, y.MicroBatch) })
	counts := newTokenCounts()
	defer counts.index()
	for _, c := range list {
		key := tokenKey{c.Rank, int(c.Step) - shift}
		counts.of[key] = append(counts.of[key], c.Tokens)
		counts.whole[key] = counts.whole[key] || c.MicroBatch < 0
		counts.known = counts.known || c.Global >= 0
	}
	return counts
}

// notedTokens makes a table of the annotations in traces; nil without any.
func notedTokens(list []*Rank) *tokenCounts {
	var counts *tokenCounts
	for _, r := range list {
		for _, note := range r.TokenNotes {
			if counts == nil {
				counts = newTokenCounts()
				defer counts.index()
			}
			key := tokenKey{r.ID, note.Step}
			counts.of[key] = append(counts.of[key], note.Tokens)
		}
	}
	return counts
}

// ofAll is the counts of one step by rank, or nil if a rank lacks them, its step is
// incomplete or was not asked for, or the trace shows another number of micro-batches.
func (counts *tokenCounts) ofAll(list []*Rank, step int) [][]int64 {
	var tokens [][]int64
	for _, r := range list {
		key := tokenKey{r.ID, step}
		c, ok := counts.of[key]
		if !ok || step >= len(r.Steps) || !r.Steps[step].Complete || !r.Selected(step) {
			return nil
		}
		micro := r.Steps[step].MicroBatches
		more := counts.vouched && micro < len(c)
		if micro != facts.Unknown && micro != len(c) && !more && !counts.whole[key] {
			return nil
		}
		tokens = append(tokens, c)
	}
	return tokens
}

// caseOf is the counts of one step over all ranks that have some, also those whose
// traces are not here; whole says that some of them are of the step as a whole.
func (counts *tokenCounts) caseOf(step int) (c *normalization.Counts, whole bool) {
	c = &normalization.Counts{Accumulation: counts.window()}
	for _, rank := range counts.ranks[step] {
		key := tokenKey{rank, step}
		c.Tokens = append(c.Tokens, counts.of[key])
		whole = whole || counts.whole[key]
	}
	return c, whole
}

// window is the number of micro-batches of a full step: the most that any has.
func (counts *tokenCounts) window() int { return counts.most }

// steps are the steps that any rank has counts of, ascending.
func (counts *tokenCounts) steps() []int {
	return slices.Sorted(maps.Keys(counts.ranks))
}

// equalTokens reports whether several ranks have equally many tokens in a step.
func equalTokens(tokens [][]int64) bool {
	for _, counts := range tokens {
		if sum(counts) != sum(tokens[0]) {
			return false
		}
	}
	return len(tokens) > 1
}

func sum(counts []int64) int64 {
	n := int64(0)
	for _, c := range counts {
		n = bounded.Add(n, c)
	}
	return n
}
