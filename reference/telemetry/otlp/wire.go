package otlp

import (
	"encoding/binary"
	"math"
)

// message is a protobuf message as it is written. Fields that hold their default are left
// out, as the encoding has it; what must be told from absent is written by must functions.
type message []byte

// The wire types of protobuf.
const (
	varintType  = 0
	fixed64Type = 1
	bytesType   = 2
	fixed32Type = 5
)

func (m *message) tag(field, wire uint64) { *m = binary.AppendUvarint(*m, field<<3|wire) }

func (m *message) uint(field, v uint64) {
	if v != 0 {
		m.mustUint(field, v)
	}
}

func (m *message) mustUint(field, v uint64) {
	m.tag(field, varintType)
	*m = binary.AppendUvarint(*m, v)
}

// sint writes a number as sint32 is written.
func (m *message) sint(field uint64, v int32) { m.uint(field, uint64(uint32(v<<1)^uint32(v>>31))) }

func (m *message) fixed32(field uint64, v uint32) {
	if v != 0 {
		m.tag(field, fixed32Type)
		*m = binary.LittleEndian.AppendUint32(*m, v)
	}
}

func (m *message) fixed64(field, v uint64) {
	if v != 0 {
		m.mustFixed64(field, v)
	}
}

func (m *message) mustFixed64(field, v uint64) {
	m.tag(field, fixed64Type)
	*m = binary.LittleEndian.AppendUint64(*m, v)
}

func (m *message) mustDouble(field uint64, v float64) { m.mustFixed64(field, math.Float64bits(v)) }

func (m *message) bytes(field uint64, b []byte) {
	if len(b) > 0 {
		m.mustBytes(field, b)
	}
}

func (m *message) mustBytes(field uint64, b []byte) {
	m.tag(field, bytesType)
	*m = binary.AppendUvarint(*m, uint64(len(b)))
	*m = append(*m, b...)
}

func (m *message) text(field uint64, s string) { m.bytes(field, []byte(s)) }

// add writes a message within this one, also an empty one.
func (m *message) add(field uint64, write func(*message)) {
	var inner message
	write(&inner)
	m.mustBytes(field, inner)
}

// packed writes a list of 64-bit numbers as one field.
func (m *message) packed(field uint64, list []uint64) {
	var inner message
	for _, v := range list {
		inner = binary.LittleEndian.AppendUint64(inner, v)
	}
	m.bytes(field, inner)
}
