package gradients

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// letters are the operations that cut writes, by what they do:
//
//	n norm            m product by a tensor     k by a number         w by a whole number
//	p product into another tensor, of a gradient's shape; P of another
//	c a number is limited to one                C to ten
//	r a count is read or inverted               i another number is inverted
//	S tokens are counted                        s what is counted has the shape of a gradient
//	d subtracted from one                       + another tensor is added
//	z zeros  f fill  j join  L a loss that is a mean
var letters = map[byte]operation{
	'n': {family: norm}, 'm': {family: multiply, tensor: true}, 'k': {family: multiply},
	'w': {family: multiply, tensor: true, whole: true}, 'p': {family: product, tensor: true},
	'P': {family: product, tensor: true}, 'c': {family: clampFactor, factor: "1."},
	'C': {family: clampFactor, factor: "10"}, 'r': {family: countMade}, 'i': {family: inverse},
	'S': {family: countSummed}, 's': {family: countSummed}, 'd': {family: decayMade}, '+': {family: adjust},
	'z': {family: zeroFill}, 'f': {family: fill}, 'j': {family: join}, 'L': {family: meanLoss},
	'x': {family: noFamily}, 'a': {family: reduceAll},
}

// cut cuts operations into runs, each a letter and the sizes of its tensors. Between them F, B
// and A say where the next ones stand: before backward, inside it and after it.
func cut(params *Params, byHand []int64, operations string) string {
	w := &window{backwards: []Backward{{Start: 1, FromLoss: true}, {Start: 2}}, byHand: byHand}
	w.params = (&matcher{params: params}).shapeCounts()
	c := cutter{window: w, signs: make(map[region]*signs)}
	at := region{AfterBackward, 1}
	for i, word := range strings.Fields(operations) {
		switch word {
		case "F":
			at = region{}
			continue
		case "B":
			at = region{InBackward, 1}
			continue
		case "A":
			at = region{AfterBackward, 1}
			continue
		}
		t := letters[word[0]]
		t.start = int64(10 + i)
		if len(word) > 1 {
			t.of = &timeline.Operand{}
			for _, n := range strings.Split(word[1:], ",") {
				var numel int64
				fmt.Sscan(n, &numel)
				t.of.Shapes = append(t.of.Shapes, []int64{numel})
			}
		}
		c.take(t, at)
	}
	var parts []string
	for _, r := range append(c.done, c.open...) {
		parts = append(parts, r.text())
	}
	return strings.Join(parts, " ")
}

// text is a run in short: what it does, to how many tensors, and what is known of it.
func (g *run) text() string {
	var b strings.Builder
	fmt.Fprint(&b, familyNames[g.family], len(g.operations))
	for _, flag := range []struct {
		is   bool
		name string
	}{
		{g.afterNorm, "norm"}, {g.limited, "limited"}, {g.counted, "counted"}, {g.decays, "decays"},
		{g.averages, "averages"}, {g.updates != 0, fmt.Sprint("updates", g.updates)},
	} {
		if flag.is {
			b.WriteString("+" + flag.name)
		}
	}
	return b.String()
}

