package normalization

import (
	"fmt"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// Gradients are the open files that say how the gradients of one rank and step came about.
// Whoever opened them closes them.
type Gradients struct {
	Observed  *sidecar.Safetensors     // what the rank holds before the optimizer's step
	Reference *sidecar.Safetensors     // the right ones, or those of another run; nil: those that Micro gives
	Micro     [][]*sidecar.Safetensors // by rank and micro-batch, nil where a file is missing; nil unknown
}

// Verdict is what gradients say of a normalization.
type Verdict struct {
	Deviation *Deviation `json:"deviation"`
	Cause     *Cause     `json:"cause"`     // null where it is not judged, because the runs started from other weights
	Precision string     `json:"precision"` // the least precise type of both sides: F64, F32, F16 or BF16
}

// Audit compares gradients with the right ones, or with those of another run, and names
// the cause of what differs. Errors are those of reading, and *trace.FormatError where the
// two sides are not of one model.
func Audit(c *Counts, g Gradients) (*Verdict, error) {
	if g.Reference == nil && !g.complete(c) {
		return nil, ErrNoGradients
	}
	var compared Comparison
	var predicted *predictor
	if g.complete(c) {
		predicted = newPredictor(c)
	}
	precision := sidecar.F64
	read := reader{g: g, micro: make([][][]float64, len(g.Micro)), right: c.Coefficients(Global)}
	for i := range g.Observed.Tensors {
		info := &g.Observed.Tensors[i]
		var s sums
		err := read.parts(info, predicted != nil, func() {
			s.add(read.observed, read.reference)
			if predicted != nil {
				predicted.add(read.observed, read.micro)
			}
		})
		if err != nil {
			return nil, err
		}
		compared.take(info.Name, &s)
		precision = Precision(precision, Precision(info.Dtype, read.dtype))
	}
	if g.Reference != nil && len(g.Reference.Tensors) != len(g.Observed.Tensors) {
		return nil, &trace.FormatError{File: g.Observed.File, Reason: fmt.Sprintf("%d tensors, %s has %d",
			len(g.Observed.Tensors), g.Reference.File, len(g.Reference.Tensors))}
	}
	v := &Verdict{Deviation: compared.Deviation(), Precision: string(precision)}
	v.Cause = causeOfDeviation(c, v.Deviation, precision)
	if predicted != nil && v.Deviation.NotFinite == 0 {
		v.Cause = predicted.cause(c, precision)
	}
	return v, nil
}

// complete reports whether there are gradients of every micro-batch that has tokens.
func (g *Gradients) complete(c *Counts) bool {
	if len(g.Micro) != len(c.Tokens) || c.Total() == 0 {
		return false
	}
	for r, row := range c.Tokens {
		for j, tokens := range row {
			if tokens > 0 && (j >= len(g.Micro[r]) || g.Micro[r][j] == nil) {
				return false
			}
		}
	}
	return true
}

// What is in memory of all files together, in elements of 8 bytes, and the least part of a
// tensor that is worth reading.
var (
	mostElements = int64(8 << 20)
	leastPart    = int64(4 << 10)
)

// reader reads a part of one tensor of all files at a time.
type reader struct {
	g                   Gradients
	from, many          int64 // the part
	right               [][]float64
	observed, reference []float64
	micro               [][][]float64
	dtype               sidecar.Dtype // of the reference; "" without a file
}

// parts reads a tensor part by part, and calls f for each.
func (r *reader) parts(info *sidecar.TensorInfo, micro bool, f func()) error {
	files := int64(4) // observed, reference, what is predicted, and their bytes
	for _, row := range r.g.Micro {
		files += int64(len(row))
	}
	r.many = max(mostElements/files, leastPart)
	for r.from = 0; r.from == 0 || r.from < info.Numel(); r.from += r.many {
		if err := r.tensor(info, micro); err != nil {
			return err
		}
		f()
	}
	return nil
}

// tensor reads a part of a tensor of the observed gradients, of the micro-batches, and of the
// reference, which without a file is what the micro-batches give.
func (r *reader) tensor(info *sidecar.TensorInfo, micro bool) (err error) {
	if r.observed, err = r.g.Observed.Part(info, r.from, r.many, r.observed); err != nil {
		return err
	}
	if micro {
		for rank, row := range r.g.Micro {
			if r.micro[rank] == nil {
				r.micro[rank] = make([][]float64, len(row))
			}
			for j, file := range row {
				if file == nil {
					continue
				}
				if r.micro[rank][j], _, err = r.values(file, info, r.micro[rank][j]); err != nil {
					return err
				}
			}
		}
	}
	if r.g.Reference == nil {
		r.reference = predict(r.reference, r.right, r.micro, len(r.observed))
		return nil
	}
	r.reference, r.dtype, err = r.values(r.g.Reference, info, r.reference)
	return err
}

// values reads the part of the tensor of a file that must be there and as large as another.
func (r *reader) values(
	file *sidecar.Safetensors, like *sidecar.TensorInfo, into []float64,
) ([]float64, sidecar.Dtype, error) {
	info, ok := file.Find(like.Name)
	if !ok {
		return nil, "", &trace.FormatError{File: file.File, Reason: fmt.Sprintf("gradients: no tensor %q", like.Name)}
	}
	if info.Numel() != like.Numel() {
		reason := fmt.Sprintf("gradients: %s has the shape %v, not %v", like.Name, info.Shape, like.Shape)
		return nil, "", &trace.FormatError{File: file.File, Reason: reason}
	}
	v, err := file.Part(info, r.from, r.many, into)
	return v, info.Dtype, err
}
