package sidecar

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/internal/jsonerr"
	"github.com/gaprof/gaprof/trace"
)

// Dtype is the type of the elements of a tensor, in the words of safetensors.
type Dtype string

// The types whose values can be read; F32 and F64 can be written.
const (
	F64  Dtype = "F64"
	F32  Dtype = "F32"
	F16  Dtype = "F16"
	BF16 Dtype = "BF16"
)

// sizes is the size of an element of each type of safetensors, in bytes.
var sizes = map[Dtype]int64{
	F64: 8, F32: 4, F16: 2, BF16: 2,
	"I64": 8, "U64": 8, "I32": 4, "U32": 4, "I16": 2, "U16": 2, "I8": 1, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1,
}

// maxHeader bounds the header of a file, in bytes: a hundred thousand tensors, where the
// largest models have some thousands. The reference reader takes three times as much.
const maxHeader = 32 << 20

// TensorInfo is what the header of a file says of a tensor.
type TensorInfo struct {
	Name       string  // unique in its file
	Dtype      Dtype   // of the stored elements
	Shape      []int64 // empty for a scalar
	begin, end int64   // bytes of the data
}

// Numel is the number of elements.
func (t *TensorInfo) Numel() int64 { return (t.end - t.begin) / sizes[t.Dtype] }

// Safetensors is an open file of tensors; values are read one tensor at a time, so
// that gradients larger than memory can be compared. One goroutine at a time.
type Safetensors struct {
	File    string            // its name in errors
	Meta    map[string]string // __metadata__; nil where the header has none
	Tensors []TensorInfo      // in the order of their data

	byName map[string]int
	data   int64 // where the data begins
	from   io.ReaderAt
	closer io.Closer
	buffer []byte // of one tensor, used again
}

// OpenSafetensors opens a file and reads its header. Damaged headers are refused with
// *trace.FormatError; the file must be closed.
func OpenSafetensors(file string) (*Safetensors, error) {
	f, info, err := bounded.Plain(file)
	if err != nil {
		return nil, err
	}
	var s *Safetensors
	if err = bounded.Hollow(file, info); err == nil {
		s, err = ReadSafetensors(f, info.Size(), file)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s.closer = f
	return s, nil
}

// Close closes the file.
func (s *Safetensors) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// ReadSafetensors reads the header of size bytes of tensors: eight bytes with the
// length of the header, the header as JSON, the data. Refused are headers that are
// longer than the file, name a tensor twice, place one outside of the data, over
// another or apart from it, or give it another length than its shape has.
func ReadSafetensors(r io.ReaderAt, size int64, file string) (*Safetensors, error) {
	s := &Safetensors{File: file, from: r}
	bad := func(offset int64, format string, args ...any) error {
		return &trace.FormatError{File: file, Offset: offset, Reason: "safetensors: " + fmt.Sprintf(format, args...)}
	}
	if size < 8 {
		return nil, bad(0, "%d bytes hold no header", size)
	}
	var prefix [8]byte
	if _, err := r.ReadAt(prefix[:], 0); err != nil {
		return nil, bad(0, "%v", err)
	}
	length := binary.LittleEndian.Uint64(prefix[:])
	if length > uint64(size-8) || length > maxHeader {
		return nil, bad(0, "a header of %d bytes in a file of %d; at most %d can be read", length, size, maxHeader)
	}
	header := make([]byte, length)
	if _, err := r.ReadAt(header, 8); err != nil && !(errors.Is(err, io.EOF) && len(header) == 0) {
		return nil, bad(8, "%v", err)
	}
	s.data = 8 + int64(length)
	if err := s.parse(header); err != nil {
		return nil, bad(8+jsonerr.Offset(err), "%v", err)
	}
	if err := s.layOut(size - s.data); err != nil {
		return nil, bad(8, "%v", err)
	}
	return s, nil
}

// tensorHeader is one entry of a header.
type tensorHeader struct {
	Dtype   Dtype   `json:"dtype"`
	Shape   []int64 `json:"shape"`
	Offsets []int64 `json:"data_offsets"`
}

// parse reads the entries of a header, by hand because a name must not occur twice.
func (s *Safetensors) parse(header []byte) error {
	d := json.NewDecoder(bytes.NewReader(header))
	t, err := d.Token()
	switch {
	case err == io.EOF:
		return errors.New("the header is empty")
	case err != nil || t != json.Delim('{'):
		return cmp.Or(err, errors.New("the header is not a JSON object"))
	}
	seen := make(map[string]bool)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name := key.(string)
		if seen[name] {
			return fmt.Errorf("%q occurs twice in the header", name)
		}
		seen[name] = true
		if name == "__metadata__" {
			err = d.Decode(&s.Meta)
		} else {
			err = s.entry(d, name)
		}
		if err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if rest, _ := io.ReadAll(d.Buffered()); len(bytes.TrimSpace(rest)) > 0 {
		return errors.New("the header goes on behind its object")
	}
	return nil
}

func (s *Safetensors) entry(d *json.Decoder, name string) error {
	var h tensorHeader
	if err := d.Decode(&h); err != nil {
		return err
	}
	size, ok := sizes[h.Dtype]
	if !ok {
		return fmt.Errorf("%q has the unknown dtype %q", name, h.Dtype)
	}
	if len(h.Offsets) != 2 || h.Offsets[0] < 0 || h.Offsets[1] < h.Offsets[0] {
		return fmt.Errorf("%q has the data_offsets %v", name, h.Offsets)
	}
	bytes := size
	for _, n := range h.Shape {
		if n < 0 || n > 0 && bytes > math.MaxInt64/n {
			return fmt.Errorf("%q has the shape %v", name, h.Shape)
		}
		bytes *= n
	}
	if got := h.Offsets[1] - h.Offsets[0]; got != bytes {
		return fmt.Errorf("%q has %d bytes, its shape %v of %s wants %d", name, got, h.Shape, h.Dtype, bytes)
	}
	s.Tensors = append(s.Tensors, TensorInfo{name, h.Dtype, h.Shape, h.Offsets[0], h.Offsets[1]})
	return nil
}

// layOut puts the tensors in the order of their data and wants it filled exactly.
func (s *Safetensors) layOut(size int64) error {
	slices.SortFunc(s.Tensors, func(a, b TensorInfo) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end), cmp.Compare(a.Name, b.Name))
	})
	at := int64(0)
	for i := range s.Tensors {
		t := &s.Tensors[i]
		switch {
		case t.end > size:
			return fmt.Errorf("%q ends at byte %d of the data, which has %d", t.Name, t.end, size)
		case t.begin < at:
			return fmt.Errorf("%q lies over the tensor before it", t.Name)
		case t.begin > at:
			return fmt.Errorf("bytes %d to %d of the data belong to no tensor", at, t.begin)
		}
		at = t.end
	}
	if at != size {
		return fmt.Errorf("%d bytes of the data belong to no tensor", size-at)
	}
	return nil
}

