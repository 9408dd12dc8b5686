package normalization

import (
	"bytes"
	"io"
	"reflect"
	"testing"

	"github.com/gaprof/gaprof/trace/sidecar"
)

// readAts counts what is read of a file, and how much at once.
type readAts struct {
	io.ReaderAt
	all, most int
}

func (r *readAts) ReadAt(p []byte, off int64) (int, error) {
	r.all, r.most = r.all+len(p), max(r.most, len(p))
	return r.ReaderAt.ReadAt(p, off)
}

// counted opens tensors of some lengths, with the values that f gives.
func counted(t *testing.T, f func(i int) float64, lengths ...int) (*sidecar.Safetensors, *readAts) {
	t.Helper()
	var list []sidecar.Tensor
	for i, n := range lengths {
		values := make([]float64, n)
		for j := range values {
			values[j] = f(i + j)
		}
		list = append(list, sidecar.Tensor{Name: string(rune('a' + i)), Dtype: sidecar.F64, Shape: []int64{int64(n)},
			Values: values})
	}
	var b bytes.Buffer
	if err := sidecar.WriteSafetensors(&b, nil, list); err != nil {
		t.Fatal(err)
	}
	from := &readAts{ReaderAt: bytes.NewReader(b.Bytes())}
	s, err := sidecar.ReadSafetensors(from, int64(b.Len()), "f")
	if err != nil {
		t.Fatal(err)
	}
	from.all, from.most = 0, 0
	return s, from
}

// Tensors are compared part by part, with the same outcome to the last bit, and no more of
// them is in memory than there may be, of all files together.
func TestParts(t *testing.T) {
	lengths := []int{0, 1, 1000, 33, 64}
	c := &Counts{Tokens: [][]int64{{3, 5}, {7, 1}}}
	audited := func() (*Verdict, []*readAts) {
		files := []*readAts{}
		open := func(scale float64) *sidecar.Safetensors {
			s, from := counted(t, func(i int) float64 { return scale * float64(i%17-5) }, lengths...)
			files = append(files, from)
			return s
		}
		g := Gradients{Observed: open(2), Reference: open(1), Micro: [][]*sidecar.Safetensors{{open(3), open(1)},
			{open(2), open(5)}}}
		v, err := Audit(c, g)
		if err != nil {
			t.Fatal(err)
		}
		return v, files
	}
	whole, _ := audited()
	elements, part := mostElements, leastPart
	defer func() { mostElements, leastPart = elements, part }()
	mostElements, leastPart = 8*32, 4
	parts, files := audited()
	if !reflect.DeepEqual(whole, parts) || whole.Deviation.NormRatio == nil {
		t.Errorf("in parts %+v, as a whole %+v", parts, whole)
	}
	for i, f := range files {
		if f.most != 32*8 || f.all != 8*(1+1000+33+64) {
			t.Errorf("file %d: %d bytes at once, %d in all", i, f.most, f.all)
		}
	}
}