// TestRuns: how the operations of a step are cut into runs, and what is known of each by what
// precedes it.
func TestRuns(t *testing.T) {
	five := classesOf([2]int64{1, 10}, [2]int64{1, 20}, [2]int64{1, 30}, [2]int64{1, 40}, [2]int64{1, 50})
	four := classesOf([2]int64{1, 10}, [2]int64{1, 20}, [2]int64{1, 30}, [2]int64{1, 40})
	for _, test := range []struct {
		what       string
		params     *Params
		operations string
		want       string
	}{
		{"products", five, "m10 m20", "multiply2"},
		{"one tensor again", five, "m10 m20 m10", "multiply2 multiply1"},
		{"norms, then products", five, "n10 n20 m10 m20", "norm2 multiply2+norm"},
		{"norms end what precedes them", five, "m10 n10 n20 m20", "multiply1 norm2 multiply1+norm"},
		{"but not in other places", five, "B m10 A m10 n10 B m20", "multiply1 multiply2 norm1"},
		{"a norm between norms is one of them", five, "n10 m10 n20 m20", "norm2 multiply2+norm"},
		{"limited to one", five, "m10 c m20", "multiply1 multiply1+norm"},
		{"limited to ten", five, "m10 C m20", "multiply1 multiply1"},
		{"norms, limited to one", five, "n10 n20 c m10 m20", "norm2 multiply2+norm+limited"},
		{"norms, limited to ten", five, "n10 n20 C m10 m20", "norm2 multiply2+norm"},
		{"zeros between", five, "n10 c z10 m10 m20", "norm1 zero1 multiply2+norm+limited"},
		{"zeros between, limited to ten", five, "n10 C z10 m10", "norm1 zero1 multiply1+norm"},
		{"the second one only scales", five, "n10 c m10 m10", "norm1 multiply1+norm+limited multiply1"},
		{"a count", five, "r m10 m20", "multiply2+counted"},
		{"each count is of one run", five, "r m10 m20 m10", "multiply2+counted multiply1"},
		{"a number inverted in a step that counts", five, "S i m10 m20 m10", "multiply2+counted multiply1"},
		{"a number inverted", five, "i m10", "multiply1"},
		{"a count before backward", five, "F r A m10 m10", "multiply1+counted multiply1+counted"},
		{"a mean has none", five, "L r m10", "multiply1"},
		{"a loss in backward of another pass", five, "L F r A m10", "multiply1"},
		{"a number subtracted from one", five, "d m10 m20 m10", "multiply2+decays multiply1"},
		{"averages of weights", five, "m10 +10 m20 +20", "multiply2+updates2"},
		{"sums of another tensor", five, "m10 +20 m20 +10", "multiply2"},
		{"sums of a list", five, "m10,20 +10,20", "multiply1+updates2"},
		{"sums of a shorter list", five, "m10,20 +10", "multiply1"},
		{"sums of another list", five, "m10,20 +20,10", "multiply1"},
		{"sums of nothing that is known", five, "m + m10 +", "multiply2"},
		{"sums in another place", five, "m10 B +10", "multiply1"},
		{"sums after zeros", five, "m10 z20 +10", "multiply1+updates1 zero1"},
		{"sums after no product", five, "z10 +10 n10 +10", "zero1 norm1"},
		{"sums after the later of two", five, "m10 k20 +20 m30 +30", "multiply2+updates1 multiply1+updates1"},
		{"of which the first is older", five, "m10 k20 +10", "multiply1 multiply1"},
		{"products into other tensors", five, "p10 P7 p20", "product2"},
		{"what is no part of a pass", five, "f10 j10 x10 a10 S10 i d r L", ""},
		{"which gradients are finite, of each", five, "s10 s20 s30 r m10", "multiply1"},
		{"of most", four, "s10 s20 r m10", "multiply1"},
		{"of few: tokens", five, "s10 s20 r m10", "multiply1+counted"},
		{"of one: tokens", five, "s10 r m10", "multiply1+counted"},
		{"of few, by a number inverted", five, "s10 s20 i m10", "multiply1+counted"},
		{"of few, by a whole number", five, "s10 w10", "multiply1+counted"},
		{"of most, by a whole number", four, "s10 s20 w10", "multiply1"},
		{"of few, and nothing is read", five, "s10 m10", "multiply1"},
		{"of gradients' shape in backward: tokens", five, "B s10 A w10", "multiply1+counted"},
		{"read before what is finite", five, "r s10 s20 s30 m10", "multiply1+counted"},
	} {
		if got := cut(test.params, nil, test.operations); got != test.want {
			t.Errorf("%s, %s: %s, want %s", test.what, test.operations, got, test.want)
		}
	}
}

// TestAveragesByHand: a number of the program multiplies gradients that the loop itself has just
// reduced: that makes their mean.
func TestAveragesByHand(t *testing.T) {
	params := classesOf([2]int64{1, 10}, [2]int64{1, 20})
	for _, test := range []struct {
		what       string
		operations string
		want       string
	}{
		{"by a number", "k10 k20", "multiply2+averages"},
		{"by a whole number", "w10 w20", "multiply2+averages"},
		{"by a tensor", "m10 m20", "multiply2"},
		{"into other tensors", "p10 p20", "product2"},
		{"only the first", "k10 k20 k10", "multiply2+averages multiply1"},
		{"zeros before", "z10 k10", "zero1 multiply1+averages"},
		{"by a count", "r k10 k20", "multiply2+counted"},
		{"in backward", "B k10 k20", "multiply2"},
	} {
		if got := cut(params, []int64{5}, test.operations); got != test.want {
			t.Errorf("%s, %s: %s, want %s", test.what, test.operations, got, test.want)
		}
	}
	for _, at := range []int64{1, 12} { // before the last backward pass, and after the product
		if got := cut(params, []int64{at}, "k10 k20"); got != "multiply2" {
			t.Errorf("reduced at %d: %s", at, got)
		}
	}
}
