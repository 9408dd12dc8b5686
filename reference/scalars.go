package reference

import "github.com/gaprof/gaprof/reference/device"

// scalars are the numbers of a step in device memory. Those of a kind stand in one
// buffer, so that two copies bring all of them to the host when the step is over. They
// begin each step as zeros.
type scalars struct {
	ints   *device.Buffer // counts, local, total
	floats *device.Buffer // losses, norm, coef, factor, logged

	counts []*device.Buffer // tokens by micro-batch
	local  *device.Buffer   // tokens of this rank
	total  *device.Buffer   // tokens of all ranks; 0 where the loop does not reduce them

	losses []*device.Buffer // by micro-batch, reduced as the loop's cross entropy is
	norm   *device.Buffer   // of the gradient
	coef   *device.Buffer   // that clipping multiplies by
	factor *device.Buffer   // that losses or gradients are multiplied by
	logged *device.Buffer   // the sum of all losses, where it is reduced
}

func newScalars(dev *device.Rank, micros int) *scalars {
	s := &scalars{ints: dev.Malloc(device.I64, micros+2), floats: dev.Alloc(micros + 4)}
	for j := range micros {
		s.counts = append(s.counts, s.ints.View(j))
		s.losses = append(s.losses, s.floats.View(j))
	}
	s.local = s.ints.View(micros)
	s.total = s.ints.View(micros + 1)
	s.norm = s.floats.View(micros)
	s.coef = s.floats.View(micros + 1)
	s.factor = s.floats.View(micros + 2)
	s.logged = s.floats.View(micros + 3)
	return s
}

// clear begins a step.
func (s *scalars) clear(dev *device.Rank) {
	dev.MemsetAsync(dev.Compute, s.ints)
	dev.MemsetAsync(dev.Compute, s.floats)
}

// hostScalars are scalars on the host, in the same order.
type hostScalars struct {
	ints   []int64
	floats []float64
}

// download enqueues the copies of all numbers; they are there when what dev's compute
// stream holds now has run.
func (s *scalars) download(dev *device.Rank) hostScalars {
	h := hostScalars{ints: make([]int64, s.ints.N), floats: make([]float64, s.floats.N)}
	dev.Download(device.Host{Ints: h.ints}, s.ints)
	dev.Download(device.Host{Floats: h.floats}, s.floats)
	return h
}

func (h hostScalars) micros() int        { return len(h.ints) - 2 }
func (h hostScalars) local() int64       { return h.ints[h.micros()] }
func (h hostScalars) total() int64       { return h.ints[h.micros()+1] }
func (h hostScalars) last(i int) float64 { return h.floats[h.micros()+i] }
func (h hostScalars) norm() float64      { return h.last(0) }
func (h hostScalars) coef() float64      { return h.last(1) }
func (h hostScalars) factor() float64    { return h.last(2) }
func (h hostScalars) logged() float64    { return h.last(3) }
