package normalization

import (
	"fmt"
	"math"
)

// Loss is a way to average the losses of a step.
type Loss struct {
	Name  string  `json:"name"` // global_mean, mean_of_rank_means ...: see LossesOf
	Value float64 `json:"value"`
	Text  string  `json:"text"` // the name in words
}

// LossesOf lists the ways to average the summed losses of micro-batches, by rank and
// micro-batch. Those with no tokens do not count. Losses that are not known make no
// average.
func (c *Counts) LossesOf(sums [][]float64) []Loss {
	var all, rankMeans, microMeans float64
	ranks, micros := 0, 0
	var list []Loss
	own := make([]Loss, 0, len(sums))
	for r, row := range sums {
		rank, tokens := 0.0, sum(c.Tokens[r])
		for j, v := range row {
			if n := c.Tokens[r][j]; n > 0 {
				rank += v
				microMeans += v / float64(n)
				micros++
			}
		}
		all += rank
		if tokens > 0 {
			ranks++
			rankMeans += rank / float64(tokens)
			own = append(own, Loss{"rank_mean", rank / float64(tokens),
				fmt.Sprintf("the mean over the tokens of rank %d alone", r)})
		}
	}
	if ranks == 0 {
		return nil
	}
	add := func(name string, v float64, text string) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			list = append(list, Loss{name, v, text})
		}
	}
	add("global_mean", all/float64(c.Total()), "the mean over all tokens")
	add("mean_of_rank_means", rankMeans/float64(ranks), "the mean of the ranks' means")
	add("mean_of_micro_means", microMeans/float64(micros), "the mean of the micro-batches' means")
	if cells := c.Ranks() * c.Micro(); micros < cells {
		add("mean_of_micro_means_empty_as_zero", microMeans/float64(cells),
			"the mean of the micro-batches' means, with 0 for empty ones")
	}
	if len(own) > 1 {
		for _, l := range own {
			add(l.Name, l.Value, l.Text)
		}
	}
	add("sum_of_rank_means", rankMeans, "the sum of the ranks' means")
	add("sum_of_micro_means", microMeans/float64(ranks),
		"a rank's sum of its micro-batches' means, averaged over ranks")
	add("sum_over_ranks_and_micro_batches", all/float64(c.Ranks()*c.Window()),
		"the summed loss of a micro-batch, averaged")
	add("sum", all, "the summed loss")
	return list
}

// lossTolerance is how far a logged loss may be from a formula, relative: logs are often
// float32.
const lossTolerance = 2e-6

// NameLoss finds the average that a logged loss is: the nearest, where any is near
// enough. ok is false where none is.
func NameLoss(list []Loss, logged float64) (Loss, bool) {
	var best Loss
	least, ok := 0.0, false
	for _, l := range list {
		if d := math.Abs(l.Value-logged) / math.Abs(l.Value); d <= lossTolerance && (!ok || d < least-1e-12) {
			best, least, ok = l, d, true
		}
	}
	return best, ok
}

// optimised says in words which average of losses each mode follows the gradient of.
var optimised = map[Mode]string{
	Global:    "the mean over all tokens",
	PerRank:   "the mean of the ranks' means",
	MicroMean: "the mean of the micro-batches' means",

	LastMicro: "the loss of the last micro-batches alone, divided by all tokens",
	LastMean:  "the mean of the last micro-batches alone, divided by all micro-batches",
	ReReduced: "a sum in which early micro-batches count several times",
	ReMean:    "a sum of means in which early micro-batches count several times",
	Decayed:   "a sum in which early micro-batches fade away",
	Preshift:  "a mean of means by tokens counted before the shift",
}

// OptimisedLoss is the average of summed losses whose gradient a mode follows: each times
// its coefficient. ok is false where losses are not known, or follow no average.
func (c *Counts) OptimisedLoss(sums [][]float64, m Mode) (l Loss, ok bool) {
	table := c.Coefficients(m)
	if table == nil || optimised[m] == "" || c.Total() == 0 {
		return Loss{}, false
	}
	v := 0.0
	for r, row := range table {
		for j, coefficient := range row {
			if coefficient != 0 {
				v += coefficient * sums[r][j]
			}
		}
	}
	return Loss{string(m), v, optimised[m]}, !math.IsNaN(v) && !math.IsInf(v, 0)
}
