package analyze_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/trace/sidecar"
	"github.com/gaprof/gaprof/trace/text"
)

// loop is a training loop to be written as a trace, one step a list of token counts.
type loop struct {
	ranks     int
	steps     [][]int64
	reduction string   // of the cross entropy: 1 mean, 2 sum
	chain     []string // autograd nodes before the loss
	inverted  bool     // a count is inverted in each step
	reduced   bool     // and was reduced over ranks before
	noted     bool     // the trace says how many tokens
}

// write writes the trace of one rank, whose first token counts grow by its number.
func (l *loop) write(rank int) string {
	var b strings.Builder
	b.WriteString("thread 1/1 process=python name=main\n")
	fmt.Fprintf(&b, "distributed backend=nccl rank=%d world_size=%d\n", rank, l.ranks)
	at := 10
	event := func(dur int, format string, args ...any) {
		fmt.Fprintf(&b, "1/1 %dus +%dus %s\n", at, dur, fmt.Sprintf(format, args...))
		at += dur + 1
	}
	for _, micro := range l.steps {
		if l.reduced {
			event(9, "cpu_op record_param_comms coll=allreduce in=1 out=1 dtype=Long group=0 gsize=%d", l.ranks)
		}
		if l.inverted {
			event(3, `cpu_op aten::reciprocal dims=[[]] type=["long int"]`)
		}
		for j, n := range micro {
			if l.noted {
				fmt.Fprintf(&b, "1/1 %dus +30us user_annotation gaprof.tokens=%d\n", at, n)
				at++
			}
			for range 5 {
				event(4, `cpu_op aten::linear dims=[[8,64],[64,64],[64]] type=["float","float","float"]`)
			}
			event(5,
				`cpu_op aten::cross_entropy_loss dims=[[8,64],[8],[],[],[],[]] concrete=["","","","%s","-100","0."]`,
				l.reduction)
			for _, node := range append(l.chain, "NllLossBackward0", "AddmmBackward0") {
				event(9, `cpu_op "autograd::engine::evaluate_function: %s"`, node)
			}
			fmt.Fprintf(&b, "1/1 %dus +20us cpu_op torch::autograd::AccumulateGrad dims=[[64,64]] type=[\"float\"]\n",
				at+1)
			if l.ranks > 1 && j == len(micro)-1 {
				fmt.Fprintf(&b,
					"1/1 %dus +5us cpu_op record_param_comms coll=allreduce "+
						"in=4096 out=4096 dtype=Float group=0 gsize=%d\n",
					at+10, l.ranks)
			}
			event(30, `cpu_op "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"`)
		}
		event(30, "user_annotation Optimizer.step#AdamW.step")
	}
	return b.String()
}

// report analyses the traces of all ranks; tokens of rank r are those of rank 0 plus r.
func (l *loop) report(t *testing.T, o analyze.Options) *report.Report {
	t.Helper()
	return analyze.Run(l.inputs(t), o)
}

// inputs are the traces of all ranks.
func (l *loop) inputs(t *testing.T) []analyze.Input {
	t.Helper()
	var inputs []analyze.Input
	for rank := range l.ranks {
		own := *l
		own.steps = nil
		for _, micro := range l.steps {
			var list []int64
			for _, n := range micro {
				list = append(list, n+int64(rank))
			}
			own.steps = append(own.steps, list)
		}
		tr, err := text.Read(strings.NewReader(own.write(rank)), "case")
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, analyze.Input{File: fmt.Sprintf("rank%d", rank), Trace: tr})
	}
	return inputs
}

