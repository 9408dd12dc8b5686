package gradients

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/trace"
)

const evaluate = "autograd::engine::evaluate_function: "

// TestRoots: what a backward pass begins at, by its first node.
func TestRoots(t *testing.T) {
	for node, want := range map[string]string{
		"NllLossBackward0": "loss", "BinaryCrossEntropyWithLogitsBackward0": "loss", "MseLossBackward0": "loss",
		"SmoothL1LossBackward0": "loss", "HuberLossBackward0": "loss", "MeanBackward0": "mean", "MeanBackward1": "mean",
		"SumBackward0": "sum", "MulBackward0": "product", "DivBackward0": "product", "AddBackward0": "",
		"MmBackward0":  "",
		"LossBackward": "",
	} {
		b := FindBackwards(rankOf(t,
			fmt.Sprintf("1/1 10 +5 cpu_op %q\n1/1 20 +5 cpu_op %s dims=[[8]] type=[\"float\"]\n",
				evaluate+node, accumulateGrad))).List
		if len(b) != 1 {
			t.Fatalf("%s: %d passes", node, len(b))
		}
		var words []string
		for i, is := range []bool{b[0].FromLoss, b[0].FromMean, b[0].FromSum, b[0].FromProduct} {
			if is {
				words = append(words, []string{"loss", "mean", "sum", "product"}[i])
			}
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%s: %q, want %q", node, got, want)
		}
	}
}

// TestBackwards: the passes of a trace, what each accumulates, and of how many parameters.
func TestBackwards(t *testing.T) {
	node := func(at int, name string) string { return fmt.Sprintf("1/1 %d +5 cpu_op %q\n", at, evaluate+name) }
	grad := func(at, numel int, inside ...string) string {
		s := fmt.Sprintf("1/1 %d +5 cpu_op %s dims=[[%d]] type=[\"float\"]\n", at, accumulateGrad, numel)
		for i, name := range inside {
			s += fmt.Sprintf("1/1 %d +1 cpu_op %s\n", at+1+i, name)
		}
		return s
	}
	around := func(at, length int) string {
		return fmt.Sprintf("1/1 %d +%d cpu_op %q\n", at, length, evaluate+accumulateGrad)
	}
	forward := func(at int) string { return fmt.Sprintf("1/1 %d +1 cpu_op aten::linear\n", at) }
	for _, test := range []struct{ what, source, want string }{
		{"one parameter alone", grad(10, 8), "[10,15) of [10,15) 1 added 0; 1 params"},
		{"two, and a node", node(10, "MmBackward0") + grad(20, 8) + grad(30, 9),
			"[10,35) of [20,35) 1,1 added 0,0; 2 params"},
		{"nothing accumulated", node(10, "MmBackward0"), "; 0 params"},
		{"two passes", grad(10, 8) + forward(20) + grad(30, 8), "[10,15) of [10,15) 1 added 0, [30,35) of [30,35) " +
			"1 added 0; 1 params"},
		{"no forward between", grad(10, 8) + grad(30, 8), "[10,35) of [10,35) 2 added 0; 2 params"},
		{"a forward operator inside", node(10, "MmBackward0") + forward(12) + grad(20, 8),
			"[10,25) of [20,25) 1 added 0; 1 params"},
		{"a message between", grad(10, 8) + "1/1 20 +1 cpu_op record_param_comms coll=send in=8 out=8\n" +
			grad(30, 8), "[10,15) of [10,15) 1 added 0, [30,35) of [30,35) 1 added 0; 1 params"},
		{"added to", grad(10, 8, "aten::add_"), "[10,15) of [10,15) 1 added 1; 1 params"},
		{"added to, and another set", grad(10, 8, "aten::add_") + grad(20, 9), "[10,25) of [10,25) 1,1 added 1,0; " +
			"2 params"},
		{"a sum after it", grad(10, 8) + "1/1 15 +1 cpu_op aten::add_\n", "[10,15) of [10,15) 1 added 0; 1 params"},
		{"set alone", grad(10, 8, "aten::detach"), "[10,15) of [10,15) 1 added 0 plain; 1 params"},
		{"set, and more", grad(10, 8, "aten::detach", "aten::mul"), "[10,15) of [10,15) 1 added 0; 1 params"},
		{"set after more", grad(10, 8, "aten::mul", "aten::detach"), "[10,15) of [10,15) 1 added 0; 1 params"},
		{"one set, the other not", grad(10, 8, "aten::detach") + grad(20, 9), "[10,25) of [10,25) 1,1 added 0,0; " +
			"2 params"},
		{"one not, the other set", grad(10, 8) + grad(20, 9, "aten::detach"), "[10,25) of [10,25) 1,1 added 0,0; " +
			"2 params"},
		{"set, and a hook after it", around(10, 20) + grad(12, 8, "aten::detach") + "1/1 20 +1 cpu_op aten::mul_\n",
			"[10,30) of [12,17) 1 added 0; 1 params"},
		{"set, and something after it", around(10, 8) + grad(12, 8, "aten::detach") + "1/1 20 +1 cpu_op aten::mul_\n",
			"[10,18) of [12,17) 1 added 0 plain; 1 params"},
		{"a long first one", "1/1 10 +40 cpu_op " + accumulateGrad + " dims=[[8]] type=[\"float\"]\n" +
			"1/2 20 +5 cpu_op " + accumulateGrad + " dims=[[9]] type=[\"float\"]\n",
			"[10,50) of [10,50) 1,1 added 0,0; 2 params"},
	} {
		found := FindBackwards(rankOf(t, test.source+"1/1 400 +9 user_annotation Optimizer.step#A.step\n"))
		list := func(n []int) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(n), " ", ","), "[]") }
		var parts []string
		for _, b := range found.List {
			text := fmt.Sprintf("[%d,%d) of [%d,%d) %s added %s", b.Start, b.End, b.First, b.Last, list(b.Accumulated),
				list(b.Added))
			if b.Plain {
				text += " plain"
			}
			parts = append(parts, text)
			if sum := total(b.Added); sum != b.InPlace {
				t.Errorf("%s: %d in place, %d added", test.what, b.InPlace, sum)
			}
		}
		got := fmt.Sprintf("%s; %d params", strings.Join(parts, ", "), found.Params.Count)
		if got != test.want {
			t.Errorf("%s: %s\nwant %s", test.what, got, test.want)
		}
	}
}

