package facts_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace/text"
)

// lossTrace is two micro-batches, each with a loss of some arguments and a chain of nodes
// from backward's root to it.
func lossTrace(arguments string, chain ...string) string {
	var b strings.Builder
	b.WriteString("thread 1/1 process=python name=main\n")
	at := 10
	event := func(dur int, rest string) {
		fmt.Fprintf(&b, "1/1 %dus +%dus %s\n", at, dur, rest)
		at += dur + 1
	}
	for range 2 {
		event(5, "cpu_op aten::linear dims=[[8,4],[4,4],[4]] type=[\"float\",\"float\",\"float\"]")
		event(5, "cpu_op aten::cross_entropy_loss "+arguments)
		for _, node := range chain {
			name, inner, _ := strings.Cut(node, " ")
			fmt.Fprintf(&b, "1/1 %dus +9us cpu_op \"autograd::engine::evaluate_function: %s\"\n", at, name)
			if inner != "" {
				fmt.Fprintf(&b, "1/1 %dus +3us cpu_op %s\n", at+1, inner)
			}
			at += 10
		}
		fmt.Fprintf(&b, "1/1 %dus +9us cpu_op ", at)
		b.WriteString("\"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad\"\n")
		fmt.Fprintf(&b, "1/1 %dus +5us cpu_op torch::autograd::AccumulateGrad dims=[[4,4]] type=[\"float\"]\n", at+1)
		at += 10
	}
	event(9, "user_annotation Optimizer.step#AdamW.step")
	return b.String()
}

func TestLoss(t *testing.T) {
	arguments := func(reduction string) string {
		return `dims=[[8,4],[8],[],[],[],[]] concrete=["","","","` + reduction + `","-100","0."]`
	}
	const (
		reciprocal = "X aten::reciprocal dims=[[]] type="
		quotient   = "DivBackward0 aten::div dims=[[],[]] concrete="
		inverse    = "DivBackward0 aten::mul dims=[[],[]] concrete="
	)
	for _, test := range []struct {
		name, arguments string
		chain           []string
		want            string
	}{
		{"nothing recorded", "", []string{"NllLossBackward0"}, "{unknown true false false false NaN}"},
		{"an odd reduction", arguments("7"), []string{"NllLossBackward0"}, "{unknown true false false false NaN}"},
		{"unknown nodes", arguments("2"), []string{"MyLossBackward0", "NllLossBackward0"},
			"{sum false false false false NaN}"},
		{"no loss at all", arguments("0"), []string{"MulBackward0"}, "{none false false false false NaN}"},
		{"mean", arguments("1"), []string{"NllLossBackward0"}, "{mean true false false false NaN}"},
		{"mean times count", arguments("1"), []string{"MulBackward0", "NllLossBackward0"},
			"{mean true true false false NaN}"},
		{"mean times count over all", arguments("1"),
			[]string{"MulBackward0", "NllLossBackward0", reciprocal + `["long int"]`},
			"{mean true true false true NaN}"},
		{"a norm inverted", arguments("1"), []string{"NllLossBackward0", reciprocal + `["float"]`},
			"{mean true false false false NaN}"},
		{"mean over four", arguments("1"), []string{inverse + `["","0.25"]`, "NllLossBackward0"},
			"{mean true false true false 4}"},
		{"mean over four, divided", arguments("1"), []string{quotient + `["","4"]`, "NllLossBackward0"},
			"{mean true false true false 4}"},
		{"of what another node divides by", arguments("1"),
			[]string{`MulBackward0 aten::div concrete=["","8"]`, quotient + `["","4"]`, "NllLossBackward0"},
			"{mean true true true false 4}"},
		{"divided by what is not recorded", arguments("1"), []string{quotient + `["",""]`, "NllLossBackward0"},
			"{mean true false true false NaN}"},
		{"divided by nothing", arguments("1"), []string{inverse + `["","0"]`, "NllLossBackward0"},
			"{mean true false true false NaN}"},
		{"divided twice", arguments("1"),
			[]string{quotient + `["","4"]`, quotient + `["","4"]`, "NllLossBackward0"},
			"{mean true false true false NaN}"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr, err := text.Read(strings.NewReader(lossTrace(test.arguments, test.chain...)), "case")
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(facts.Compute(timeline.New(tr))[0].Loss); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// Losses that are averaged in one micro-batch and summed in the next have no reduction.
func TestLossesOfTwoReductions(t *testing.T) {
	const first, second = `concrete=["","","","1","-100","0."]`, `concrete=["","","","2","-100","0."]`
	source := lossTrace("dims=[[8,4],[8],[],[],[],[]] "+first, "NllLossBackward0")
	at := strings.LastIndex(source, first)
	mixed := source[:at] + second + source[at+len(first):]
	for want, of := range map[facts.LossReduction]string{
		facts.LossUnknown: mixed, "mean": source, "sum": strings.ReplaceAll(source, first, second),
	} {
		tr, err := text.Read(strings.NewReader(of), "case")
		if err != nil {
			t.Fatal(err)
		}
		if got := facts.Compute(timeline.New(tr))[0].Loss.Reduction; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
