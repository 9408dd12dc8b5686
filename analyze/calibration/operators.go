package calibration

import (
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// least is what a kernel must move to count as limited by memory, in bytes: what is smaller may stay in a cache. most
// is what the shortest kernels move.
const (
	least = 64 << 20
	most  = 64 << 10
)

// What is no operator among the moves.
const (
	Copied   = "copy"    // copies within the device
	Uploaded = "pcie"    // copies between pinned memory of the host and the device
	Strided  = "strided" // elementwise kernels that are not vectorized, of whatever operator
)

// operators takes the durations of kernels whose work is known: by the shapes of the operators that launched them, or
// because the recording says it.
func (s *Samples) operators(r *timeline.Rank, d *timeline.Device) {
	in := r.Inputs()
	for i, row := range d.Rows {
		took := r.Col.Dur[row]
		if d.Kind[i] != timeline.NotCommunication || took <= 0 {
			continue
		}
		e := r.Trace.Event(int(row))
		bytes, told := e.Arg(trace.KeyBytes)
		if e.Cat() != trace.CatKernel {
			if told && bytes.Kind == trace.Int {
				s.copied(r.Name(row), bytes.Num, took)
			}
			continue
		}
		op := operatorOf(r, d.Launch[i])
		if op < 0 {
			continue
		}
		name, operands, kernels := r.Name(op), in.Of(op), r.LaunchedBy(op)
		s.Shapes = s.Shapes || operands != nil
		if p, ok := productOf(name, operands); ok {
			if all, first := together(r, kernels); first == row {
				s.Products[p] = append(s.Products[p], all)
			}
			continue
		}
		moved, known := trafficOf(name, operands)
		if told && bytes.Kind == trace.Int {
			moved, known = bytes.Num, bytes.Num > 0
		}
		if known && len(kernels) == 1 {
			s.moved(kindOfMove(name, r.Name(row)), moved, took)
		}
	}
}

// together is what the kernels of an operator take, and the first of them: a product that is split along its inner
// dimension has one more.
func together(r *timeline.Rank, launched []timeline.Launched) (ns int64, first int32) {
	first = -1
	for _, l := range launched {
		if row := l.Event(); r.Trace.Event(int(row)).Cat() == trace.CatKernel {
			ns += r.Col.Dur[row]
			if first < 0 {
				first = row
			}
		}
	}
	return ns, first
}

// kindOfMove is the name of an operator, or strided where its kernel is PyTorch's elementwise one that is not
// vectorized, because an operand is transposed or broadcast.
func kindOfMove(op, kernel string) string {
	if _, _, found := strings.Cut(kernel, "::elementwise_kernel<"); found {
		return Strided
	}
	return op
}

// operatorOf is the innermost operator around a launch, -1 for none.
func operatorOf(r *timeline.Rank, launch int32) int32 {
	found := int32(-1)
	if launch >= 0 {
		r.Stack(launch, func(span int32) bool {
			if r.Is(span, timeline.AtenOp) {
				found = span
			}
			return found < 0
		})
	}
	return found
}

// moved takes a kernel that moves so many bytes.
func (s *Samples) moved(op string, bytes, took int64) {
	switch {
	case bytes >= least:
		m := move{op, bytes}
		s.Moves[m] = append(s.Moves[m], took)
	case bytes <= most:
		s.Small = append(s.Small, took)
	}
}

// copied takes a copy. Within the device, a copy reads and writes.
func (s *Samples) copied(name string, bytes, took int64) {
	switch {
	case bytes > 0 && strings.Contains(name, "DtoD") && 2*bytes >= least:
		s.Moves[move{Copied, 2 * bytes}] = append(s.Moves[move{Copied, 2 * bytes}], took)
	case bytes >= least/8 && strings.Contains(name, "Pinned"):
		s.Moves[move{Uploaded, bytes}] = append(s.Moves[move{Uploaded, bytes}], took)
	}
}
