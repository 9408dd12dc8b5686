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
	s, err := ReadSafetensors(f, info.Size(), file)
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
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
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
	for i := range s.Tensors {
		if s.Tensors[i].Name == name {
			return &s.Tensors[i], true
		}
	}
	return nil, false
}

// Values reads a tensor of this file into into, which grows as needed. NaN and
// infinities are read as they are.
func (s *Safetensors) Values(t *TensorInfo, into []float64) ([]float64, error) {
	decode, ok := decoders[t.Dtype]
	if !ok {
		reason := fmt.Sprintf("safetensors: %s is of %s, which is no gradient", t.Name, t.Dtype)
		return nil, &trace.FormatError{File: s.File, Offset: s.data + t.begin, Reason: reason}
	}
	s.buffer = slices.Grow(s.buffer[:0], int(t.end-t.begin))[:t.end-t.begin]
	if len(s.buffer) > 0 {
		if _, err := s.from.ReadAt(s.buffer, s.data+t.begin); err != nil {
			reason := "safetensors: " + err.Error()
			return nil, &trace.FormatError{File: s.File, Offset: s.data + t.begin, Reason: reason}
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

// Tensor is a tensor to write.
type Tensor struct {
	Name   string    // unique in its file
	Dtype  Dtype     // F32 or F64
	Shape  []int64   // empty for a scalar
	Values []float64 // row-major, as many as Shape has elements
}

// WriteSafetensors writes tensors in their order. The header is padded so that the
// data begins at a multiple of eight bytes, and the same tensors give the same bytes.
func WriteSafetensors(w io.Writer, meta map[string]string, tensors []Tensor) error {
	var header bytes.Buffer
	header.WriteByte('{')
	if len(meta) > 0 {
		text, err := json.Marshal(meta) // in the order of the keys
		if err != nil {
			return err
		}
		header.WriteString(`"__metadata__":` + string(text))
	}
	at := int64(0)
	for i := range tensors {
		t := &tensors[i]
		numel := int64(1)
		for _, n := range t.Shape {
			numel *= n
		}
		if t.Dtype != F32 && t.Dtype != F64 || numel != int64(len(t.Values)) {
			return fmt.Errorf("%s: %d values of %q for the shape %v cannot be written",
				t.Name, len(t.Values), t.Dtype, t.Shape)
		}
		end := at + numel*sizes[t.Dtype]
		name, _ := json.Marshal(t.Name) // a string is always JSON
		entry, err := json.Marshal(tensorHeader{t.Dtype, append([]int64{}, t.Shape...), []int64{at, end}})
		if err != nil {
			return err
		}
		if header.Len() > 1 {
			header.WriteByte(',')
		}
		header.WriteString(string(name) + ":" + string(entry))
		at = end
	}
	header.WriteByte('}')
	for header.Len()%8 != 0 {
		header.WriteByte(' ')
	}
	prefix := binary.LittleEndian.AppendUint64(nil, uint64(header.Len()))
	if _, err := w.Write(append(prefix, header.Bytes()...)); err != nil {
		return err
	}
	for i := range tensors {
		if _, err := w.Write(encode(&tensors[i])); err != nil {
			return err
		}
	}
	return nil
}

func encode(t *Tensor) []byte {
	data := make([]byte, 0, int64(len(t.Values))*sizes[t.Dtype])
	for _, v := range t.Values {
		if t.Dtype == F32 {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
		} else {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
	}
	return data
}
