package gradients

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/text"
)

// script writes the host side of training loops on a CPU, one letter a move:
//
//	f  forward operators          b  backward over all parameters, one collective each where reduced
//	B  the same, reduced          h  backward over the last parameter alone (a chunk of the loss)
//	r  backward over the others   t  an all-reduce of one number
//	s  the optimizer              S  another optimizer
//	d  gradients that are spread over four ranks are scaled, each recorded whole and, within, as its shard
type script struct {
	text   strings.Builder
	now    int
	params []string // shapes
	kind   string   // of the gradient collectives
}

func (s *script) event(dur int, name, args string) {
	fmt.Fprintf(&s.text, "1/1 %dus +%dus cpu_op %q %s\n", s.now, dur, name, args)
	s.now += dur + 1
}

func (s *script) accumulate(node string, shapes []string) {
	s.event(3, "autograd::engine::evaluate_function: "+node, "")
	for _, shape := range shapes {
		s.event(3, "torch::autograd::AccumulateGrad", fmt.Sprintf(`dims=[[%s]] type=["float"]`, shape))
	}
}

// reduce asks for one collective of 500 elements under AccumulateGrad.
func (s *script) reduce() {
	fmt.Fprintf(&s.text, "1/1 %dus +20us cpu_op ", s.now)
	s.text.WriteString("\"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad\"\n")
	s.now++
	s.event(3, "record_param_comms", "coll="+s.kind+" in=500 out=500 dtype=Float group=0 gsize=4")
	s.now += 20
}

func (s *script) move(m rune) {
	switch m {
	case 'f':
		s.event(3, "aten::embedding", "")
		s.event(3, "aten::linear", "")
		s.event(3, "aten::linear", "")
		s.event(3, "aten::linear", "")
		s.event(3, "aten::cross_entropy_loss", "")
	case 'b', 'B':
		s.accumulate("NllLossBackward0", s.params)
		if m == 'B' {
			s.reduce()
		}
	case 'h':
		s.accumulate("NllLossBackward0", s.params[len(s.params)-1:])
	case 'r':
		s.accumulate("AddmmBackward0", s.params[:len(s.params)-1])
	case 't':
		s.event(3, "record_param_comms", "coll=allreduce in=1 out=1 dtype=Long group=0 gsize=4")
	case 'd':
		for i, shape := range []string{"25,20", "16", "75,20"} {
			const op = "1/1 %dus +%dus cpu_op %s dims=[[%s],[]] type=[\"float\",\"float\"]\n"
			fmt.Fprintf(&s.text, op, s.now, 20, "aten::mul_", s.params[i])
			fmt.Fprintf(&s.text, op, s.now+1, 18, "PythonSubclass", s.params[i])
			fmt.Fprintf(&s.text, "1/1 %dus +2us cpu_op aten::detach dims=[[%s]] type=[\"float\"]\n", s.now+2, shape)
			fmt.Fprintf(&s.text, op, s.now+6, 2, "aten::mul_", shape)
			s.now += 21
		}
	case 's', 'S':
		name := map[rune]string{'s': "AdamW", 'S': "SGD"}[m]
		fmt.Fprintf(&s.text, "1/1 %dus +20us user_annotation Optimizer.step#%s.step\n", s.now, name)
		s.now++
		for i, shape := range s.params {
			if m == 's' || i == 0 {
				s.event(1, "aten::addcdiv_", fmt.Sprintf(`dims=[[%s]] type=["float"]`, shape))
			}
		}
		s.now += 20
	}
}

// play is the trace of some moves with three parameters.
func play(moves string) string {
	s := script{params: []string{"100,20", "64", "300,20"}, kind: "allreduce"}
	for _, m := range moves {
		s.move(m)
	}
	return s.text.String()
}

