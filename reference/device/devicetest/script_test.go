package devicetest

import (
	"testing"

	"github.com/gaprof/gaprof/reference/device"
)

// A rank of several has a stream for collectives, which run between Fork and Join.
func TestRank(t *testing.T) {
	s, r := NewRank(2, device.F64)
	b := r.Zeros(2, 3)
	r.Upload(b, device.Host{Floats: make([]float64, 6)})
	r.Collective(func() { r.Comm.AllReduce(r.Comms, b, device.Sum) })
	r.Download(device.Host{Floats: make([]float64, 6)}, b)
	const want = "compute zero 6; compute upload 6; compute records 1; comms waits 1; comms all-reduce sum 6; " +
		"comms records 2; compute waits 2; compute download 6"
	if got := s.Take(); got != want || s.Take() != "" {
		t.Errorf("%s, want %s", got, want)
	}
	if b.DType != device.F64 || s.Live != 1 || r.World != 2 || r.Index != 0 {
		t.Errorf("%+v, %d blocks", r, s.Live)
	}
	if _, alone := NewRank(1, device.F32); alone.Comms != nil {
		t.Error("one rank has a stream for collectives")
	}
}

func TestFreedTwice(t *testing.T) {
	s, r := NewRank(1, device.F32)
	b := r.Alloc(3)
	r.Free(b)
	defer func() {
		if recover() == nil || s.Live != 0 {
			t.Error("memory may be freed twice")
		}
	}()
	r.Free(b)
}
