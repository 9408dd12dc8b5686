package optable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/format"
)

// values are those of a page, of one type.
type values struct {
	kind    format.Type
	int32s  []int32
	int64s  []int64
	floats  []float32
	doubles []float64
	text    []byte   // of all texts
	offsets []uint32 // where each text begins, and the end of the last
	entries []uint32 // which of them these are; nil for all in order
}

// encodings decode what does not refer to a dictionary.
var encodings = map[format.Encoding]encoding.Encoding{
	format.Plain:                new(plain.Encoding),
	format.DeltaBinaryPacked:    new(delta.BinaryPackedEncoding),
	format.DeltaLengthByteArray: new(delta.LengthByteArrayEncoding),
	format.DeltaByteArray:       new(delta.ByteArrayEncoding),
	format.ByteStreamSplit:      new(bytestreamsplit.Encoding),
}

// decode decodes n values of a type.
func decode(kind format.Type, by format.Encoding, body []byte, n int) (*values, error) {
	e, ok := encodings[by]
	if !ok {
		return nil, fmt.Errorf("encoding %v is not known", by)
	}
	if n < 0 || n > mostRows {
		return nil, errTooLong
	}
	if n == 0 {
		return &values{kind: kind}, nil
	}
	if err := checkDelta(by, body, n); err != nil {
		return nil, err
	}
	v := &values{kind: kind}
	var err error
	switch kind {
	case format.Int32:
		v.int32s, err = e.DecodeInt32(nil, body)
	case format.Int64:
		v.int64s, err = e.DecodeInt64(nil, body)
	case format.Float:
		v.floats, err = e.DecodeFloat(nil, body)
	case format.Double:
		v.doubles, err = e.DecodeDouble(nil, body)
	case format.ByteArray:
		v.text, v.offsets, err = e.DecodeByteArray(nil, body, nil)
	default:
		return nil, fmt.Errorf("%v is neither a number nor text", kind)
	}
	if err == nil && v.len() < n {
		err = errors.New("fewer values than the page states")
	}
	return v.first(n), err
}

// checkDelta reads how many values a page in a delta encoding states, for which the library
// takes memory: the third number of its head.
func checkDelta(by format.Encoding, body []byte, n int) error {
	if by == format.Plain || by == format.ByteStreamSplit {
		return nil
	}
	stated := uint64(0)
	for range 3 {
		v, size := binary.Uvarint(body)
		if size <= 0 {
			return errThrift
		}
		stated, body = v, body[size:]
	}
	if stated != uint64(n) {
		return fmt.Errorf("%d values in a page of %d", stated, n)
	}
	return nil
}

// first leaves out what lies after the values of a page.
func (v *values) first(n int) *values {
	v.int32s, v.int64s = v.int32s[:min(n, len(v.int32s))], v.int64s[:min(n, len(v.int64s))]
	v.floats, v.doubles = v.floats[:min(n, len(v.floats))], v.doubles[:min(n, len(v.doubles))]
	v.offsets = v.offsets[:min(n+1, len(v.offsets))]
	return v
}

// len is the number of values.
func (v *values) len() int {
	if v.entries != nil {
		return len(v.entries)
	}
	return len(v.int32s) + len(v.int64s) + len(v.floats) + len(v.doubles) + max(0, len(v.offsets)-1)
}

// at is the place of a value among those that are stored.
func (v *values) at(i int) int {
	if v.entries != nil {
		return int(v.entries[i])
	}
	return i
}

// take takes a value of a Parquet file.
func (c *column) take(t *Table, v *values, i int) error {
	i = v.at(i)
	switch {
	case c.text != nil && v.kind == format.ByteArray:
		return c.text(t, string(v.text[v.offsets[i]:v.offsets[i+1]]))
	case c.text != nil:
		return fmt.Errorf("%v is not text", v.kind)
	case v.kind == format.ByteArray:
		return fmt.Errorf("%q is not a number", v.text[v.offsets[i]:v.offsets[i+1]])
	case c.real != nil:
		return c.real(t, v.real(i))
	case v.kind == format.Int32:
		return c.whole(t, int64(v.int32s[i]))
	case v.kind == format.Int64:
		return c.whole(t, v.int64s[i])
	}
	x := v.real(i)
	if x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return fmt.Errorf("%v is not a whole number", x)
	}
	return c.whole(t, int64(x))
}

// real is a number as a float64.
func (v *values) real(i int) float64 {
	switch v.kind {
	case format.Float:
		return float64(v.floats[i])
	case format.Int32:
		return float64(v.int32s[i])
	case format.Int64:
		return float64(v.int64s[i])
	}
	return v.doubles[i]
}
