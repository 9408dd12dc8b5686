package gradients

import (
	"github.com/gaprof/gaprof/reference/autograd"
	"github.com/gaprof/gaprof/reference/device"
)

// full is what a Set has whose parameters are sharded: units that are gathered as a whole,
// and the streams and communicators for that, which are those of fully_shard (FSDP2).
type full struct {
	*Set
	units    []*unit // that of the whole network first
	shards   device.Communicator
	replicas device.Communicator // nil with a single replica

	copyIn    device.Stream // copies shards to where they are gathered
	gathers   device.Stream // all-gathers
	scatters  device.Stream // reduce-scatters, and adds to earlier gradients
	allReduce device.Stream // all-reduces over replicas; nil with a single one

	order    []*unit      // whose forward pass is over: backward goes the other way
	held     *gathered    // the latest of a forward pass, freed when the next has been gathered
	sent     *gathered    // the latest that was reduce-scattered, freed before the next is
	unused   []*flat      // added to earlier gradients, and freed at the end of backward
	finished device.Event // of the latest reduction
}

// gathered is memory that other streams than that of its pool use, until an event.
type gathered struct {
	flat  *device.Buffer
	until device.Event
}

func newFull(s *Set) *full {
	f := &full{Set: s, shards: s.rank.Comm}
	f.copyIn = s.rank.StreamCreateWithPriority(-1)
	f.gathers = s.rank.StreamCreateWithPriority(-1)
	f.scatters = s.rank.StreamCreateWithPriority(-1)
	if s.policy.Replicas > 1 {
		f.shards, f.replicas = s.rank.In(meshShard), s.rank.In(meshReplicate)
		f.allReduce = s.rank.StreamCreateWithPriority(0)
	}
	f.unit("")
	return f
}

// unit returns the unit of a module.
func (f *full) unit(name string) *unit {
	for _, u := range f.units {
		if u.name == name {
			return u
		}
	}
	u := &unit{full: f, name: name}
	f.units = append(f.units, u)
	return u
}

// insert allocates the shard of a parameter and uploads its initial values, nil where
// tensors have no contents.
func (f *full) insert(p *Param, values []float64) {
	rows := padded(p.Shape, f.shards.Size())
	rows[0] /= f.shards.Size()
	p.shard = &shard{among: f.shards, value: f.rank.Alloc(rows...)}
	p.unit = f.unit(autograd.ModuleOf(p.Name))
	p.unit.add(p)
	if values == nil {
		f.rank.Upload(p.shard.value, device.Host{})
		return
	}
	n := p.shard.value.N
	mine := make([]float64, n)
	copy(mine, values[min(len(values), f.shards.Rank()*n):])
	f.rank.Upload(p.shard.value, device.Host{Floats: mine})
}

// whole gathers a shard in memory of its own, with the shape of the parameter. free gives
// the memory back.
func (f *full) whole(p *Param, part *device.Buffer) (all *device.Buffer, free func()) {
	if f.shards.Size() == 1 {
		return part.View(0, p.Shape...), func() {}
	}
	all = f.rank.Alloc(padded(p.Shape, f.shards.Size())...)
	f.rank.After(f.gathers, f.rank.Compute)
	f.shards.AllGather(f.gathers, part, all)
	f.rank.After(f.rank.Compute, f.gathers)
	return all.View(0, p.Shape...), func() { f.rank.Free(all) }
}

// begin is the beginning of a forward pass: what is gathered from now on has been updated.
func (f *full) begin() {
	defer f.rank.Range("user_annotation", "FSDP::root_pre_forward")()
	updated := f.rank.EventRecord(f.rank.Compute)
	f.rank.StreamWaitEvent(f.copyIn, updated)
	f.rank.StreamWaitEvent(f.gathers, updated)
}

// free gives back what was gathered, for streams that wait until it has been used.
func (f *full) free(g *gathered) {
	if g != nil {
		f.rank.StreamWaitEvent(f.copyIn, g.until)
		f.rank.StreamWaitEvent(f.gathers, g.until)
		f.rank.Free(g.flat)
	}
}

// release frees what the latest unit of a forward pass was gathered into. Until the next one
// has been gathered it is kept, so that copies for one run beside the all-gather of the other.
func (f *full) release() {
	f.free(f.held)
	f.held = nil
}

// finish is the end of a backward pass: gradients are used from now on.
func (f *full) finish() {
	f.release()
	for _, u := range f.units {
		f.free(u.coming) // gathered ahead for a pass that never came
		u.coming, u.passes = nil, nil
	}
	f.order = nil
	if f.sent == nil {
		return
	}
	f.rank.StreamWaitEvent(f.rank.Compute, f.finished) // a stream runs reductions in order
	f.rank.Free(f.sent.flat)
	f.sent = nil
	for _, g := range f.unused {
		f.rank.Free(g.buffer)
	}
	f.unused = nil
}
