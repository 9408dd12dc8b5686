package optim

import "github.com/gaprof/gaprof/reference/device"

// Kept is the state of a parameter on the host.
type Kept struct {
	Mean, Square, Master []float64 // nil where the optimizer has none
	Updates              int
}

// Keep enqueues copies of the state of a parameter to the host. There is none before its first
// update, and none of SGD.
func (o *Optimizer) Keep(index int) (Kept, bool) {
	s := o.states[index]
	if s == nil {
		return Kept{}, false
	}
	return Kept{o.copied(s.mean), o.copied(s.square), o.copied(s.master), s.updates}, true
}

func (o *Optimizer) copied(b *device.Buffer) []float64 {
	if b == nil {
		return nil
	}
	values := make([]float64, b.N)
	o.rank.Download(device.Host{Floats: values}, b)
	return values
}

// Restore gives a parameter, or a shard of one, the state that it had. Values that do not fit it
// are the caller's fault.
func (o *Optimizer) Restore(g *Group, t Target, k Kept) {
	s := o.state(g, t)
	s.updates = k.Updates
	for _, part := range []struct {
		to     *device.Buffer
		values []float64
	}{{s.mean, k.Mean}, {s.square, k.Square}, {s.master, k.Master}} {
		if part.to != nil {
			o.rank.Upload(part.to, device.Host{Floats: part.values})
		}
	}
}
