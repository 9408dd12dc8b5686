package autograd

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/device/devicetest"
)

// noted are hooks that write into the list of calls of the device.
type noted struct {
	script *devicetest.Script
	name   string
}

func (n noted) note(what string) { n.script.Lines = append(n.script.Lines, what+" "+n.name) }
func (n noted) PreForward()      { n.note("pre-forward") }
func (n noted) PostForward()     { n.note("post-forward") }
func (n noted) PreBackward()     { n.note("pre-backward") }
func (n noted) PostBackward(last bool) {
	n.note(map[bool]string{true: "post-backward", false: "earlier post-backward"}[last])
}

// network records an embedding, a block x + gelu(x) W^T and a loss.
func network(rank *device.Rank, params Accumulator, hooks func(string) Hooks, again bool) *Tape {
	w := &Param{Name: "w", Shape: []int{5, 3}, Value: rank.Alloc(5, 3)}
	square := &Param{Name: "square", Shape: []int{3, 3}, Value: rank.Alloc(3, 3)}
	index, loss := rank.Malloc(device.I64, 2), rank.Alloc()
	t := NewTape(rank, params)
	t.Hooks, t.Checkpoint = hooks, map[bool]int{true: 1}[again]
	y := t.Module("", nil, func(*Value) *Value {
		x := t.Module("blocks.0", t.Embedding(w, index), func(x *Value) *Value {
			return t.Add(x, t.Linear(t.Gelu(t.Gelu(x)), square, nil))
		})
		return t.Gelu(x)
	})
	t.CrossEntropy(y, index, loss, false)
	return t
}

// Hooks of modules are called around their passes, inner ones inside; that of the whole network
// after backward is the last of all.
func TestModules(t *testing.T) {
	for _, last := range []bool{true, false} {
		script, rank := devicetest.NewRank(1, device.F32)
		tape := network(rank, &calls{rank: rank}, func(name string) Hooks { return noted{script, "[" + name + "]"} },
			false)
		check(t, script, "pre-forward []; compute embedding; pre-forward [blocks.0]; compute gelu; compute gelu; "+
			"compute gemm_nt; compute add; post-forward [blocks.0]; compute gelu; post-forward []; "+
			"compute cross_entropy")
		tape.Backward(rank.Alloc(), last)
		want := "compute cross_entropy_backward; pre-backward []; compute gelu_backward; pre-backward [blocks.0]; " +
			"compute gemm_nn; compute gemm_tn; compute gelu_backward; compute gelu_backward; compute add; " +
			"post-backward [blocks.0]; compute embedding_backward; post-backward []"
		if !last {
			want = strings.ReplaceAll(want, "post-backward", "earlier post-backward")
		}
		check(t, script, want)
	}
}

func check(t *testing.T, script *devicetest.Script, want string) {
	t.Helper()
	if got := script.Take(); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// A checkpoint keeps its input and output. Its forward runs again inside the first node that needs
// something of it, and stops before what no node needs: the last product, and the sum.
func TestCheckpoint(t *testing.T) {
	live := make(map[bool]int)
	for _, again := range []bool{false, true} {
		script, rank := devicetest.NewRank(1, device.F32)
		c := &calls{rank: rank}
		tape := network(rank, c, nil, again)
		live[again] = script.Live
		script.Take()
		tape.Backward(rank.Alloc(), true)
		want := "compute cross_entropy_backward; compute gelu_backward; RECOMPUTED" +
			"compute gemm_nn; compute gemm_tn; compute gelu_backward; compute gelu_backward; compute add; " +
			"compute embedding_backward"
		recomputed := map[bool]string{true: "compute gelu; compute gelu; "}[again]
		check(t, script, strings.Replace(want, "RECOMPUTED", recomputed, 1))
		if left := script.Live - 4 - 3; left != 0 { // w, square, index, loss; two gradients and that of the loss
			t.Errorf("checkpoint %v: %d blocks are left", again, left)
		}
		if c.text != "!!!square!!!w!" {
			t.Errorf("checkpoint %v: calls %s", again, c.text)
		}
	}
	if live[false]-live[true] != 3 { // two gelus and the product
		t.Errorf("%d blocks live after forward, %d with a checkpoint", live[false], live[true])
	}
}

// What was recorded may be dropped without running backward.
func TestCheckpointDropped(t *testing.T) {
	script, rank := devicetest.NewRank(1, device.F32)
	network(rank, &calls{rank: rank}, nil, true).Drop()
	if left := script.Live - 4; left != 0 {
		t.Errorf("%d blocks are left", left)
	}
}

func TestModuleOf(t *testing.T) {
	for param, want := range map[string]string{
		"blocks.0.ln1.weight": "blocks.0", "model.layers.12.mlp.w1": "model.layers.12", "head.weight": "",
		"tok": "", "": "", "fc1.weight": "", "0.weight": "0", "a..1.b": "a..1",
	} {
		if got := ModuleOf(param); got != want {
			t.Errorf("%s: %q, want %q", param, got, want)
		}
	}
}
