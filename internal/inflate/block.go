package inflate

// Every step of this file can stop where input or room for output ends, and go on from
// there when Fill is called again: what was decoded so far stands in the fields of Reader.

// block reads the head of a block.
func (r *Reader) block() error {
	if !r.in.need(3) {
		return r.in.cut()
	}
	r.final = r.in.take(1) == 1
	switch r.in.take(2) {
	case 0:
		return r.storedHead()
	case 1:
		r.next = inCodes
		r.codes.fix()
		return nil
	case 2:
		r.next = inCodes
		return r.codes.read(&r.in)
	}
	return r.in.damaged(errBlock)
}

// endBlock goes on behind a block.
func (r *Reader) endBlock() {
	if r.next = atBlock; r.final {
		r.next = atTrailer
	}
}

// storedHead reads the length of a stored block, which stands there twice.
func (r *Reader) storedHead() error {
	r.in.align()
	n, err := r.in.uint16()
	if err != nil {
		return err
	}
	inverse, err := r.in.uint16()
	if err != nil {
		return err
	}
	if n != ^inverse {
		return r.in.damaged(errStored)
	}
	r.copyLen, r.next = int(n), inStored
	return nil
}

// stored copies as much of a stored block as is at hand and there is room for.
func (r *Reader) stored() error {
	if r.copyLen == 0 {
		r.endBlock()
		return nil
	}
	if r.in.ended() {
		return r.in.cut()
	}
	n := r.in.copy(r.out.free(r.copyLen))
	r.out.n += n
	r.copyLen -= n
	return nil
}

// coded decodes symbols: fast where there is slack, and then one more with care.
func (r *Reader) coded() error {
	if r.in.left() < inSlack && r.in.srcErr == nil {
		r.in.more()
	}
	if r.in.left() >= inSlack && len(r.out.buf)-r.out.n >= outSlack {
		if r.fast(); r.next != inCodes {
			return nil
		}
	}
	return r.symbol()
}

// symbol decodes a literal, the length of a match or the end of the block.
func (r *Reader) symbol() error {
	c := &r.codes
	e, n, err := c.entry(&r.in, c.lit[:], litBits, c.litRest, c.least)
	if err != nil {
		return err
	}
	switch {
	case e&literals != 0:
		r.in.take(n)
		r.out.buf[r.out.n] = byte(e >> 8)
		r.out.n++
	case e&special == 0:
		r.next = atDistance
		r.copyLen, err = r.in.value(e, n)
		return err
	case e&blockEnd != 0:
		r.in.take(n)
		r.endBlock()
	default:
		return r.in.damaged(errSymbol)
	}
	return nil
}

// distance decodes the distance of a match whose length is known.
func (r *Reader) distance() error {
	c := &r.codes
	e, n, err := c.entry(&r.in, c.dist[:], distBits, c.distRest, c.distLeast)
	if err != nil {
		return err
	}
	if e&special != 0 {
		return r.in.damaged(errSymbol)
	}
	if r.copyDist, err = r.in.value(e, n); err != nil {
		return err
	}
	if r.copyDist > r.out.n-r.out.origin {
		return r.in.damaged(errDistance)
	}
	r.next = inMatch
	return nil
}

// match copies as much of a match as there is room for.
func (r *Reader) match() {
	r.copyLen -= r.out.repeat(r.copyLen, r.copyDist)
	if r.copyLen == 0 {
		r.next = inCodes
	}
}

// value reads a length or a distance: the n bits of the code whose entry is e, and those
// behind them that are added to its least value.
func (in *input) value(e uint32, n uint) (int, error) {
	extra := uint(e&bitsMask) - n
	if in.take(n); !in.need(extra) {
		return 0, in.cut()
	}
	return int(e>>16) + int(in.take(extra)), nil
}

// entry finds the entry of the next symbol in a table whose first part is looked up by
// width bits, and further ones by rest. It makes the n bits of the symbol ready and leaves
// them there. Bits are asked for one byte at a time, from least on: a code may be the
// last of a stream, behind which there is nothing to look ahead at.
func (c *codes) entry(in *input, table []uint32, width, rest, least uint) (e uint32, n uint, err error) {
	for n = least; ; {
		if !in.need(n) {
			return 0, 0, in.cut()
		}
		if e = table[in.peek(width)]; e&link != 0 && e&literals == 0 && e&special != 0 {
			e = table[uint64(e>>16)+in.b>>width&(1<<rest-1)]
		}
		n = uint(e >> 8 & 15)
		if e&literals != 0 {
			n = uint(c.lengths[byte(e>>8)])
		}
		if n == 0 {
			return 0, 0, in.damaged(errSymbol)
		}
		if n <= in.nb {
			return e, n, nil
		}
	}
}
