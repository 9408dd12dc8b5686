package inflate

import "encoding/binary"

const (
	inSlack  = 16  // bytes of input that a round of fast may look at: two loads of eight
	outSlack = 320 // bytes of output that a round of fast may write to: three entries, a match of 258, and 31 more
)

// fast decodes symbols as long as there is slack, and no further than where the checksum
// is due. It stops before what needs care: the end of a block, and what is damaged.
//
// A round reads up to three entries with literals, of 33 bits at most, or up to two and
// a match, whose length takes 20 bits and whose distance 28, of the 56 bits and more
// that are ready after each load.
//
// It is one long function on purpose: the place in input and output and the bits that
// are ready stay in registers from symbol to symbol. They are fields again when it ends.
func (r *Reader) fast() {
	buf, in := r.out.buf, r.in.buf[:r.in.end]
	out, pos := r.out.n, r.in.pos
	b, nb := r.in.b, r.in.nb
	c, origin := &r.codes, r.out.origin
	litRest, distRest := uint64(1)<<c.litRest-1, uint64(1)<<c.distRest-1
	lastOut, lastIn := min(len(buf)-outSlack, r.out.summed+crcStep), len(in)-inSlack
	for out <= lastOut && pos <= lastIn {
		b |= binary.LittleEndian.Uint64(in[pos:]) << (nb & 63)
		pos += int((63 - nb) >> 3)
		nb |= 56
		e := c.lit[b&(1<<litBits-1)]
		if e&literals != 0 {
			binary.LittleEndian.PutUint32(buf[out:], e>>8)
			out, b, nb = out+int(e>>5&3), b>>(e&bitsMask), nb-uint(e&bitsMask)
			e = c.lit[b&(1<<litBits-1)]
			if e&literals != 0 {
				binary.LittleEndian.PutUint32(buf[out:], e>>8)
				out, b, nb = out+int(e>>5&3), b>>(e&bitsMask), nb-uint(e&bitsMask)
				e = c.lit[b&(1<<litBits-1)]
				if e&literals != 0 {
					binary.LittleEndian.PutUint32(buf[out:], e>>8)
					out, b, nb = out+int(e>>5&3), b>>(e&bitsMask), nb-uint(e&bitsMask)
					continue
				}
			}
		}
		if e&special != 0 {
			if e&link == 0 {
				break
			}
			e = c.lit[uint64(e>>16)+b>>litBits&litRest]
			if e&special != 0 {
				break
			}
			if e&literals != 0 {
				buf[out] = byte(e >> 8)
				out, b, nb = out+1, b>>(e&bitsMask), nb-uint(e&bitsMask)
				continue
			}
		}
		length := int(e>>16) + int(b&(1<<(e&bitsMask)-1)>>(e>>8&15))
		b, nb = b>>(e&bitsMask), nb-uint(e&bitsMask)

		b |= binary.LittleEndian.Uint64(in[pos:]) << (nb & 63)
		pos += int((63 - nb) >> 3)
		nb |= 56
		e = c.dist[b&(1<<distBits-1)]
		if e&(special|link) == special|link {
			e = c.dist[uint64(e>>16)+b>>distBits&distRest]
		}
		d := int(e>>16) + int(b&(1<<(e&bitsMask)-1)>>(e>>8&15))
		if e&special != 0 || d > out-origin {
			r.copyLen, r.next = length, atDistance
			break
		}
		b, nb = b>>(e&bitsMask), nb-uint(e&bitsMask)

		end := out + length
		if d < 16 {
			repeat(buf, out, end, d)
			out = end
			continue
		}
		for src := out - d; out < end; src, out = src+32, out+32 {
			from, to := (*[32]byte)(buf[src:src+32]), (*[32]byte)(buf[out:out+32])
			*(*[16]byte)(to[:]) = *(*[16]byte)(from[:])
			*(*[16]byte)(to[16:]) = *(*[16]byte)(from[16:])
		}
		out = end
	}
	r.out.n, r.in.pos = out, pos
	r.in.b, r.in.nb = b&(1<<nb-1), nb
}

// repeat fills buf from out to end with what stands d bytes before; it may write up to
// seven bytes more. d is small, so that what is written is soon read again.
func repeat(buf []byte, out, end, d int) {
	if d >= 8 {
		for ; out < end; out += 8 {
			binary.LittleEndian.PutUint64(buf[out:], binary.LittleEndian.Uint64(buf[out-d:]))
		}
		return
	}
	for ; out < end; out++ {
		buf[out] = buf[out-d]
	}
}