// TestEqualPasses: equal passes have equal hashes of their nodes; another order, or one node more,
// is another pass.
func TestEqualPasses(t *testing.T) {
	hash := func(nodes string) uint64 {
		source := "" // every name of the trace in one order
		for i, name := range "abc" + nodes {
			source += fmt.Sprintf("1/1 %d +5 cpu_op %q\n", 10*i, evaluate+"N"+string(name)+"Backward0")
			if i == 2 {
				source += "1/1 28 +1 cpu_op aten::linear\n"
			}
		}
		source += fmt.Sprintf("1/1 500 +5 cpu_op %s dims=[[8]] type=[\"float\"]\n", accumulateGrad)
		return FindBackwards(rankOf(t, source)).List[0].Nodes
	}
	seen := make(map[uint64]string)
	for _, nodes := range []string{"", "a", "b", "aa", "ab", "ba", "aab", "aba", "baa", "abc", "cba", "cab", "aaa"} {
		h := hash(nodes)
		if other, known := seen[h]; known || h != hash(nodes) {
			t.Errorf("%q is as %q", nodes, other)
		}
		seen[h] = nodes
	}
}

// TestJoined: passes that reach less than half of the parameters are joined with the next one of
// their step.
func TestJoined(t *testing.T) {
	s := steps.Find(rankOf(t, "1/1 0 +1 cpu_op begin\n1/1 100 +10 user_annotation Optimizer.step#A.step\n"+
		"1/1 200 +10 user_annotation Optimizer.step#A.step\n"))
	at := func(start int64, accumulated ...int) Backward {
		return Backward{Start: start, End: start + 5, Accumulated: accumulated, Added: make([]int, len(accumulated))}
	}
	params := classesOf([2]int64{1, 10}, [2]int64{1, 20}, [2]int64{1, 30}, [2]int64{1, 40})
	for _, test := range []struct {
		what   string
		passes []Backward
		want   string
	}{
		{"whole ones", []Backward{at(10, 1, 1, 1, 1), at(20, 1, 1, 1, 1)}, "10-15 20-25"},
		{"a part and the rest", []Backward{at(10, 1), at(20, 0, 1, 1, 1)}, "10-25"},
		{"a half and the rest", []Backward{at(10, 1, 1), at(20, 0, 0, 1, 1)}, "10-15 20-25"},
		{"two parts of a half, and all", []Backward{at(10, 1), at(20, 0, 1), at(30, 1, 1, 1, 1)}, "10-25 30-35"},
		{"the same part twice", []Backward{at(10, 1), at(20, 1), at(30, 1, 1, 1, 1)}, "10-35"},
		{"the last one", []Backward{at(10, 1, 1, 1, 1), at(20, 1)}, "10-15 20-25"},
		{"of another step", []Backward{at(10, 1), at(120, 1, 1, 1, 1)}, "10-15 120-125"},
	} {
		var got []string
		for _, b := range joinPartial(test.passes, params, s) {
			got = append(got, fmt.Sprintf("%d-%d", b.Start, b.End))
			if joined := b.End > b.Start+5; joined != (b.Added == nil) {
				t.Errorf("%s: added %v", test.what, b.Added)
			}
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: %s, want %s", test.what, text, test.want)
		}
	}
}

