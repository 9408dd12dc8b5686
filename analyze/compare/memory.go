package compare

import (
	"github.com/gaprof/gaprof/analyze/report"
)

// MemoryChange is the memory of the steps of one kind that both sides recorded, changed or
// not. Of each side it is that of the complete step, rank and device with the highest peak;
// of accelerators, or of hosts where a side recorded no accelerator. A peak follows from
// what is computed, not from how fast: it has no noise to be tested against, but grows with
// the lengths of what a batch holds. So it is told with its size, and is no change of structure.
type MemoryChange struct {
	Kind  string     `json:"kind"` // the Name of a Kind
	Base  MemorySide `json:"base"`
	New   MemorySide `json:"new"`
	Delta *float64   `json:"delta"` // of the peak, 0.1: a tenth more; null from nothing, and between unlike amounts
}

// MemorySide is the row of gaprof.report/1 with the highest peak. Bytes; null unknown.
type MemorySide struct {
	Kind       string `json:"device_type"`
	Peak       int64  `json:"peak_allocated_bytes"`
	Reserved   *int64 `json:"peak_reserved_bytes"`
	Phase      string `json:"phase"`                       // of the peak
	Held       *int64 `json:"held_at_peak_bytes"`          // allocated in forward, released in backward
	HeldPasses *int   `json:"held_at_peak_forward_passes"` // forward passes that Held is of
	Relative   bool   `json:"relative"`                    // the least that the peak can be
}

// Changed reports whether the two sides differ in an amount.
func (m *MemoryChange) Changed() bool {
	return m.Base.Peak != m.New.Peak || m.Base.Relative != m.New.Relative ||
		differ(m.Base.Reserved, m.New.Reserved) || differ(m.Base.Held, m.New.Held)
}

// differ reports whether two amounts that are both known differ.
func differ(a, b *int64) bool { return a != nil && b != nil && *a != *b }

// peaks are the rows of memory with the highest peak of some steps; nil where it was not
// recorded.
type peaks struct{ device, host *report.Memory }

// add keeps the row if no other of the same sort of device has a higher peak.
func (p *peaks) add(m *report.Memory) {
	of := &p.device
	if m.Kind == "cpu" {
		of = &p.host
	}
	if *of == nil || m.PeakAllocated > (*of).PeakAllocated {
		*of = m
	}
}

// memoryChange compares the memory of a kind of step; ok is false where a side did not
// record it.
func memoryChange(kind string, b, n peaks) (c MemoryChange, ok bool) {
	base, new := b.device, n.device
	if base == nil || new == nil {
		base, new = b.host, n.host
	}
	if base == nil || new == nil {
		return c, false
	}
	c = MemoryChange{Kind: kind, Base: memorySide(base), New: memorySide(new)}
	if base.PeakAllocated != 0 && base.Relative == new.Relative {
		delta := float64(new.PeakAllocated)/float64(base.PeakAllocated) - 1
		c.Delta = &delta
	}
	return c, true
}

func memorySide(m *report.Memory) MemorySide {
	return MemorySide{Kind: m.Kind, Peak: m.PeakAllocated, Reserved: m.PeakReserved, Phase: m.Phase,
		Held: m.HeldAtPeak, HeldPasses: m.HeldAtPeakPasses, Relative: m.Relative}
}