// TestAccumulation: steps separated by blanks are only for the eye.
func TestAccumulation(t *testing.T) {
	for _, test := range []struct{ name, moves, want string }{
		{"no optimizer", "fb fb", ""},
		{"an optimizer alone", "s s", "AdamW -1 micro -1; AdamW -1 micro -1"},
		{"one step: what was before it is unknown", "fbs", "AdamW -1 micro -1"},
		{"one micro-batch", "fbs fbs fbs", "AdamW 1 micro 1; AdamW 1 micro 1; AdamW 1 micro 1"},
		{"four micro-batches", "fbfbfbfbs fbfbfbfbs", "AdamW 4 micro 4; AdamW 4 micro 4"},
		{"the first step is cut", "fbs fbfbs fbfbs", "AdamW -1 micro -1; AdamW 2 micro 2; AdamW 2 micro 2"},
		{"a tail without a step", "fbfbs fbfbs fb", "AdamW 2 micro 2; AdamW 2 micro 2"},
		{"the head's loss in two chunks", "fhfhrs fhfhrs", "AdamW 1 micro 1; AdamW 1 micro 1"},
		{"two chunks and two micro-batches", "fhfhrfhfhrs fhfhrfhfhrs", "AdamW 2 micro 2; AdamW 2 micro 2"},
	} {
		var parts []string
		if all := compute(t, play(test.moves)); len(all) == 1 {
			for _, s := range all[0].Steps {
				o := s.PerOptimizer[0]
				parts = append(parts, fmt.Sprintf("%s %d micro %d", o.Name, o.Accumulation, s.MicroBatches))
			}
		}
		if got := strings.Join(parts, "; "); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestSyncPatterns(t *testing.T) {
	for _, test := range []struct {
		name, moves string
		pattern     SyncPattern
		perPass     []int
	}{
		{"no backward", "s s", SyncUnknown, nil},
		{"no collective", "fbfbs fbfbs", SyncNone, []int{0, 0}},
		{"counts alone are no gradients", "fbfbts fbfbts", SyncNone, []int{0, 0}},
		{"one micro-batch", "fBs fBs", SyncEvery, []int{1}},
		{"every", "fBfBs fBfBs", SyncEvery, []int{1, 1}},
		{"last", "fbfbfBs fbfbfBs", SyncLast, []int{0, 0, 1}},
		{"first only: nothing known", "fBfbs fBfbs", SyncUnknown, []int{1, 0}},
		{"most steps decide", "fbfBs fBfBs fbfBs", SyncLast, []int{0, 1}},
	} {
		r := one(t, play(test.moves))
		if r.Sync.Pattern != test.pattern || !slices.Equal(r.Sync.PerPass, test.perPass) {
			t.Errorf("%s: %s %v, want %s %v", test.name, r.Sync.Pattern, r.Sync.PerPass, test.pattern, test.perPass)
		}
	}
}

func TestTokenAllReduce(t *testing.T) {
	for _, test := range []struct {
		name, moves string
		place       TokenPlace
		count       int
	}{
		{"none", "fBs fBs", TokensNowhere, 0},
		{"before the first forward", "tfBs tfBs", TokensBeforeForward, 1},
		{"behind the last backward", "fBts fBts", TokensBeforeScale, 1},
		{"with the loss for the log", "fBtts fBtts", TokensBeforeScale, 2},
		{"before the first of two micro-batches", "tfbfBs tfbfBs", TokensBeforeForward, 1},
	} {
		r := one(t, play(test.moves))
		if r.Tokens.Place != test.place || r.Tokens.PerStep != test.count {
			t.Errorf("%s: %q %d, want %q %d", test.name, r.Tokens.Place, r.Tokens.PerStep, test.place, test.count)
		}
	}
}

// TestShardedPass: a pass over DTensors moves the shards, and is one pass.
func TestShardedPass(t *testing.T) {
	r := compute(t, play("fBds fBds"))[0]
	if len(r.Passes) != 2 {
		t.Fatalf("%d passes", len(r.Passes))
	}
	for _, p := range r.Passes {
		if p.Kind != ScalePass || p.Parameters != 3 || p.Launches != 3 || p.Bytes != 2*r.Params.Bytes/4 {
			t.Errorf("%+v of parameters with %d bytes", p, r.Params.Bytes)
		}
	}
}

// TestReducingRanks: how many ranks reduce, and over how many gradients are sharded;
// replicas of shards are in analyze/rules/testdata/cases/hsdp.txt.
func TestReducingRanks(t *testing.T) {
	for _, test := range []struct {
		name, kind    string
		ranks, shards int64
	}{
		{"DDP", "allreduce", 4, 0},
		{"FSDP", "_reduce_scatter_base", 4, 4},
	} {
		s := script{params: []string{"100,20", "64"}, kind: test.kind}
		for _, m := range "fBsfBs" {
			s.move(m)
		}
		r := one(t, s.text.String())
		if r.Sync.Ranks != test.ranks || r.Sync.Shards != test.shards {
			t.Errorf("%s: %d ranks, %d shards, want %d and %d",
				test.name, r.Sync.Ranks, r.Sync.Shards, test.ranks, test.shards)
		}
	}
}

// TestLeaves: what has a gradient and is no parameter is not counted, but only where
// the optimizers show what they step.
func TestLeaves(t *testing.T) {
	leaf := func(steps string) string {
		s := script{params: []string{"100,20", "64", "300,20"}}
		for _, m := range steps {
			if m == 'l' {
				s.event(3, "torch::autograd::AccumulateGrad", `dims=[[2,8,16]] type=["float"]`)
			} else {
				s.move(m)
			}
		}
		return s.text.String()
	}
	for _, test := range []struct {
		name, source string
		params       int
	}{
		{"parameters alone", leaf("fbs fbs"), 3},
		{"a hidden state beside them", leaf("fbls fbls"), 3},
		{"in one step", leaf("fbls"), 3},
		{"no optimizer", leaf("fbl"), 4},
		{"an optimizer of other operators", strings.ReplaceAll(leaf("fbls fbls"), "aten::addcdiv_", "adam"), 3},
		{"shapes not recorded in the optimizer", dropArgs(leaf("fbls fbls"), "addcdiv_"), 4},
	} {
		if r := one(t, test.source); r.Params.Count != test.params {
			t.Errorf("%s: %d parameters, want %d", test.name, r.Params.Count, test.params)
		}
	}
}

// dropArgs removes the arguments of the events whose line holds a word.
func dropArgs(source, word string) string {
	lines := strings.Split(source, "\n")
	for i, l := range lines {
		if strings.Contains(l, word) {
			lines[i], _, _ = strings.Cut(l, " dims=")
		}
	}
	return strings.Join(lines, "\n")
}

// TestOwners: two optimizers own the parameters whose tensors their spans carry.
func TestOwners(t *testing.T) {
	r := one(t, play("fbs fbsS fbs fbsS"))
	var parts []string
	for _, o := range r.Optimizers {
		parts = append(parts, fmt.Sprintf("%s %v", o.Name, o.Classes))
	}
	// The first parameter is in both optimizers' spans and so in neither's list.
	if got := strings.Join(parts, ", "); got != "AdamW [1 2], SGD []" {
		t.Errorf("owners %s", got)
	}
}

// compute reads a trace in text form and returns what its ranks do with gradients.
func compute(t *testing.T, source string) []*Gradients {
	t.Helper()
	tr, err := text.Read(strings.NewReader(source), "test")
	if err != nil {
		t.Fatal(err)
	}
	var all []*Gradients
	for _, x := range timeline.New(tr).Ranks {
		world := int64(0)
		if d := tr.Meta().Distributed; d != nil {
			world = d.WorldSize
		}
		g, _ := Compute(x, steps.Find(x), FindBackwards(x), world)
		all = append(all, g)
	}
	return all
}

// one is compute for a trace of a single rank.
func one(t *testing.T, source string) *Gradients {
	t.Helper()
	all := compute(t, source)
	if len(all) != 1 {
		t.Fatalf("%d ranks, want 1", len(all))
	}
	return all[0]
}
