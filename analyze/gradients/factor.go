package gradients

import (
	"github.com/gaprof/gaprof/analyze/steps"
)

// wholeNumbers are the types of counts, as PyTorch prints them. Numbers of the program that
// are whole have one of them, too.
var wholeNumbers = map[string]bool{"long int": true, "int": true}

// lossFamily returns the family of an operator that computes a loss, by its arguments:
// 0 combines nothing, 1 is the mean, 2 the sum.
func lossFamily(name string, values []string) family {
	at := reductionOf[name]
	if len(values) <= at {
		return noFamily
	}
	return map[string]family{"1": meanLoss, "2": sumLoss}[values[at]]
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
	first := &c.backwards[0]
	number := t.tensor && !t.whole
	switch {
	case c.loss.mean || first.FromMean:
		return false
	case s.counted, t.whole && c.loss.summed, number && c.fromNumber(t, s):
		return true
	}
	return (c.loss.sum || first.FromSum) && (number || t.factor != "")
}

// fromNumber is fromCount for a factor that is a number on the device and not a whole one.
func (c *cutter) fromNumber(t *operation, s *signs) bool {
	first, last := &c.backwards[0], &c.backwards[len(c.backwards)-1]
	if c.loss.inverted && !first.FromProduct {
		return true
	}
	return (s.inverted || t.divides) && (c.loss.summed || steps.AnyIn(c.numbers, last.Last, t.start))
}
