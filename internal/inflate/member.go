package inflate

import (
	"encoding/binary"
	"hash/crc32"
)

// Flags of the header of a member.
const (
	hasHeaderSum = 1 << 1
	hasExtra     = 1 << 2
	hasName      = 1 << 3
	hasComment   = 1 << 4
)

// longestText is how long the name and the comment of a member may be, with the zero
// behind them, as in compress/gzip.
const longestText = 512

// member reads the header of a member, if there is one more.
func (r *Reader) member() error {
	if r.pos == r.end && !r.more() {
		return r.srcErr
	}
	var h [10]byte
	if err := r.bytes(h[:]); err != nil {
		return err
	}
	if h[0] != 0x1f || h[1] != 0x8b || h[2] != 8 {
		return r.damaged(errHeader)
	}
	sum := crc32.ChecksumIEEE(h[:])
	if err := r.options(h[3], &sum); err != nil {
		return err
	}
	r.next, r.sum, r.text, r.origin = atBlock, 0, 0, r.out
	return nil
}

// options reads what a header holds by its flags. sum is the checksum of what stands
// before.
func (r *bitReader) options(flags byte, sum *uint32) error {
	var b [2]byte
	if flags&hasExtra != 0 {
		if err := r.summing(b[:], sum); err != nil {
			return err
		}
		if err := r.summing(make([]byte, binary.LittleEndian.Uint16(b[:])), sum); err != nil {
			return err
		}
	}
	for _, flag := range []byte{hasName, hasComment} {
		if flags&flag != 0 {
			if err := r.headerText(sum); err != nil {
				return err
			}
		}
	}
	if flags&hasHeaderSum == 0 {
		return nil
	}
	if err := r.bytes(b[:]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint16(b[:]) != uint16(*sum) {
		return r.damaged(errHeader)
	}
	return nil
}

// summing is bytes that become part of a sum.
func (r *bitReader) summing(p []byte, sum *uint32) error {
	if err := r.bytes(p); err != nil {
		return err
	}
	*sum = crc32.Update(*sum, crc32.IEEETable, p)
	return nil
}

// headerText passes over text that a zero ends.
func (r *bitReader) headerText(sum *uint32) error {
	var b [1]byte
	for range longestText {
		if err := r.summing(b[:], sum); err != nil {
			return err
		}
		if b[0] == 0 {
			return nil
		}
	}
	return r.damaged(errHeader)
}

// trailer compares what was read with what the end of a member says of it.
func (r *Reader) trailer() error {
	r.align()
	r.account()
	var t [8]byte
	if err := r.bytes(t[:]); err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(t[:]) != r.sum || binary.LittleEndian.Uint32(t[4:]) != uint32(r.text) {
		return r.damaged(errChecksum)
	}
	r.next = atMember
	return nil
}
