package gradients

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// fewOperators is how many forward operators may lie between two backward passes over one graph
// of which nothing else tells: the gradient that a pass begins with, and what is logged.
const fewOperators = 3

// graphCounter counts the graphs that backward passes run over. A retained graph is run over
// again, from another loss.
type graphCounter struct {
	x       *timeline.Rank
	forward []int64      // starts of forward operators, ascending
	supply  *graphSupply // made when it is needed
}

// count returns over how many graphs the backward passes of one step run. start is where the
// first graph may begin at the earliest.
func (c *graphCounter) count(passes []Backward, start int64) int {
	fresh := make([]bool, len(passes))
	n, last, from := 0, 0, start
	for i := range passes {
		operators := steps.CountIn(c.forward, from, passes[i].Start)
		from = passes[i].End
		again := i > 0 && passes[i].Nodes == passes[i-1].Nodes // of forward passes that all came first
		fresh[i] = i == 0 || again || operators > fewOperators || 4*operators >= last
		if i > 0 && fresh[i] && (again || 10*operators < 9*last) {
			fresh[i] = !c.short(passes[:i+1], fresh, start)
		}
		if fresh[i] {
			n++
			last = operators
		}
	}
	return n
}

// short reports whether the last of some backward passes has more nodes than operators have left
// since start that earlier passes did not run back through: then it runs over one of their
// graphs. The names of two thirds of the nodes must tell the operators.
func (c *graphCounter) short(passes []Backward, fresh []bool, start int64) bool {
	if c.supply == nil {
		c.supply = newGraphSupply(c.x)
	}
	s := c.supply
	left := make([]int, s.kinds)
	for i := range passes {
		s.add(left, s.operators, start, passes[i].Start, 1)
		start = passes[i].End
		if i == len(passes)-1 {
			break
		}
		if fresh[i] {
			s.add(left, s.nodes, passes[i].Start, passes[i].End, -1)
		}
	}
	last := &passes[len(passes)-1]
	need := make([]int, s.kinds)
	s.add(need, s.nodes, last.Start, last.End, 1)
	known, missing := 0, 0
	for kind, n := range need {
		known += n
		missing += max(0, n-left[kind])
	}
	return known > 0 && 2*missing >= known && 3*known >= 2*s.allNodes(last)
}

// graphSupply is the nodes of a rank and the forward operators that leave such nodes.
type graphSupply struct {
	x                *timeline.Rank
	kinds            int
	operators, nodes []made // in order of start
}

// made is an operator, or a node that operators of its kind leave.
type made struct {
	start int64
	kind  int
}

// newGraphSupply lists the nodes whose names are those of operators of the trace, and these.
func newGraphSupply(x *timeline.Rank) *graphSupply {
	s := &graphSupply{x: x}
	nodes, operators := make(map[trace.StringID]int), make(map[trace.StringID]int)
	for _, n := range x.Nodes {
		id := x.Col.Name[n.Row]
		if _, known := nodes[id]; !known {
			nodes[id] = s.kind(timeline.NodeName(x.Name(n.Row)), operators)
		}
		if kind := nodes[id]; kind >= 0 && !x.Accumulates(n.Row) {
			s.nodes = append(s.nodes, made{n.Start, kind})
		}
	}
	x.Each(x.Host, timeline.AtenOp, func(row int32) {
		if kind, ok := operators[x.Col.Name[row]]; ok && !x.InBackward(row) {
			s.operators = append(s.operators, made{x.Col.Start[row], kind})
		}
	})
	slices.SortFunc(s.operators, func(a, b made) int { return cmp.Compare(a.start, b.start) })
	return s
}

// kind numbers the operators of the trace that leave a node, by its name; -1 if there are none.
func (s *graphSupply) kind(node string, operators map[trace.StringID]int) int {
	name, ok := operatorOf(node)
	if !ok {
		return -1
	}
	found := -1
	for _, operator := range []string{"aten::" + name, "aten::_" + name, "aten::" + name + "_"} {
		id, ok := s.x.Trace.Find(operator)
		if !ok {
			continue
		}
		if kind, known := operators[id]; known { // AddBackward0 and AddBackward1 are of one operator
			return kind
		}
		if found < 0 {
			found = s.kinds
			s.kinds++
		}
		operators[id] = found
	}
	return found
}

// operatorOf returns the name of the operator that leaves a node: NativeLayerNormBackward0 is
// left by native_layer_norm.
func operatorOf(node string) (string, bool) {
	name := strings.TrimRight(node, "0123456789")
	name, ok := strings.CutSuffix(name, "Backward")
	if !ok || name == "" || strings.HasSuffix(node, "Backward") {
		return "", false
	}
	var b strings.Builder
	for i, r := range name {
		if 'A' <= r && r <= 'Z' {
			if r += 'a' - 'A'; i > 0 {
				b.WriteByte('_')
			}
		}
		b.WriteRune(r)
	}
	return b.String(), true
}

// add adds so many times how many of a list, by kind, begin in [start, end); no count becomes
// less than 0.
func (s *graphSupply) add(counts []int, list []made, start, end int64, times int) {
	for i := sort.Search(len(list), func(i int) bool { return list[i].start >= start }); i < len(list); i++ {
		if list[i].start >= end {
			return
		}
		counts[list[i].kind] = max(0, counts[list[i].kind]+times)
	}
}

// allNodes counts the nodes of a backward pass, accumulations aside.
func (s *graphSupply) allNodes(b *Backward) (n int) {
	list := s.x.Nodes
	for i := sort.Search(len(list), func(i int) bool { return list[i].Start >= b.Start }); i < len(list); i++ {
		if list[i].Start >= b.End {
			break
		}
		if !s.x.Is(list[i].Row, timeline.AccumulateGrad) {
			n++
		}
	}
	return n
}
