package autograd

import (
	"testing"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/device/devicetest"
)

// calls notes what a tape asks of its Accumulator.
type calls struct {
	rank *device.Rank
	text string
}

func (c *calls) Gradient(p *Param) *device.Buffer {
	c.text += p.Name
	return c.rank.Alloc(p.Shape...)
}
func (c *calls) Add()        { c.text += "+" }
func (c *calls) Accumulate() { c.text += "!" }

// residual records x + gelu(x), x a lookup in w, and a loss.
func residual(rank *device.Rank, params Accumulator) *Tape {
	w := &Param{Name: "w", Shape: []int{5, 3}, Value: rank.Alloc(5, 3)}
	index, loss := rank.Malloc(device.I64, 2), rank.Alloc()
	t := NewTape(rank, params)
	x := t.Embedding(w, index)
	t.CrossEntropy(t.Add(x, t.Gelu(x)), index, loss, false)
	return t
}

// The gradients of both uses of a value are added, once both are there.
func TestBackward(t *testing.T) {
	script, rank := devicetest.NewRank(1, device.F32)
	c := &calls{rank: rank}
	tape := residual(rank, c)
	if got, want := script.Take(), "compute embedding; compute gelu; compute add; compute cross_entropy"; got != want {
		t.Errorf("forward: %s, want %s", got, want)
	}
	one := rank.Alloc()
	tape.Backward(one, true)
	const want = "compute cross_entropy_backward; compute gelu_backward; compute add; compute embedding_backward"
	if got := script.Take(); got != want {
		t.Errorf("backward: %s, want %s", got, want)
	}
	if c.text != "!!!w!" || one.Block.Freed {
		t.Errorf("calls %s, the root's gradient is freed: %v", c.text, one.Block.Freed)
	}
}

// What a tape allocates is freed by backward, and by Drop.
func TestMemory(t *testing.T) {
	for _, end := range []string{"last", "earlier", "drop"} {
		script, rank := devicetest.NewRank(1, device.F32)
		c := &calls{rank: rank}
		tape := residual(rank, c)
		gradients := 0
		switch end {
		case "drop":
			tape.Drop()
		default:
			tape.Backward(rank.Alloc(), end == "last")
			gradients = 2 // of w and of the loss
		}
		if left := script.Live - 3 - gradients; left != 0 { // w, index and loss are the caller's
			t.Errorf("%s: %d blocks are left", end, left)
		}
		if end == "earlier" && c.text != "+++w+" {
			t.Errorf("calls %s", c.text)
		}
	}
}
