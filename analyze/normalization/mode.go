package normalization

import "math"

// Case is one optimizer step: the valid tokens of every micro-batch of every rank.
type Case struct {
	Tokens [][]int64 // by rank and micro-batch; ranks may have fewer micro-batches
	// Accumulation is how many micro-batches a window of the run has; 0 as many as this
	// step. A step with fewer is a partial window.
	Accumulation int
	// Preshift counts the labels before they are shifted; nil unknown.
	Preshift [][]int64
}

// Ranks is the number of ranks.
func (c *Case) Ranks() int { return len(c.Tokens) }

// Micro is the number of micro-batches of this step.
func (c *Case) Micro() int {
	most := 0
	for _, row := range c.Tokens {
		most = max(most, len(row))
	}
	return most
}

// Window is the number of micro-batches of a full window.
func (c *Case) Window() int {
	if c.Accumulation > 0 {
		return c.Accumulation
	}
	return c.Micro()
}

// Partial tells whether the step has fewer micro-batches than a window.
func (c *Case) Partial() bool { return c.Micro() < c.Window() }

// Total is the number of tokens of the step, N.
func (c *Case) Total() int64 { return total(c.Tokens) }

func total(table [][]int64) int64 {
	n := int64(0)
	for _, row := range table {
		n += sum(row)
	}
	return n
}

func sum(row []int64) int64 {
	n := int64(0)
	for _, tokens := range row {
		n += tokens
	}
	return n
}

// Mode is a way to normalize: how much the gradient of each micro-batch's summed loss
// counts, but for a factor common to all.
type Mode string

// The modes, for R ranks, k micro-batches of n_rj tokens, windows of A, and N tokens in
// all. Global is the right one.
const (
	Global    Mode = "global"             // 1/N
	PerRank   Mode = "per_rank"           // 1/(R n_r): the mean of the ranks' means
	MicroMean Mode = "micro_mean"         // 1/(R k n_rj): the mean of the micro-batches' means
	LastMicro Mode = "last_micro_batch"   // 1/N for the last micro-batch, 0 for the others
	LastMean  Mode = "last_micro_mean"    // 1/(R k n_rj) for the last, 0 for the others
	ReReduced Mode = "re_reduced"         // R^(A-1-j)/N: a sum over ranks of what was summed before
	ReMean    Mode = "re_reduced_mean"    // R^(A-1-j)/(R k n_rj)
	Decayed   Mode = "scaled_every_micro" // A^-(A-j)/N: divided by A behind every micro-batch
	Preshift  Mode = "pre_shift_count"    // (npre_rj/n_rj)/Npre: counted before the labels were shifted
	Sum       Mode = "sum"                // 1: not normalized; Global but for the factor N
	Unknown   Mode = "unknown"
)

// shapes are the modes that differ by more than a common factor, the simplest first:
// where several fit, as with equal counts, the first is named.
var shapes = []Mode{Global, PerRank, MicroMean, LastMicro, LastMean, ReReduced, ReMean, Decayed, Preshift}

// titles say what happens in a mode.
var titles = map[Mode]string{
	Global:    "every token counts alike",
	PerRank:   "each rank divides by its own tokens: the mean of the ranks' means",
	MicroMean: "each micro-batch divides by its own tokens: the mean of the micro-batches' means",
	LastMicro: "only the last micro-batch counts: gradients are cleared before every backward, or backward stands outside the loop",
	LastMean:  "only the last micro-batch counts, by its own mean: gradients are cleared before every backward, or backward stands outside the loop",
	ReReduced: "accumulated gradients are summed over ranks again in every micro-batch: the j-th counts R^(A-1-j) times",
	ReMean:    "accumulated gradients of means are summed over ranks again in every micro-batch: the j-th counts R^(A-1-j) times",
	Decayed:   "gradients are divided by A behind every micro-batch: early ones fade away",
	Preshift:  "tokens are counted before the labels are shifted: one too many for each row whose first label is valid",
	Sum:       "not normalized: the sum over all tokens",
	Unknown:   "not known",
}

// Title says in words what happens in a mode.
func (m Mode) Title() string { return titles[m] }

// Coefficients is the table c of a mode. A micro-batch without tokens has 0: its
// gradient is zero, whatever it is multiplied by. It is nil where the mode needs counts
// that are not known.
func (c *Case) Coefficients(m Mode) [][]float64 {
	if m == Preshift && len(c.Preshift) != len(c.Tokens) {
		return nil
	}
	n, ranks, steps, window := float64(c.Total()), float64(c.Ranks()), float64(c.Micro()), float64(c.Window())
	table := make([][]float64, len(c.Tokens))
	for r, row := range c.Tokens {
		table[r] = make([]float64, len(row))
		own := float64(sum(row))
		for j, tokens := range row {
			if tokens == 0 {
				continue
			}
			micro, left := float64(tokens), float64(len(row)-1-j)
			var v float64
			switch m {
			case Global:
				v = 1 / n
			case PerRank:
				v = 1 / (ranks * own)
			case MicroMean:
				v = 1 / (ranks * steps * micro)
			case LastMicro:
				v = last(left, 1/n)
			case LastMean:
				v = last(left, 1/(ranks*steps*micro))
			case ReReduced:
				v = math.Pow(ranks, left) / n
			case ReMean:
				v = math.Pow(ranks, left) / (ranks * steps * micro)
			case Decayed:
				v = math.Pow(window, -left-1) / n
			case Preshift:
				v = float64(c.preshift(r, j)) / micro / float64(total(c.Preshift))
			case Sum:
				v = 1
			default:
				return nil
			}
			table[r][j] = v
		}
	}
	return table
}

// preshift is the count of a micro-batch before labels are shifted, 0 where it is not known.
func (c *Case) preshift(r, j int) int64 {
	if j >= len(c.Preshift[r]) {
		return 0
	}
	return c.Preshift[r][j]
}

func last(left, v float64) float64 {
	if left == 0 {
		return v
	}
	return 0
}
