package autograd

import (
	"strings"

	"github.com/gaprof/gaprof/reference/device"
)

// Hooks are what a module does around its forward and backward pass, as FSDP does with the
// parameters of a block: gather them before they are used, and free them afterwards.
type Hooks interface {
	PreForward()
	PostForward()
	// PreBackward is called before the first node of the module runs backward.
	PreBackward()
	// PostBackward is called after the last one. last says that no other tape contributes
	// to this backward pass after this one.
	PostBackward(last bool)
}

// Module records f, which computes y from x, as a module of the network: with the hooks
// that Hooks has for its name. x is nil for the whole network, whose input needs no
// gradient: its PostBackward is called at the end of a backward pass, after that of all others.
func (t *Tape) Module(name string, x *Value, f func(x *Value) *Value) *Value {
	h := t.hooksOf(name)
	h.PreForward()
	if x == nil {
		t.atEnd = append(t.atEnd, h)
	} else if h != Hooks(none{}) {
		x = t.postBackward(x, h)
	}
	first := len(t.nodes)
	var y *Value
	if x != nil {
		t.blocks++
	}
	if x != nil && t.Checkpoint > 0 && t.blocks%t.Checkpoint == 0 {
		y = t.checkpointed(x, f)
	} else {
		y = f(x)
	}
	h.PostForward()
	if len(t.nodes) > first {
		t.nodes[len(t.nodes)-1].precede(h.PreBackward)
	}
	return y
}

// hooksOf returns the hooks of a module, none if it has none.
func (t *Tape) hooksOf(name string) Hooks {
	if t.Hooks != nil {
		if h := t.Hooks(name); h != nil {
			return h
		}
	}
	return none{}
}

// none are hooks that do nothing.
type none struct{}

func (none) PreForward()       {}
func (none) PostForward()      {}
func (none) PreBackward()      {}
func (none) PostBackward(bool) {}

// precede has f called before the node runs, and before what an inner module calls there.
func (n *node) precede(f func()) {
	if inner := n.before; inner != nil {
		n.before = func() { f(); inner() }
		return
	}
	n.before = f
}

// postBackward returns x behind a node that runs once all nodes of the module have.
func (t *Tape) postBackward(x *Value, h Hooks) *Value {
	t.rank.Range("cpu_op", "RegisterPostBackwardFunction", device.Tensor(x.Buffer))()
	y := &Value{Buffer: x.Buffer, static: true}
	return t.push("RegisterPostBackwardFunctionBackward", y, func() {
		h.PostBackward(t.last)
		t.refs[y.grad]++
		t.give(x, y.grad)
	})
}

// ModuleOf returns the module whose forward pass is recorded as one that a parameter is in, by its name: blocks.0 of
// blocks.0.ln1.weight, and "" outside of all blocks, which
// are those of a list of modules, named by their numbers.
func ModuleOf(param string) string {
	end := 0
	for part := range strings.SplitSeq(param, ".") {
		end += len(part)
		if part != "" && strings.Trim(part, "0123456789") == "" {
			return param[:end]
		}
		end++
	}
	return ""
}

// Exchange returns what other ranks have of x, by a message that move enqueues; back moves
// gradients the other way. The compute stream waits for both.
func (t *Tape) Exchange(x *Value, move, back func(send, recv *device.Buffer)) *Value {
	y := &Value{Buffer: t.rank.Alloc(x.Shape...)}
	t.rank.Collective(func() { move(x.Buffer, y.Buffer) })
	return t.push("_AllToAllSingleBackward", y, func() {
		dx := t.gradient(x.Shape...)
		t.rank.Collective(func() { back(y.grad, dx) })
		t.give(x, dx)
	})
}
