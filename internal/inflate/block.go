package inflate

import "encoding/binary"

// block reads the head of a block.
func (r *Reader) block() error {
	if !r.need(3) {
		return r.cut()
	}
	r.final = r.take(1) == 1
	switch r.take(2) {
	case 0:
		return r.storedHead()
	case 1:
		r.next = inCodes
		r.codes.fix()
		return nil
	case 2:
		r.next = inCodes
		return r.codesHead()
	}
	return r.damaged(errBlock)
}

// endBlock goes on behind a block.
func (r *Reader) endBlock() {
	if r.next = atBlock; r.final {
		r.next = atTrailer
	}
}

func (r *Reader) storedHead() error {
	r.align()
	var h [4]byte
	if err := r.bytes(h[:]); err != nil {
		return err
	}
	n := binary.LittleEndian.Uint16(h[:])
	if n != ^binary.LittleEndian.Uint16(h[2:]) {
		return r.damaged(errStored)
	}
	r.copyLen, r.next = int(n), inStored
	return nil
}

// stored copies of a stored block what there is and what there is room for.
func (r *Reader) stored() error {
	if r.copyLen == 0 {
		r.endBlock()
		return nil
	}
	if r.pos == r.end && !r.more() {
		return r.cut()
	}
	n := copy(r.buf[r.out:], r.in[r.pos:min(r.end, r.pos+r.copyLen)])
	r.out, r.pos, r.copyLen = r.out+n, r.pos+n, r.copyLen-n
	return nil
}

// coded reads symbols: fast where there is slack, and then one more with care.
func (r *Reader) coded() error {
	if r.end-r.pos < inSlack && r.srcErr == nil {
		r.more()
	}
	if r.end-r.pos >= inSlack && len(r.buf)-r.out >= outSlack {
		if r.fast(); r.next != inCodes {
			return nil
		}
	}
	return r.symbol()
}

// symbol reads one symbol.
func (r *Reader) symbol() error {
	c := &r.codes
	e, n, err := r.entry(c.lit[:], litBits, c.litRest, c.least)
	if err != nil {
		return err
	}
	switch {
	case e&literals != 0:
		r.take(n)
		r.buf[r.out] = byte(e >> 8)
		r.out++
	case e&special == 0:
		extra := uint(e&bitsMask) - n
		if r.take(n); !r.need(extra) {
			return r.cut()
		}
		r.copyLen, r.next = int(e>>16)+int(r.take(extra)), atDistance
	case e&blockEnd != 0:
		r.take(n)
		r.endBlock()
	default:
		return r.damaged(errSymbol)
	}
	return nil
}

// entry finds the next symbol in a table and makes its n bits ready, least at least.
func (r *Reader) entry(table []uint32, width, rest, least uint) (e uint32, n uint, err error) {
	for n = least; ; {
		if !r.need(n) {
			return 0, 0, r.cut()
		}
		if e = table[r.b&(1<<width-1)]; e&link != 0 && e&literals == 0 && e&special != 0 {
			e = table[uint64(e>>16)+r.b>>width&(1<<rest-1)]
		}
		n = uint(e >> 8 & 15)
		if e&literals != 0 {
			n = uint(r.codes.lengths[byte(e>>8)])
		}
		if n == 0 {
			return 0, 0, r.damaged(errSymbol)
		}
		if n <= r.nb {
			return e, n, nil
		}
	}
}

// distance reads the distance of a match.
func (r *Reader) distance() error {
	c := &r.codes
	e, n, err := r.entry(c.dist[:], distBits, c.distRest, c.distLeast)
	if err != nil {
		return err
	}
	if e&special != 0 {
		return r.damaged(errSymbol)
	}
	extra := uint(e&bitsMask) - n
	if r.take(n); !r.need(extra) {
		return r.cut()
	}
	if r.copyDist = int(e>>16) + int(r.take(extra)); r.copyDist > r.out-r.origin {
		return r.damaged(errDistance)
	}
	r.next = inMatch
	return nil
}

// match copies of a match what there is room for.
func (r *Reader) match() {
	for r.copyLen > 0 && r.out < len(r.buf) {
		n := copy(r.buf[r.out:min(len(r.buf), r.out+r.copyLen)], r.buf[r.out-r.copyDist:r.out])
		r.out, r.copyLen = r.out+n, r.copyLen-n
	}
	if r.copyLen == 0 {
		r.next = inCodes
	}
}
