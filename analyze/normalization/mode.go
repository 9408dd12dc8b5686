package normalization

import "math"

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
	Decayed   Mode = "scaled_every_micro" // A^-(A-j)/N: divided by A after every micro-batch
	Preshift  Mode = "pre_shift_count"    // (npre_rj/n_rj)/Npre: counted before the labels were shifted
	Sum       Mode = "sum"                // 1: not normalized; Global but for the factor N
	Unknown   Mode = "unknown"
)

// distinct are the modes that differ by more than a common factor, the simplest first:
// where several fit, as with equal counts, the first is named.
var distinct = []Mode{Global, PerRank, MicroMean, LastMicro, LastMean, ReReduced, ReMean, Decayed, Preshift}

// titles say what happens in a mode.
var titles = map[Mode]string{
	Global:    "every token counts equally",
	PerRank:   "each rank divides by its own tokens: the mean of the ranks' means",
	MicroMean: "each micro-batch divides by its own tokens: the mean of the micro-batches' means",
	LastMicro: "only the last micro-batch counts: " + cleared,
	LastMean:  "only the last micro-batch counts, by its own mean: " + cleared,
	ReReduced: "accumulated gradients are summed over ranks again " + again,
	ReMean:    "accumulated gradients of means are summed over ranks again " + again,
	Decayed:   "gradients are divided by A after every micro-batch: early ones fade away",
	Preshift:  "tokens are counted before the labels are shifted: one too many for each row whose first label is valid",
	Sum:       "not normalized: the sum over all tokens",
	Unknown:   "not known",
}

const (
	cleared = "gradients are cleared before every backward, or backward is called after the loop"
	again   = "in every micro-batch: the j-th counts R^(A-1-j) times"
)

// Title says in words what happens in a mode.
func (m Mode) Title() string { return titles[m] }

// share is what the coefficient of one micro-batch is made of.
type share struct {
	all, own, micro         float64 // tokens of the step, of the rank, of the micro-batch
	ranks, steps, window    float64 // R, k, A
	left                    float64 // micro-batches of the rank that follow this one
	preshift, totalPreshift float64
}

// coefficients is c of one micro-batch in each mode.
var coefficients = map[Mode]func(s *share) float64{
	Global:    func(s *share) float64 { return 1 / s.all },
	PerRank:   func(s *share) float64 { return 1 / (s.ranks * s.own) },
	MicroMean: func(s *share) float64 { return 1 / (s.ranks * s.steps * s.micro) },
	LastMicro: func(s *share) float64 { return s.ifLast(1 / s.all) },
	LastMean:  func(s *share) float64 { return s.ifLast(1 / (s.ranks * s.steps * s.micro)) },
	ReReduced: func(s *share) float64 { return math.Pow(s.ranks, s.left) / s.all },
	ReMean:    func(s *share) float64 { return math.Pow(s.ranks, s.left) / (s.ranks * s.steps * s.micro) },
	Decayed:   func(s *share) float64 { return math.Pow(s.window, -s.left-1) / s.all },
	Preshift:  func(s *share) float64 { return s.preshift / s.micro / s.totalPreshift },
	Sum:       func(*share) float64 { return 1 },
}

func (s *share) ifLast(v float64) float64 {
	if s.left == 0 {
		return v
	}
	return 0
}

// Coefficients is the table c of a mode, by rank and micro-batch. A micro-batch without
// tokens has 0: its gradient is zero, whatever it is multiplied by. It is nil where the
// mode is Unknown or needs counts that are not known.
func (c *Counts) Coefficients(m Mode) [][]float64 {
	coefficient, ok := coefficients[m]
	if !ok || m == Preshift && len(c.Preshift) != len(c.Tokens) {
		return nil
	}
	s := share{
		all: float64(c.Total()), totalPreshift: float64(total(c.Preshift)),
		ranks: float64(c.Ranks()), steps: float64(c.Micro()), window: float64(c.Window()),
	}
	table := make([][]float64, len(c.Tokens))
	for r, row := range c.Tokens {
		table[r] = make([]float64, len(row))
		s.own = float64(sum(row))
		for j, tokens := range row {
			if tokens != 0 {
				s.micro, s.left, s.preshift = float64(tokens), float64(len(row)-1-j), float64(c.preshift(r, j))
				table[r][j] = coefficient(&s)
			}
		}
	}
	return table
}

// preshift is the count of a micro-batch before labels are shifted, 0 where it is not
// known.
func (c *Counts) preshift(r, j int) int64 {
	if r >= len(c.Preshift) || j >= len(c.Preshift[r]) {
		return 0
	}
	return c.Preshift[r][j]
}
