package gradients

import (
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
)

// wholeNumbers are the types of counts, as PyTorch prints them. Numbers of the program that
// are whole have one of them, too.
var wholeNumbers = map[string]bool{"long int": true, "int": true}

// reductionOf has the operators that compute losses, and which of their arguments says how
// the losses of single predictions are combined.
var reductionOf = map[string]int{
	"aten::cross_entropy_loss": 3, "aten::nll_loss_nd": 3, "aten::binary_cross_entropy": 3,
	"aten::binary_cross_entropy_with_logits": 4,
	"aten::mse_loss":                         2, "aten::l1_loss": 2, "aten::smooth_l1_loss": 2, "aten::huber_loss": 2,
}

// lossFamily returns the family of an operator that computes a loss, by its arguments:
// 0 combines nothing, 1 is the mean, 2 the sum.
func lossFamily(name string, values []string) family {
	at := reductionOf[name]
	if len(values) <= at {
		return noFamily
	}
	return map[string]family{"1": meanLoss, "2": sumLoss}[values[at]]
}

// isLoss reports whether a node of backward, by its name, is that of a loss.
func isLoss(node string) bool {
	for _, prefix := range []string{"NllLoss", "BinaryCrossEntropy", "MseLoss", "SmoothL1Loss", "HuberLoss"} {
		if strings.HasPrefix(node, prefix) {
			return true
		}
	}
	return false
}

// lossSigns is what a step shows so far of how its loss is normalized.
type lossSigns struct {
	mean, sum bool // backward begins at a loss that is the mean, or the sum, of those of single predictions
	summed    bool // something was counted
	inverted  bool // a count was inverted before the first backward pass
}

// note takes in an operation of one of the families of losses.
func (l *lossSigns) note(f family, first *Backward) {
	switch f {
	case countSummed:
		l.summed = true
	case meanLoss:
		l.mean = l.mean || first.FromLoss
	case sumLoss:
		l.sum = l.sum || first.FromLoss
	}
}

// fromCount reports whether the factor of a product comes from a count. The gradients of a
// mean have none to be divided by. A count was inverted or read right before it; or it is a
// whole number in a step that counts; or a number that such a step, or one that reduces a
// single number over ranks after backward, divides by; or a sum is what was differentiated.
func (c *cutter) fromCount(t *operation, s *signs) bool {
	first, last := &c.backwards[0], &c.backwards[len(c.backwards)-1]
	number := t.tensor && !t.whole
	switch {
	case c.loss.mean || first.FromMean:
		return false
	case s.counted, t.whole && c.loss.summed:
		return true
	case number && c.loss.inverted && !first.FromProduct:
		return true
	case number && (s.inverted || t.divides) && (c.loss.summed || steps.AnyIn(c.numbers, last.Last, t.start)):
		return true
	}
	return (c.loss.sum || first.FromSum) && (number || t.factor != "")
}
