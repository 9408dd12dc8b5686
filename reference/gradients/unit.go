package gradients

import (
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// unit is a module whose parameters are gathered, freed and reduced together: a parameter
// group of fully_shard. It implements autograd.Hooks. All ranges are those that PyTorch records.
type unit struct {
	*full
	name   string // "" for what is in no block
	params []*Param
	size   int       // elements of the shards of all
	whole  bool      // parameters are gathered and not yet freed
	coming *gathered // an all-gather for which compute has not waited yet; nil without one
	passes []int     // positions in full.order of forward passes that have not run backward
	partly *flat     // gradients that have not been reduced over replicas; nil without any
}

func (u *unit) add(p *Param) {
	u.params = append(u.params, p)
	u.size += p.shard.value.N
}

func (u *unit) root() bool { return u.name == "" }

// span opens a range with the name of the module.
func (u *unit) span(name string) func() {
	if !u.root() {
		name += " (" + u.name + ")"
	}
	return u.rank.Range("user_annotation", name)
}

// PreForward implements autograd.Hooks.
func (u *unit) PreForward() {
	if u.root() {
		u.begin()
	}
	defer u.span("FSDP::pre_forward")()
	u.gather()
	u.await(true)
}

// PostForward implements autograd.Hooks. The parameters of the root are kept, since backward
// begins with them.
func (u *unit) PostForward() {
	defer u.span("FSDP::post_forward")()
	if u.policy.ReshardAfterForward && !u.root() {
		u.reshard()
	}
	u.passes = append(u.passes, len(u.order))
	u.order = append(u.order, u)
	if u.root() {
		u.release()
	}
}

// PreBackward implements autograd.Hooks. The unit that comes next is gathered ahead.
func (u *unit) PreBackward() {
	defer u.span("FSDP::pre_backward")()
	u.gather()
	u.await(false)
	if len(u.passes) == 0 {
		return
	}
	at := u.passes[len(u.passes)-1]
	u.passes = u.passes[:len(u.passes)-1]
	if at > 0 && u.policy.Prefetch {
		next := u.order[at-1]
		defer u.rank.Range("user_annotation", "FSDP::backward_prefetch for "+next.name)()
		next.gather()
	}
}

// PostBackward implements autograd.Hooks: a reduction as soon as all gradients of the unit
// are there.
func (u *unit) PostBackward(last bool) {
	if u.root() && !last {
		return
	}
	if u.root() {
		defer u.finish()
		defer u.rank.Range("user_annotation", "FSDP::root_post_backward_callback")()
	}
	end := u.span("FSDP::post_backward_reshard")
	u.reshard()
	end()
	if !last || !u.sync {
		return
	}
	if u.sent != nil {
		end := u.rank.Range("user_annotation", "FSDP::post_backward_rs_wait ("+u.name+")")
		u.rank.StreamWaitEvent(u.rank.Compute, u.sent.until)
		u.rank.Free(u.sent.flat)
		u.sent = nil
		end()
	}
	u.reduce()
}

// gather enqueues the all-gather of the parameters, unless they are whole or coming.
func (u *unit) gather() {
	if u.whole || u.coming != nil || u.shards.Size() == 1 {
		return
	}
	defer u.span("FSDP::all_gather")()
	if !u.policy.Prefetch { // what comes before is computed first
		u.rank.After(u.copyIn, u.rank.Compute)
	}
	flat := u.rank.MallocOn(u.copyIn, u.rank.DType, u.size*u.shards.Size())
	mine := flat.View(u.size*u.shards.Rank(), u.size)
	u.copyShards(flat, mine)
	u.rank.After(u.gathers, u.copyIn)
	u.shards.AllGather(u.gathers, mine, flat)
	u.coming = &gathered{flat, u.rank.EventRecord(u.gathers)}
}

// copyShards copies the shards of this rank to where they are gathered.
func (u *unit) copyShards(flat, mine *device.Buffer) {
	copies := ops.ForeachCopy{}
	inputs := device.Operand{Type: "TensorList"}
	var sizes []string
	at := 0
	for _, p := range u.params {
		n := p.shard.value.N
		copies.X = append(copies.X, p.shard.value.View(0, n))
		copies.Y = append(copies.Y, mine.View(at, n))
		inputs.List = append(inputs.List, []int{n})
		sizes = append(sizes, strconv.Itoa(n))
		at += n
	}
	defer u.rank.Range("cpu_op", "fsdp::all_gather_copy_in", inputs, device.Tensor(flat),
		device.Operand{Type: "ScalarList", Value: "[" + strings.Join(sizes, ", ") + "]"},
		device.Operand{Type: "Scalar", Value: strconv.Itoa(u.size)},
		device.Operand{Type: "Scalar", Value: strconv.Itoa(u.shards.Rank())})()
	u.rank.Launch(u.copyIn, copies)
}

// await makes compute wait for the parameters, and copies them to where they are used.
func (u *unit) await(forward bool) {
	if u.whole {
		return
	}
	if forward {
		u.release()
	}
	u.whole = true
	parts := u.allocate()
	if u.shards.Size() == 1 {
		for i, p := range u.params {
			u.rank.MemcpyDtoDAsync(u.rank.Compute, parts[i], p.shard.value)
		}
		return
	}
	defer u.span("FSDP::all_gather_copy_out")()
	g := u.coming
	u.coming = nil
	u.rank.StreamWaitEvent(u.rank.Compute, g.until)
	split := ops.SplitWithSizesCopy{Y: parts, X: g.flat, Ranks: u.shards.Size()}
	end := u.rank.Range("cpu_op", "fsdp::split_with_sizes_copy", split.Operands()...)
	u.rank.Run(split)
	end()
	g.until = u.rank.EventRecord(u.rank.Compute)
	if forward {
		u.held = g
		return
	}
	u.free(g)
}

// allocate allocates the whole parameters.
func (u *unit) allocate() []*device.Buffer {
	parts := make([]*device.Buffer, len(u.params))
	for i, p := range u.params {
		p.shard.padded = u.rank.Alloc(padded(p.Shape, u.shards.Size())...)
		p.Value = p.shard.padded.View(0, p.Shape...)
		parts[i] = p.shard.padded
	}
	return parts
}

// reshard frees the whole parameters.
func (u *unit) reshard() {
	if !u.whole {
		return
	}
	u.whole = false
	for _, p := range u.params {
		u.rank.Free(p.shard.padded)
		p.shard.padded, p.Value = nil, nil
	}
}

// reduce enqueues the reduction of the gradients of the unit to shards, over replicas, too,
// where there are several.
func (u *unit) reduce() {
	if u.hooks.Span != nil {
		defer u.hooks.Span("reduce_scatter", u.step)()
	}
	defer u.span("FSDP::post_backward_reduce")()
	input := u.concatenate()
	op := u.divide(input)
	u.rank.After(u.scatters, u.rank.Compute)
	out := &flat{buffer: u.rank.MallocOn(u.scatters, u.rank.DType, u.size)}
	if u.shards.Size() > 1 {
		u.shards.ReduceScatter(u.scatters, input, out.buffer, op)
	} else {
		u.rank.MemcpyDtoDAsync(u.scatters, out.buffer, input)
	}
	u.sent = &gathered{input, u.rank.EventRecord(u.scatters)}
	if u.replicas == nil {
		u.accumulate(u.scatters, out, op)
		return
	}
	if u.partly != nil {
		u.rank.Launch(u.scatters, ops.Accumulate{Y: out.buffer, X: u.partly.buffer})
		u.rank.Free(u.partly.buffer)
		u.partly = nil
	}
	if !u.merge {
		u.keep(out, op)
		return
	}
	u.rank.After(u.allReduce, u.scatters)
	u.replicas.AllReduce(u.allReduce, out.buffer, op)
	u.accumulate(u.allReduce, out, op)
}

// divide calls the hook that divides whole gradients, if there is one, for the message that they make, and returns the
// operator that is left for its reduction.
func (u *unit) divide(message *device.Buffer) device.Reduce {
	if u.hooks.Divide == nil {
		return u.policy.Reduction()
	}
	u.hooks.Divide(message, u.params...)
	return device.Sum
}

// keep keeps a reduction over shards for that over replicas. What comes of it is the same as if
// it had been reduced over both at once.
func (u *unit) keep(out *flat, op device.Reduce) {
	u.partly, u.finished = out, u.rank.EventRecord(u.scatters)
	for _, p := range u.params {
		u.did(p, reduced(op, AveragedShard, SummedShard))
	}
}

// concatenate makes the input of the reduce-scatter and frees the gradients that it is made of.
func (u *unit) concatenate() *device.Buffer {
	cat := ops.ChunkCat{Y: u.rank.Alloc(u.size * u.shards.Size()), Ranks: u.shards.Size()}
	for _, p := range u.params {
		cat.X = append(cat.X, p.Grad)
	}
	end := u.rank.Range("cpu_op", "fsdp::chunk_cat", cat.Operands()...)
	u.rank.Run(cat)
	end()
	for _, p := range u.params {
		u.rank.Free(p.Grad)
		p.Grad, p.has = nil, false
	}
	return cat.Y
}

// accumulate adds a reduction to the gradients of the shards, or makes it those.
func (u *unit) accumulate(on device.Stream, out *flat, op device.Reduce) {
	at := 0
	for _, p := range u.params {
		sh := p.shard
		part := out.buffer.View(at, sh.value.Shape...)
		at += part.N
		if sh.has {
			u.rank.Launch(on, ops.Accumulate{Y: sh.grad, X: part})
		} else {
			sh.grad, sh.flat, sh.has = part, out, true
			out.users++
		}
		u.did(p, reduced(op, AveragedShard, SummedShard))
	}
	u.finished = u.rank.EventRecord(on)
	switch {
	case out.users > 0:
	case on == u.scatters:
		u.rank.Free(out.buffer)
	default: // the next one must not be scattered to memory that is still being reduced
		u.unused = append(u.unused, out)
	}
}

// flat holds the gradients of the shards of a unit. It is freed when none of them is there.
type flat struct {
	buffer *device.Buffer
	users  int
}

// drop frees what a gradient takes, with set_to_none=True.
func (u *unit) drop(p *Param) {
	if p.Grad != nil {
		u.rank.Free(p.Grad)
		p.Grad = nil
	}
	sh := p.shard
	if sh.flat == nil {
		return
	}
	if sh.flat.users--; sh.flat.users == 0 {
		u.rank.Free(sh.flat.buffer)
	}
	sh.grad, sh.flat = nil, nil
}
