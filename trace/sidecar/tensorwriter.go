package sidecar

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

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