// Find returns the tensor called name.
func (s *Safetensors) Find(name string) (*TensorInfo, bool) {
	if s.byName == nil {
		s.byName = make(map[string]int, len(s.Tensors))
		for i := range s.Tensors {
			s.byName[s.Tensors[i].Name] = i
		}
	}
	i, ok := s.byName[name]
	if !ok {
		return nil, false
	}
	return &s.Tensors[i], true
}

// Values reads a tensor of this file into into, which grows as needed. NaN and
// infinities are read as they are.
func (s *Safetensors) Values(t *TensorInfo, into []float64) ([]float64, error) {
	return s.Part(t, 0, t.Numel(), into)
}

// Part is Values of the elements from from on, so many of them, or those that there are:
// tensors that are larger than memory are read part by part.
func (s *Safetensors) Part(t *TensorInfo, from, many int64, into []float64) ([]float64, error) {
	decode, ok := decoders[t.Dtype]
	if !ok {
		reason := fmt.Sprintf("safetensors: %s is of %s, which is no gradient", t.Name, t.Dtype)
		return nil, &trace.FormatError{File: s.File, Offset: s.data + t.begin, Reason: reason}
	}
	from = min(max(from, 0), t.Numel())
	many = min(max(many, 0), t.Numel()-from)
	length, place := many*sizes[t.Dtype], s.data+t.begin+from*sizes[t.Dtype]
	s.buffer = slices.Grow(s.buffer[:0], int(length))[:length]
	if len(s.buffer) > 0 {
		if _, err := s.from.ReadAt(s.buffer, place); err != nil {
			return nil, &trace.FormatError{File: s.File, Offset: place, Reason: "safetensors: " + err.Error()}
		}
	}
	into = into[:0]
	for size, at := int(sizes[t.Dtype]), 0; at < len(s.buffer); at += size {
		into = append(into, decode(s.buffer[at:]))
	}
	return into, nil
}

// decoders read one element, little-endian.
var decoders = map[Dtype]func([]byte) float64{
	F64: func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) },
	F32: func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) },
	BF16: func(b []byte) float64 {
		return float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16))
	},
	F16: func(b []byte) float64 { return half(binary.LittleEndian.Uint16(b)) },
}

// half is the value of a number of IEEE 754 binary16.
func half(bits uint16) float64 {
	sign, exponent, fraction := 1.0, int(bits>>10&0x1f), float64(bits&0x3ff)
	if bits>>15 == 1 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 0x1f:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1+fraction/1024, exponent-15)
}
