package gradients

import (
	"fmt"
	"testing"
)

// line writes a span of 3 us on the thread of the loop.
func (s *script) line(span string) {
	fmt.Fprintf(&s.text, "1/1 %dus +3us %s\n", s.now, span)
	s.now += 4
}

// forward runs so many layers.
func (s *script) forward(layers int) {
	for range layers {
		s.event(2, "aten::addmm", "")
		s.event(2, "aten::gelu", "")
	}
}

// loss runs a head and its loss.
func (s *script) loss() {
	for _, name := range []string{"aten::addmm", "aten::cross_entropy_loss", "aten::mul", "aten::sum"} {
		s.event(2, name, "")
	}
}

// back runs the nodes of losses, each with a head, and of some layers, whose parameters
// accumulate gradients.
func (s *script) back(losses, layers int) {
	for range losses {
		s.accumulate("NllLossBackward0", nil)
		s.accumulate("AddmmBackward0", nil)
	}
	for range layers {
		s.accumulate("GeluBackward0", nil)
		s.accumulate("AddmmBackward0", nil)
	}
	s.accumulate("AddBackward0", s.params)
}

// TestGraphs: backward passes over one graph are one forward pass, and so are several losses of
// the same outputs.
func TestGraphs(t *testing.T) {
	for _, test := range []struct {
		name         string
		step         func(s *script)
		accumulation int
		micro        int
	}{
		{"each pass its own forward", func(s *script) {
			for range 2 {
				s.forward(6)
				s.loss()
				s.back(1, 6)
			}
		}, 2, 2},
		{"a second head between two passes over a retained graph", func(s *script) {
			s.forward(6)
			for range 2 {
				s.loss()
				s.back(1, 6)
			}
		}, 2, 1},
		{"the same, of which a part runs anew", func(s *script) {
			s.forward(6)
			s.loss()
			s.back(1, 6)
			s.forward(5)
			s.loss()
			s.back(1, 6)
		}, 2, 2},
		{"all forward passes first", func(s *script) {
			for range 2 {
				s.forward(6)
				s.loss()
			}
			s.back(1, 6)
			s.now += 9
			s.event(2, "aten::ones_like", "")
			s.back(1, 6)
		}, 2, 2},
		{"two losses of the same outputs", func(s *script) {
			s.forward(6)
			s.loss()
			s.loss()
			s.accumulate("AddBackward0", nil)
			s.back(2, 6)
		}, 1, 1},
	} {
		s := script{params: []string{"100,20", "64", "300,20"}}
		for range 3 {
			test.step(&s)
			s.move('s')
		}
		r := one(t, s.text.String())
		last := r.Steps[len(r.Steps)-1]
		if got := last.PerOptimizer[0].Accumulation; got != test.accumulation || last.MicroBatches != test.micro {
			t.Errorf("%s: accumulation %d, %d micro-batches, want %d and %d",
				test.name, got, last.MicroBatches, test.accumulation, test.micro)
		}
	}
}

// TestOperatorOf: which operator leaves a node.
func TestOperatorOf(t *testing.T) {
	for node, want := range map[string]string{
		"AddmmBackward0": "addmm", "NativeLayerNormBackward0": "native_layer_norm", "TBackward0": "t",
		"SumBackward1": "sum", "CheckpointFunctionBackward": "", "torch::autograd::AccumulateGrad": "", "Backward0": "",
	} {
		if got, ok := operatorOf(node); got != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", node, got, want)
		}
	}
}

// TestApart: reductions of gradients that nothing is added to are not one too many.
func TestApart(t *testing.T) {
	for _, test := range []struct {
		name, between string
		again         int
	}{
		{"accumulated", "", 2},
		{"cleared by the optimizer", "user_annotation Optimizer.zero_grad#AdamW.zero_grad", 0},
		{"filled with zeros", `cpu_op aten::zero_ dims=[[100,20]] type=["float"]`, 0},
		{"something else filled with zeros", `cpu_op aten::zero_ dims=[[7]] type=["float"]`, 2},
	} {
		s := script{params: []string{"100,20", "64", "300,20"}, kind: "allreduce"}
		for range 2 {
			s.move('f')
			s.move('B')
			if test.between != "" {
				s.line(test.between)
			}
			s.move('f')
			s.move('B')
			s.move('s')
		}
		again := 0
		for _, c := range one(t, s.text.String()).HostCollectives {
			if c.Again {
				again++
			}
		}
		if again != test.again {
			t.Errorf("%s: %d reductions too many, want %d", test.name, again, test.again)
		}
	}
}
