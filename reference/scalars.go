package reference

import "github.com/gaprof/gaprof/reference/device"

// scalars holds the numbers of a step in device memory. All integers share one buffer, as
// do all floats, so that two copies bring everything to the host at the end of the step.
// They are zero at the beginning of each step.
type scalars struct {
	ints   *device.Buffer // counts, local, total
	floats *device.Buffer // losses, norm, coef, factor, logged

	counts []*device.Buffer // tokens by micro-batch
	local  *device.Buffer   // tokens of this rank
	total  *device.Buffer   // tokens of all ranks; 0 if the loop does not reduce them

	losses []*device.Buffer // by micro-batch: cross entropy, a sum or a mean by LossReduction
	norm   *device.Buffer   // of the gradient before clipping
	coef   *device.Buffer   // clipping multiplies gradients by this
	factor *device.Buffer   // normalization multiplies losses or gradients by this
	logged *device.Buffer   // sum of all losses; used with ReduceLoss only
}

func newScalars(dev *device.Rank, micros int) *scalars {
	s := &scalars{ints: dev.Malloc(device.I64, micros+2), floats: dev.Scalar(micros + 4)}
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

// clear sets all numbers to zero.
func (s *scalars) clear(dev *device.Rank) {
	dev.MemsetAsync(dev.Compute, s.ints)
	dev.MemsetAsync(dev.Compute, s.floats)
}

// hostScalars is a copy of scalars on the host, in the same order.
type hostScalars struct {
	ints   []int64
	floats []float64
}

// download enqueues copies to the host. The result is valid once the compute stream has
// executed them.
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
