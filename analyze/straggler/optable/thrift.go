package optable

import (
	"encoding/binary"
	"errors"
)

// errThrift is metadata that is not what it should be.
var errThrift = errors.New("its metadata is damaged")

// The types of Thrift's compact protocol.
const (
	thriftStop = iota
	thriftTrue
	thriftFalse
	thriftByte
	thriftI16
	thriftI32
	thriftI64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

// Bounds of metadata: tables have a dozen columns.
const (
	deepest      = 32
	mostElements = 1 << 20 // of all lists
)

// skimmer walks through a struct in Thrift's compact protocol, in which Parquet writes its
// metadata (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md),
// and fails where a length is beyond the end.
type skimmer struct {
	left     []byte
	elements uint64
}

// skim walks through the struct that a text begins with and returns its length. The whole
// numbers of the outermost struct are entered into fields, by the numbers of the fields.
func skim(text []byte, fields map[int64]int64) (n int, err error) {
	s := skimmer{left: text}
	if err := s.fields(0, fields); err != nil {
		return 0, err
	}
	return len(text) - len(s.left), nil
}

// fields reads the fields of a struct.
func (s *skimmer) fields(depth int, note map[int64]int64) error {
	id := int64(0)
	for {
		head, err := s.byte()
		if err != nil || head == thriftStop {
			return err
		}
		if delta := int64(head >> 4); delta != 0 {
			id += delta
		} else if id, err = s.signed(); err != nil {
			return err
		}
		kind := head & 15
		if kind >= thriftI16 && kind <= thriftI64 {
			v, err := s.signed()
			if err != nil {
				return err
			}
			if note != nil {
				note[id] = v
			}
			continue
		}
		if kind == thriftTrue || kind == thriftFalse {
			continue // the type is the value
		}
		if err := s.value(kind, depth+1); err != nil {
			return err
		}
	}
}

// value reads a value of a type, as it stands in a list.
func (s *skimmer) value(kind byte, depth int) error {
	if depth > deepest {
		return errThrift
	}
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		return s.skip(1)
	case thriftI16, thriftI32, thriftI64:
		_, err := s.signed()
		return err
	case thriftDouble:
		return s.skip(8)
	case thriftBinary:
		n, err := s.unsigned()
		if err != nil {
			return err
		}
		return s.skip(n)
	case thriftList, thriftSet:
		return s.list(depth)
	case thriftMap:
		return s.pairs(depth)
	case thriftStruct:
		return s.fields(depth, nil)
	}
	return errThrift
}

// list reads a list or a set.
func (s *skimmer) list(depth int) error {
	head, err := s.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = s.unsigned(); err != nil {
			return err
		}
	}
	return s.repeat(n, depth, head&15)
}

// pairs reads a map.
func (s *skimmer) pairs(depth int) error {
	n, err := s.unsigned()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := s.byte()
	if err != nil {
		return err
	}
	return s.repeat(n, depth, kinds>>4, kinds&15)
}

// repeat reads values of some types so many times in turn.
func (s *skimmer) repeat(n uint64, depth int, kinds ...byte) error {
	if s.elements += n; n > uint64(len(s.left)) || s.elements > mostElements {
		return errThrift
	}
	for range n {
		for _, kind := range kinds {
			if err := s.value(kind, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *skimmer) byte() (byte, error) {
	if len(s.left) == 0 {
		return 0, errThrift
	}
	b := s.left[0]
	s.left = s.left[1:]
	return b, nil
}

func (s *skimmer) skip(n uint64) error {
	if n > uint64(len(s.left)) {
		return errThrift
	}
	s.left = s.left[n:]
	return nil
}

func (s *skimmer) unsigned() (uint64, error) {
	v, n := binary.Uvarint(s.left)
	if n <= 0 {
		return 0, errThrift
	}
	s.left = s.left[n:]
	return v, nil
}

// signed reads a whole number, which is written in zigzag.
func (s *skimmer) signed() (int64, error) {
	v, err := s.unsigned()
	return int64(v>>1) ^ -int64(v&1), err
}
