package facts

import (
	"math"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// LossReduction says how the loss function combines the losses of tokens.
type LossReduction string

// The reductions of a loss, by PyTorch's names.
const (
	LossMean    LossReduction = "mean"
	LossSum     LossReduction = "sum"
	LossNone    LossReduction = "none"
	LossUnknown LossReduction = "unknown" // not recorded, or not the same everywhere
)

// Loss is how the loss from which backward begins is derived from the losses of tokens. It
// decides how much each token counts: the mean of each micro-batch gives tokens of short
// micro-batches more weight, unless something corrects for it.
type Loss struct {
	Reduction  LossReduction
	Known      bool // all autograd nodes between backward's root and the loss function are understood
	Multiplied bool // among them is a product
	Divided    bool // among them is a quotient
	Inverted   bool // somewhere a whole number is inverted, as counts are
	// Divisor is what the loss is divided by, if the trace has the number and it is the
	// same in all backward passes; else NaN.
	Divisor float64
}

// lossWords are the values of cross_entropy's reduction, its fourth argument.
var lossWords = map[string]LossReduction{"0": LossNone, "1": LossMean, "2": LossSum}

// losses examines the operators of a rank that compute losses.
type losses struct {
	x  *timeline.Rank
	in *timeline.Operands
}

// lossOf finds out how losses are computed. Everything must be the same in all backward
// passes: of a program that computes some losses this way and others that way, nothing can
// be said of the weight of tokens.
func lossOf(x *timeline.Rank, passes []gradients.Backward) Loss {
	c := &losses{x, x.Inputs()}
	l := Loss{Reduction: c.reduction(), Inverted: c.inverts(), Divisor: math.NaN()}
	at := 0
	for i := range passes {
		b := &passes[i]
		for at < len(x.Nodes) && x.Nodes[at].Start < b.Start {
			at++
		}
		chain, ok := c.lossChain(x.Nodes[at:], b.End)
		if !ok || i > 0 && (chain.Multiplied != l.Multiplied || chain.Divided != l.Divided) {
			return Loss{Reduction: l.Reduction, Inverted: l.Inverted, Divisor: math.NaN()}
		}
		if i > 0 && chain.Divisor != l.Divisor {
			chain.Divisor = math.NaN()
		}
		l.Known = true
		l.Multiplied, l.Divided = chain.Multiplied, chain.Divided
		l.Divisor = chain.Divisor
	}
	return l
}

// longestChain is the largest number of nodes from backward's root to that of the loss.
const longestChain = 8

// lossChain reads the nodes of a backward pass from its root to the node of a loss function,
// in the order in which autograd runs them. ok is false if there is none, or a node in
// between that might change the weight of tokens in a way that is not understood.
func (c *losses) lossChain(nodes []timeline.Span, end int64) (l Loss, ok bool) {
	l.Divisor = math.NaN()
	length := 0
	for i := 0; i < len(nodes) && nodes[i].Start < end && length < longestChain; i++ {
		if !c.x.Is(nodes[i].Row, timeline.EvaluateFunction) {
			continue
		}
		length++
		switch name := timeline.NodeName(c.x.Name(nodes[i].Row)); {
		case strings.HasPrefix(name, "NllLoss"):
			return l, true
		case strings.HasPrefix(name, "MulBackward"):
			l.Multiplied = true
		case strings.HasPrefix(name, "DivBackward"):
			l.Divisor = c.divisor(nodes[i])
			if l.Divided {
				l.Divisor = math.NaN()
			}
			l.Divided = true
		case strings.HasPrefix(name, "AddBackward"),
			strings.HasPrefix(name, "ViewBackward"),
			strings.HasPrefix(name, "ToCopyBackward"):
		default:
			return l, false
		}
	}
	return l, false
}

// divisor returns the number that a node divides by, NaN if the trace does not have it. The
// operator inside the node has it: aten::div the number itself, aten::mul its inverse.
func (c *losses) divisor(node timeline.Span) float64 {
	trackEnd := c.x.TrackEnd(node.Row)
	for i := node.Row + 1; i < trackEnd && c.x.Col.Start[i] < node.End; i++ {
		name := c.x.Name(i)
		if name != "aten::mul" && name != "aten::div" {
			continue
		}
		words := c.in.Values(i)
		if len(words) < 2 {
			return math.NaN()
		}
		v, err := strconv.ParseFloat(words[1], 64)
		switch {
		case err != nil || v == 0:
			return math.NaN()
		case name == "aten::mul":
			return 1 / v
		}
		return v
	}
	return math.NaN()
}

// inverts reports whether a single whole number is inverted.
func (c *losses) inverts() bool {
	found := false
	c.eachNamed("aten::reciprocal", func(row int32) bool {
		ops := c.in.Of(row)
		found = len(ops) > 0 && len(ops[0].Shapes) == 1 && len(ops[0].Shapes[0]) == 0 &&
			(ops[0].Dtype == "long int" || ops[0].Dtype == "int")
		return !found
	})
	return found
}

// reduction returns the reduction that all cross entropies have, else LossUnknown.
func (c *losses) reduction() LossReduction {
	reduction := LossReduction("")
	c.eachNamed("aten::cross_entropy_loss", func(row int32) bool {
		words := c.in.Values(row)
		if len(words) < 4 || lossWords[words[3]] == "" || reduction != "" && reduction != lossWords[words[3]] {
			reduction = LossUnknown
			return false
		}
		reduction = lossWords[words[3]]
		return true
	})
	if reduction == "" {
		return LossUnknown
	}
	return reduction
}

// eachNamed calls visit for the operators of one name on the host threads of a rank, until
// it returns false.
func (c *losses) eachNamed(name string, visit func(row int32) bool) {
	id, ok := c.x.Trace.Find(name)
	if !ok {
		return
	}
	for _, track := range c.x.Host {
		t := c.x.Trace.Tracks()[track]
		for i := t.First; i < t.First+t.N; i++ {
			if c.x.Col.Name[i] == id && c.x.Col.Phase[i] == trace.Complete && !visit(int32(i)) {
				return
			}
		}
	}
}