// TestCommonCount: how many forward passes a backward pass runs back through, by how many of each
// node there are.
func TestCommonCount(t *testing.T) {
	names := []string{"NllLossBackward0", "CrossEntropyBackward0", "AddmmBackward0", "GeluBackward0"}
	for name := range lossArithmetic {
		names = append(names, name)
	}
	slices.Sort(names)
	source := ""
	for i, name := range names {
		source += fmt.Sprintf("1/1 %d +1 cpu_op %q\n", 10*i, evaluate+name)
	}
	x := rankOf(t, source)
	ids := func(counts map[string]int) map[trace.StringID]int {
		all := make(map[trace.StringID]int)
		for name, n := range counts {
			id, ok := x.Trace.Find(evaluate + name)
			if !ok {
				t.Fatal(name)
			}
			all[id] = n
		}
		return all
	}
	for name := range lossArithmetic {
		counts := map[string]int{name: 1, "NllLossBackward0": 2, "AddmmBackward0": 4}
		if got := commonCount(x, ids(counts), []int{4}); got != 2 {
			t.Errorf("beside one %s: %d", name, got)
		}
	}
	for _, test := range []struct {
		what        string
		counts      map[string]int
		accumulated []int
		want        int
	}{
		{"nothing", nil, nil, 1},
		{"one name says nothing", map[string]int{"AddmmBackward0": 2}, []int{1}, 1},
		{"two names", map[string]int{"NllLossBackward0": 2, "AddmmBackward0": 2}, []int{4}, 2},
		{"an entropy", map[string]int{"CrossEntropyBackward0": 2, "AddmmBackward0": 4}, []int{4}, 2},
		{"losses once more", map[string]int{"NllLossBackward0": 3, "AddmmBackward0": 4}, []int{4}, 1},
		{"layers without a loss", map[string]int{"GeluBackward0": 4, "AddmmBackward0": 4}, []int{4, 8}, 1},
		{"no layers, and no loss", map[string]int{"GeluBackward0": 4, "AddmmBackward0": 4}, []int{3}, 4},
		{"nothing but sums of losses", map[string]int{"AddBackward0": 2, "MeanBackward0": 4}, []int{1}, 2},
		{"of a middle stage, of different numbers", map[string]int{"GeluBackward0": 3, "AddmmBackward0": 6}, []int{4},
			3},
	} {
		if got := commonCount(x, ids(test.counts), test.accumulated); got != test.want {
			t.Errorf("%s: %d, want %d", test.what, got, test.want)
		}
	}
	var o nodeOrder
	for _, name := range []string{"NllLossBackward0", "AddmmBackward0", "NllLossBackward0", "GeluBackward0",
		"MmBackward0"} {
		o.node(name)
	}
	if o.nodes != 5 || o.before != 5 || o.losses != 2 || o.rest != 2 {
		t.Errorf("%+v", o)
	}
}

