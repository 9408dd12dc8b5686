package inflate

import (
	"encoding/binary"
	"hash/crc32"
)

// Flags of the header of a member, RFC 1952, 2.3.1.
const (
	hasHeaderSum = 1 << 1
	hasExtra     = 1 << 2
	hasName      = 1 << 3
	hasComment   = 1 << 4
)

// longestText is how many bytes the name and the comment of a member may each have, with
// the zero that ends them. RFC 1952 sets no limit; compress/gzip has this one.
const longestText = 512

// member goes to the first block of the next member, if there is one.
func (r *Reader) member() error {
	if r.in.ended() {
		return r.in.srcErr
	}
	h := header{in: &r.in}
	if err := h.read(); err != nil {
		return err
	}
	r.out.begin()
	r.next = atBlock
	return nil
}

// trailer compares the text of a member with what the end of the member says of it.
func (r *Reader) trailer() error {
	r.in.align()
	r.out.account()
	var t [8]byte
	if err := r.in.bytes(t[:]); err != nil {
		return err
	}
	sum, size := binary.LittleEndian.Uint32(t[:]), binary.LittleEndian.Uint32(t[4:])
	if sum != r.out.sum || size != uint32(r.out.text) { // the length counts modulo 2^32
		return r.in.damaged(errChecksum)
	}
	r.next = atMember
	return nil
}

// header reads the header of a member. Nothing in it is kept: names and times of
// compressed files say nothing about a trace.
type header struct {
	in  *input
	sum uint32 // of the bytes so far, which hasHeaderSum is about
}

func (h *header) read() error {
	var fixed [10]byte
	if err := h.bytes(fixed[:]); err != nil {
		return err
	}
	if fixed[0] != 0x1f || fixed[1] != 0x8b || fixed[2] != 8 {
		return h.in.damaged(errHeader)
	}
	return h.options(fixed[3])
}

// options reads what the flags say that the header holds besides.
func (h *header) options(flags byte) error {
	if flags&hasExtra != 0 {
		if err := h.extra(); err != nil {
			return err
		}
	}
	for _, flag := range []byte{hasName, hasComment} {
		if flags&flag != 0 {
			if err := h.text(); err != nil {
				return err
			}
		}
	}
	if flags&hasHeaderSum == 0 {
		return nil
	}
	sum, err := h.in.uint16() // no part of what it sums
	if err == nil && sum != uint16(h.sum) {
		err = h.in.damaged(errHeader)
	}
	return err
}

// bytes reads len(p) bytes into p and the checksum.
func (h *header) bytes(p []byte) error {
	if err := h.in.bytes(p); err != nil {
		return err
	}
	h.sum = crc32.Update(h.sum, crc32.IEEETable, p)
	return nil
}

// extra skips the extra field.
func (h *header) extra() error {
	var n [2]byte
	if err := h.bytes(n[:]); err != nil {
		return err
	}
	return h.bytes(make([]byte, binary.LittleEndian.Uint16(n[:])))
}

// text skips text up to the zero that ends it.
func (h *header) text() error {
	var b [1]byte
	for range longestText {
		if err := h.bytes(b[:]); err != nil {
			return err
		}
		if b[0] == 0 {
			return nil
		}
	}
	return h.in.damaged(errHeader)
}
