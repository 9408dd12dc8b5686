package gradients

import (
	"testing"
)

// TestLossFamily: PyTorch's reductions by the signatures of its operators: where the argument
// stands, 0 is none, 1 the mean, 2 the sum.
func TestLossFamily(t *testing.T) {
	for name, before := range map[string][]string{
		"aten::cross_entropy_loss":               {"self", "target", "weight"},
		"aten::nll_loss_nd":                      {"self", "target", "weight"},
		"aten::binary_cross_entropy":             {"self", "target", "weight"},
		"aten::binary_cross_entropy_with_logits": {"self", "target", "weight", "pos_weight"},
		"aten::mse_loss":                         {"self", "target"},
		"aten::l1_loss":                          {"self", "target"},
		"aten::smooth_l1_loss":                   {"self", "target"},
		"aten::huber_loss":                       {"self", "target"},
	} {
		for value, want := range map[string]family{"0": noFamily, "1": meanLoss, "2": sumLoss, "": noFamily} {
			arguments := append(make([]string, len(before)), value, "-100", "0.")
			if got := lossFamily(name, arguments); got != want {
				t.Errorf("%s with %q: family %d, want %d", name, value, got, want)
			}
			if got := lossFamily(name, arguments[:len(before)]); got != noFamily {
				t.Errorf("%s without the argument: family %d", name, got)
			}
		}
	}
}

// TestFromCount: what says that a product's factor comes from a count, and that a mean has
// nothing to be divided by whatever else is there.
func TestFromCount(t *testing.T) {
	number, whole := operation{tensor: true}, operation{tensor: true, whole: true}
	known, quotient := operation{factor: "0.5"}, operation{tensor: true, divides: true}
	for _, c := range []struct {
		name    string
		t       operation
		first   Backward
		loss    lossSigns
		s       signs
		numbers []int64
		want    bool
	}{
		{"nothing", number, Backward{}, lossSigns{}, signs{}, nil, false},
		{"a count right before it", number, Backward{}, lossSigns{}, signs{counted: true}, nil, true},
		{"a count, and a mean", number, Backward{}, lossSigns{mean: true}, signs{counted: true}, nil, false},
		{"a count, from a mean", number, Backward{FromMean: true}, lossSigns{}, signs{counted: true}, nil, false},
		{"a whole number", whole, Backward{}, lossSigns{}, signs{}, nil, false},
		{"a whole number in a step that counts", whole, Backward{}, lossSigns{summed: true}, signs{}, nil, true},
		{"a number in a step that counts", number, Backward{}, lossSigns{summed: true}, signs{}, nil, false},
		{"an inverse in a step that counts", number, Backward{}, lossSigns{summed: true}, signs{inverted: true}, nil,
			true},
		{"an inverse", number, Backward{}, lossSigns{}, signs{inverted: true}, nil, false},
		{"an inverse after a number was reduced", number, Backward{Last: 10}, lossSigns{}, signs{inverted: true},
			[]int64{15}, true},
		{"an inverse, and one reduced before", number, Backward{Last: 10}, lossSigns{}, signs{inverted: true},
			[]int64{5}, false},
		{"an inverse, and one reduced later", number, Backward{Last: 10}, lossSigns{}, signs{inverted: true},
			[]int64{25}, false},
		{"a quotient after a number was reduced", quotient, Backward{Last: 10}, lossSigns{}, signs{}, []int64{15},
			true},
		{"a count inverted before backward", number, Backward{}, lossSigns{inverted: true}, signs{}, nil, true},
		{"which the loss was multiplied by", number, Backward{FromProduct: true}, lossSigns{inverted: true}, signs{},
			nil, false},
		{"a whole one, after an inverted count", whole, Backward{}, lossSigns{inverted: true}, signs{}, nil, false},
		{"of a sum", number, Backward{FromSum: true}, lossSigns{}, signs{}, nil, true},
		{"a known number, of a sum", known, Backward{FromSum: true}, lossSigns{}, signs{}, nil, true},
		{"a known number", known, Backward{}, lossSigns{}, signs{}, nil, false},
		{"of a loss that is a sum", number, Backward{}, lossSigns{sum: true}, signs{}, nil, true},
		{"an unknown number of the program, of a sum", operation{}, Backward{FromSum: true}, lossSigns{}, signs{},
			nil, false},
		{"a whole one, of a sum", whole, Backward{FromSum: true}, lossSigns{}, signs{}, nil, false},
	} {
		c.t.start = 20
		w := &cutter{window: &window{backwards: []Backward{c.first}, numbers: c.numbers}, loss: c.loss}
		if got := w.fromCount(&c.t, &c.s); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for _, c := range []struct {
		f     family
		first Backward
		want  lossSigns
	}{
		{meanLoss, Backward{FromLoss: true}, lossSigns{mean: true}},
		{meanLoss, Backward{}, lossSigns{}}, {sumLoss, Backward{FromLoss: true}, lossSigns{sum: true}},
		{sumLoss, Backward{}, lossSigns{}}, {norm, Backward{FromLoss: true}, lossSigns{}},
	} {
		var l lossSigns
		if l.note(c.f, &c.first); l != c.want {
			t.Errorf("family %d: %+v, want %+v", c.f, l, c.want)
		}
	}
}

// TestHalfOfTheGradients: messages are recognized one by one from half of the elements on.
func TestHalfOfTheGradients(t *testing.T) {
	p := classesOf([2]int64{1, 501}, [2]int64{1, 250}, [2]int64{1, 249})
	w := wholeOf([]int{1, 1, 1}, p.Classes)
	if got := w.named([]message{{index: 0, elems: 250}, {index: 1, elems: 249}}, p.Classes); got != nil {
		t.Errorf("499 of 1000 elements: %v", got)
	}
	p = classesOf([2]int64{1, 500}, [2]int64{1, 250}, [2]int64{1, 250})
	w = wholeOf([]int{1, 1, 1}, p.Classes)
	if got := w.named([]message{{index: 0, elems: 250}, {index: 1, elems: 250}}, p.Classes); len(got) != 2 {
		t.Errorf("500 of 1000 elements: %v", got)
	}
}