// TestForwardOperators: which operators are of forward passes: outermost ones, outside backward,
// optimizer and framework, or in the closure of an optimizer.
func TestForwardOperators(t *testing.T) {
	const backward = "1/1 200 +50 cpu_op \"" + evaluate + "MmBackward0\"\n"
	const update = "1/1 300 +50 user_annotation Optimizer.step#A.step\n"
	for _, test := range []struct{ what, rows, want string }{
		{"outermost", "1/1 10 +5 cpu_op aten::linear\n1/1 11 +2 cpu_op aten::addmm\n1/1 20 +1 cpu_op aten::relu\n",
			"[10 20]"},
		{"in a part of the model", "1/1 10 +5 user_annotation part\n1/1 11 +2 cpu_op aten::addmm\n", "[11]"},
		{"in backward", "1/1 201 +2 cpu_op aten::mm\n", "[]"},
		{"in an accumulation", "1/1 260 +9 cpu_op " + accumulateGrad + "\n1/1 261 +2 cpu_op aten::mm\n", "[]"},
		{"in a node", "1/1 260 +9 cpu_op MmBackward0\n1/1 261 +2 cpu_op aten::mm\n", "[]"},
		{"in the optimizer", "1/1 301 +2 cpu_op aten::mul_\n", "[]"},
		{"in DDP", "1/1 10 +9 cpu_op DistributedDataParallel.forward\n1/1 11 +2 cpu_op aten::copy_\n", "[]"},
		{"of another thread", "1/2 10 +5 cpu_op aten::linear\n", "[]"},
		{"out of order", "1/1 30 +1 cpu_op aten::relu\n1/1 10 +1 cpu_op aten::linear\n", "[10 30]"},
	} {
		if got := fmt.Sprint(forwardStarts(rankOf(t, backward+update+test.rows))); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
	const closure = "1/1 300 +90 user_annotation Optimizer.step#LBFGS.step\n1/1 305 +1 cpu_op aten::linear\n" +
		"1/1 310 +20 cpu_op \"" + evaluate + "MmBackward0\"\n1/1 312 +1 cpu_op aten::mm\n1/1 350 +1 cpu_op aten::add_\n"
	if got := fmt.Sprint(forwardStarts(rankOf(t, closure))); got != "[305]" {
		t.Errorf("in a closure: %s", got)
	}
}

// TestMessagesOfTheLoop: what the loop itself sends and reduces between two nodes.
func TestMessagesOfTheLoop(t *testing.T) {
	const backward = "1/2 200 +50 cpu_op \"" + evaluate + "MmBackward0\"\n"
	const update = "1/1 300 +50 user_annotation Optimizer.step#A.step\n"
	for _, test := range []struct{ what, rows, want string }{
		{"of the loop", "1/1 100 +5 cpu_op record_param_comms\n1/1 20 +5 cpu_op record_param_comms\n", "[20 100]"},
		{"in the optimizer", "1/1 301 +5 cpu_op record_param_comms\n", "[]"},
		{"of FSDP", "1/1 100 +9 user_annotation \"FSDP::pre_forward (0)\"\n1/1 101 +5 cpu_op record_param_comms\n",
			"[]"},
		{"on a thread of backward", "1/2 201 +5 cpu_op record_param_comms\n", "[]"},
	} {
		if got := fmt.Sprint(messageStarts(rankOf(t, backward+update+test.rows))); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}
