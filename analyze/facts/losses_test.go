package facts

import (
	"fmt"
	"strings"
	"testing"
)

// passes is backward passes of the given nodes, each "node", or "node operator number".
func passes(all ...[]string) string {
	var b strings.Builder
	at := 10
	for _, nodes := range all {
		fmt.Fprintf(&b, "1/1 %dus +5us cpu_op aten::linear dims=[[8,4],[4,4]] type=[\"float\",\"float\"]\n", at)
		at += 10
		for _, words := range nodes {
			node := strings.Fields(words)
			fmt.Fprintf(&b, "1/1 %dus +9us cpu_op \"autograd::engine::evaluate_function: %s\"\n", at, node[0])
			if len(node) == 3 {
				fmt.Fprintf(&b, "1/1 %dus +3us cpu_op %s dims=[[],[]] concrete=[\"\",%q]\n", at+1, node[1], node[2])
			}
			at += 10
		}
		fmt.Fprintf(&b,
			"1/1 %dus +9us cpu_op \"autograd::engine::evaluate_function: torch::autograd::AccumulateGrad\"\n", at)
		fmt.Fprintf(&b, "1/1 %dus +5us cpu_op torch::autograd::AccumulateGrad dims=[[4,4]] type=[\"float\"]\n", at+1)
		at += 20
	}
	fmt.Fprintf(&b, "1/1 %dus +9us user_annotation Optimizer.step#A.step\n", at)
	return b.String()
}

// TestLossOfPasses: what all backward passes have in common is said, and nothing else.
func TestLossOfPasses(t *testing.T) {
	const nll, mul, by4, by5 = "NllLossBackward0", "MulBackward0", "DivBackward0 aten::div 4",
		"DivBackward0 aten::div 5"
	views := func(n int) []string { return strings.Fields(strings.Repeat("ViewBackward0 ", n)) }
	for _, test := range []struct {
		name   string
		passes [][]string
		want   string
	}{
		{"plain", [][]string{{nll}, {nll}}, "known true, multiplied false, divided false by NaN"},
		{"all divided", [][]string{{by4, nll}, {by4, nll}}, "known true, multiplied false, divided true by 4"},
		{"divided by others", [][]string{{by4, nll}, {by5, nll}}, "known true, multiplied false, divided true by NaN"},
		{"the third by another", [][]string{{by4, nll}, {by4, nll}, {by5, nll}},
			"known true, multiplied false, divided true by NaN"},
		{"one divided", [][]string{{by4, nll}, {nll}}, "known false, multiplied false, divided false by NaN"},
		{"the second divided", [][]string{{nll}, {by4, nll}}, "known false, multiplied false, divided false by NaN"},
		{"the second multiplied", [][]string{{nll}, {mul, nll}}, "known false, multiplied false, divided false by NaN"},
		{"all multiplied and divided", [][]string{{mul, by5, nll}, {mul, by5, nll}},
			"known true, multiplied true, divided true by 5"},
		{"the second unknown", [][]string{{nll}, {"MyBackward", nll}},
			"known false, multiplied false, divided false by NaN"},
		{"eight nodes", [][]string{append(views(7), nll)}, "known true, multiplied false, divided false by NaN"},
		{"nine nodes", [][]string{append(views(8), nll)}, "known false, multiplied false, divided false by NaN"},
		{"sums and casts", [][]string{{"AddBackward0", "ToCopyBackward0", nll}},
			"known true, multiplied false, divided false by NaN"},
		{"the inverse", [][]string{{"DivBackward0 aten::mul 0.5", nll}},
			"known true, multiplied false, divided true by 2"},
		{"another operator", [][]string{{"DivBackward0 aten::sum 0.5", nll}},
			"known true, multiplied false, divided true by NaN"},
		{"by nothing", [][]string{{"DivBackward0 aten::div 0", nll}},
			"known true, multiplied false, divided true by NaN"},
		{"by no number", [][]string{{"DivBackward0 aten::div x", nll}},
			"known true, multiplied false, divided true by NaN"},
	} {
		l := one(t, passes(test.passes...)).Loss
		got := fmt.Sprintf("known %t, multiplied %t, divided %t by %v", l.Known, l.Multiplied, l.Divided, l.Divisor)
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
