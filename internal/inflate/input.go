package inflate

import "io"

// bitReader is the compressed stream, read bit by bit or in whole bytes. It belongs to one
// Reader, whose loops work on copies of its fields and put them back.
type bitReader struct {
	src    io.Reader
	srcErr error  // why src gives no more
	in     []byte // in[pos:end] is read from src and not used yet
	pos    int
	end    int
	base   int64  // offset of in[0] in src
	b      uint64 // the next nb bits of the stream, from the lowest
	nb     uint
}

// more reads more of the source behind what is not used yet, and tells whether it gave
// any.
func (r *bitReader) more() bool {
	r.giveBack()
	if r.pos > 0 {
		r.base += int64(r.pos)
		r.end = copy(r.in, r.in[r.pos:r.end])
		r.pos = 0
	}
	for empty := 0; r.srcErr == nil; empty++ {
		var n int
		n, r.srcErr = r.src.Read(r.in[r.end:])
		if r.end += n; n > 0 {
			return true
		}
		if empty == 100 && r.srcErr == nil {
			r.srcErr = io.ErrNoProgress
		}
	}
	return false
}

// need makes n bits ready, taking no byte more than they ask for.
func (r *bitReader) need(n uint) bool {
	for r.nb < n {
		if r.pos == r.end && !r.more() {
			return false
		}
		r.b |= uint64(r.in[r.pos]) << r.nb
		r.pos++
		r.nb += 8
	}
	return true
}

// take returns the next n bits, which are ready.
func (r *bitReader) take(n uint) uint {
	v := uint(r.b & (1<<n - 1))
	r.b >>= n
	r.nb -= n
	return v
}

// giveBack puts whole bytes that are ready, but not used, back.
func (r *bitReader) giveBack() {
	r.pos -= int(r.nb / 8)
	r.nb %= 8
	r.b &= 1<<r.nb - 1
}

// align drops the rest of a byte that was begun.
func (r *bitReader) align() {
	r.giveBack()
	r.b, r.nb = 0, 0
}

// bytes reads len(p) whole bytes.
func (r *bitReader) bytes(p []byte) error {
	for len(p) > 0 {
		if r.pos == r.end && !r.more() {
			return r.cut()
		}
		n := copy(p, r.in[r.pos:r.end])
		p, r.pos = p[n:], r.pos+n
	}
	return nil
}

// cut is the error where the source ends within the stream.
func (r *bitReader) cut() error {
	if r.srcErr != io.EOF {
		return r.srcErr
	}
	return &Error{r.base + int64(r.end), io.ErrUnexpectedEOF}
}

// damaged is err with the place that the stream was read up to.
func (r *bitReader) damaged(err error) error {
	return &Error{r.base + int64(r.pos) - int64(r.nb/8), err}
}