func TestNormalizationOfLoops(t *testing.T) {
	mul, div := []string{"MulBackward0"}, []string{"DivBackward0"}
	steps := [][]int64{{30, 10}, {20, 5}}
	for _, test := range []struct {
		name string
		loop loop
		want string
	}{
		{"means", loop{2, steps, "1", div, false, false, true}, "micro_mean 1 trace"},
		{"means times counts, by a count of all", loop{2, steps, "1", mul, true, true, true}, "global  trace"},
		{"means times counts, by one's own", loop{2, steps, "1", mul, true, false, true}, "per_rank 1 trace"},
		{"means times counts, by nothing", loop{2, steps, "1", mul, false, false, true}, "unknown  unknown"},
		{"sums by a count of all", loop{2, steps, "2", nil, true, true, true}, "global  trace"},
		{"sums by one's own", loop{2, steps, "2", nil, true, false, true}, "per_rank 1 trace"},
		{"sums on one rank", loop{1, steps, "2", nil, true, false, true}, "global  trace"},
		{"no counts", loop{2, steps, "1", div, false, false, false}, "unknown  unknown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := test.loop.report(t, analyze.Options{}).Normalization
			if got := fmt.Sprintf("%s %s %s", n.Mode, n.Factor, n.Basis); got != test.want {
				t.Errorf("%s, want %s: %s", got, test.want, n.Evidence)
			}
		})
	}
}

// log is the token log of a run on one rank.
func log(steps ...[]int64) []sidecar.TokenCount {
	var list []sidecar.TokenCount
	for step, micro := range steps {
		for j, n := range micro {
			list = append(list, sidecar.TokenCount{Step: int64(step), MicroBatch: int64(j), Tokens: n, Global: -1})
		}
	}
	return list
}

// The recording begins with the third step of the run: the losses of that step count.
func TestLogsAreAligned(t *testing.T) {
	steps := [][]int64{{30, 10}, {20, 5}}
	l := loop{1, steps, "2", []string{"MulBackward0"}, true, false, true}
	losses := &sidecar.LossLog{Steps: []sidecar.StepLoss{{Step: 0, Optimised: 77}, {Step: 2, Optimised: 1.75}}}
	for j, sum := range []float64{120, 20} {
		losses.Micro = append(losses.Micro,
			sidecar.MicroLoss{Step: 2, MicroBatch: int64(j), Sum: sum, Tokens: -1},
			sidecar.MicroLoss{Step: 0, MicroBatch: int64(j), Sum: 7, Tokens: -1})
	}
	for _, test := range []struct {
		name string
		log  []sidecar.TokenCount
		want string
	}{
		{
			"third step",
			log([]int64{30, 9}, []int64{1, 2}, []int64{30, 10}, []int64{20, 5}, []int64{3, 3}),
			"1/A loss log",
		},
		{"the log ends early", log([]int64{30, 9}, []int64{1, 2}, []int64{30, 10}), "1/A loss log"},
		{"another run", log([]int64{30, 9}, []int64{1, 2}), " trace"},
		{"the second step differs", log([]int64{30, 9}, []int64{1, 2}, []int64{30, 10}, []int64{20, 6}), " trace"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := analyze.Options{
				Logs: analyze.Logs{Tokens: test.log, TokensFrom: "found", TokensFound: true, Losses: losses},
			}
			n := l.report(t, o).Normalization
			if got := n.Factor + " " + n.Basis; got != test.want || *n.Step != 0 {
				t.Errorf("%q of step %d, want %q: %s", got, *n.Step, test.want, n.Evidence)
			}
		})
	}
}

func TestDeclaredNormalization(t *testing.T) {
	l := loop{1, [][]int64{{30, 10}, {30, 10}}, "0", nil, false, false, false}
	n := l.report(t, analyze.Options{Normalization: normalization.MicroMean}).Normalization
	if n.Mode != "micro_mean" || n.Basis != "declared" || n.Declared != "micro_mean" || n.Ratio != nil {
		t.Errorf("%+v", n)
	}
	n = l.report(t, analyze.Options{
		Normalization: normalization.MicroMean,
		Logs:          analyze.Logs{Tokens: log([]int64{30, 10}), TokensFrom: "log"},
	}).Normalization
	if n.Ratio == nil || n.Ratio.Max != 2 || !strings.HasPrefix(n.Evidence, "tokens from log; as declared") {
		t.Errorf("%+v", n)
	}
	// A log of other micro-batches than the trace has says nothing.
	n = l.report(t, analyze.Options{
		Logs: analyze.Logs{Tokens: log([]int64{30, 10, 5}), TokensFrom: "log"},
	}).Normalization
	if n.Step != nil || !strings.Contains(n.Evidence, "no complete step") {
		t.Errorf("%+v", n)
	}
}
