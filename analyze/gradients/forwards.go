package gradients

import (
	"cmp"
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// lossArithmetic are the nodes that combine the losses of several forward passes into one,
// and so may occur once however many forward passes there were.
var lossArithmetic = map[string]bool{
	"AddBackward0": true, "SubBackward0": true, "MulBackward0": true, "DivBackward0": true,
	"SumBackward0": true, "SumBackward1": true, "MeanBackward0": true, "MeanBackward1": true,
	"NegBackward0": true, "StackBackward0": true, "CatBackward0": true, "ToCopyBackward0": true,
}

// commonCount returns how many forward passes a backward pass runs back through: the greatest
// number that divides the counts of all its nodes, as each forward pass leaves as many of each.
// Programs that add up the losses of several micro-batches and call backward() once are
// recognized by this. Nodes that combine losses count only where there are no others, and
// n equal layers look like n forward passes: a single name says nothing, and neither do
// several without a loss among them, where every class of parameters comes n times too, as in
// a middle stage of a pipeline. accumulated are the accumulations of the pass by class.
func commonCount(x *timeline.Rank, nodeCount map[trace.StringID]int, accumulated []int) int {
	if len(nodeCount) < 2 {
		return 1
	}
	common, commonJoin, loss := 0, 0, false
	for id, n := range nodeCount {
		name := timeline.NodeName(x.Trace.String(id))
		loss = loss || ofLoss(name)
		if lossArithmetic[name] {
			commonJoin = divisor(commonJoin, n)
		} else {
			common = divisor(common, n)
		}
	}
	if common = cmp.Or(common, commonJoin); !loss && layers(accumulated, common) {
		return 1
	}
	return common
}

// ofLoss reports whether a node belongs to a loss, by its name.
func ofLoss(node string) bool {
	return strings.Contains(node, "Loss") || strings.Contains(node, "Entropy")
}

// divisor returns the greatest number that divides two counts, of which 0 is none yet.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// layers reports whether a pass accumulates the gradients of n layers that are all alike.
func layers(accumulated []int, n int) bool {
	some := false
	for _, count := range accumulated {
		if some = some || count > 0; count%n != 0 {
			return false
		}
	}
	return some
}

// leastOf returns the lesser of two counts, where least 0 means that there is none yet.
func leastOf(least, n int) int {
	if least == 0 || n < least {
		return n
	}
	return least
}

// nodeOrder is what the order of the nodes of one backward pass shows. Autograd runs them in the
// reverse order of the forward operators.
type nodeOrder struct {
	nodes  int  // all but accumulations
	before int  // those that precede the first accumulation
	open   bool // an accumulation was seen
	past   bool // a node was seen that combines no losses
	sums   bool // those that combine losses precede all others
	joins  bool // one of these adds or stacks
	rest   int  // those that follow the last node of a loss; all but accumulations where there is none
	losses int  // nodes of losses
}

// node adds a node by its name.
func (o *nodeOrder) node(name string) {
	o.nodes++
	if !o.open {
		o.before++
	}
	if o.rest++; ofLoss(name) {
		o.rest, o.losses = 0, o.losses+1
	}
	o.joins = o.joins || !o.past && (name == "AddBackward0" || name == "StackBackward0")
	o.past = o.past || !lossArithmetic[name]
	o.sums = o.sums || !o.past
}

func (o *nodeOrder) accumulated() { o.open = true }

// several returns how many of n forward passes, by the counts of nodes, can be micro-batches of
// their own: all or one. Micro-batches have losses of their own, which are added up: an encoder
// that sees several inputs of one loss is one forward pass, and so are several losses of the
// same outputs, which precede all nodes of the model. They share all parameters, and so no
// gradient is complete before backward reaches the first of them; networks that lie beside each
// other complete theirs one after the other.
func (o *nodeOrder) several(n int) int {
	apart := o.open && (o.before+n)*n < (n-1)*o.nodes
	if o.sums && !o.joins || apart || o.losses > 1 && o.jointly(n) {
		return 1
	}
	return n
}

// jointly reports whether more than a tenth over one of n parts of the nodes follow the last
// loss. Behind the loss of the first micro-batch lies only its own forward pass.
func (o *nodeOrder) jointly(n int) bool { return 10*o.rest*n > 11*o.nodes }
