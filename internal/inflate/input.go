package inflate

import (
	"encoding/binary"
	"io"
)

const (
	inputSize = 128 << 10 // bytes of the compressed stream that are read at once
	mostEmpty = 100       // reads in a row that may give nothing, as in package bufio
)

// input is the compressed stream: a buffer of bytes, and the bits that were taken out of
// it and not used yet. Whoever takes bits may have taken whole bytes too many; giveBack
// puts them back before anyone looks at bytes or at the place in the stream.
type input struct {
	src    io.Reader
	srcErr error  // why src gives no more; nil while it may
	buf    []byte // buf[pos:end] was read from src and not used yet
	pos    int
	end    int
	base   int64  // offset of buf[0] in src
	b      uint64 // the next nb bits of the stream, from the lowest; the others are 0
	nb     uint
}

// left is how many bytes can be had without reading from src.
func (in *input) left() int { return in.end - in.pos }

// ended reports whether no byte is left, neither here nor in src, which it asks.
func (in *input) ended() bool { return in.pos == in.end && !in.more() }

// more reads from src behind what is not used yet, and reports whether it gave anything.
func (in *input) more() bool {
	in.giveBack()
	if in.pos > 0 {
		in.base += int64(in.pos)
		in.end = copy(in.buf, in.buf[in.pos:in.end])
		in.pos = 0
	}
	for empty := 0; in.srcErr == nil; empty++ {
		var n int
		n, in.srcErr = in.src.Read(in.buf[in.end:])
		if in.end += n; n > 0 {
			return true
		}
		if empty == mostEmpty && in.srcErr == nil {
			in.srcErr = io.ErrNoProgress
		}
	}
	return false
}

// need makes n bits ready, taking no more bytes than that asks for, and reports whether
// src had them.
func (in *input) need(n uint) bool {
	for in.nb < n {
		if in.ended() {
			return false
		}
		in.b |= uint64(in.buf[in.pos]) << in.nb
		in.pos++
		in.nb += 8
	}
	return true
}

// peek returns the next n bits. Those that are not ready are 0.
func (in *input) peek(n uint) uint64 { return in.b & (1<<n - 1) }

// take returns the next n bits, which must be ready, and goes on behind them.
func (in *input) take(n uint) uint {
	v := uint(in.peek(n))
	in.b >>= n
	in.nb -= n
	return v
}

// giveBack puts whole bytes that are ready, but not used, back.
func (in *input) giveBack() {
	in.pos -= int(in.nb / 8)
	in.nb %= 8
	in.b &= 1<<in.nb - 1
}

// align drops the rest of a byte that was begun.
func (in *input) align() {
	in.giveBack()
	in.b, in.nb = 0, 0
}

// bytes reads len(p) whole bytes. The input must be aligned.
func (in *input) bytes(p []byte) error {
	for len(p) > 0 {
		if in.ended() {
			return in.cut()
		}
		p = p[in.copy(p):]
	}
	return nil
}

// copy moves as many bytes to p as it has room for and are at hand, and returns how many.
func (in *input) copy(p []byte) int {
	n := copy(p, in.buf[in.pos:in.end])
	in.pos += n
	return n
}

// uint16 reads a number of two bytes. The input must be aligned.
func (in *input) uint16() (uint16, error) {
	var b [2]byte
	err := in.bytes(b[:])
	return binary.LittleEndian.Uint16(b[:]), err
}

// cut is the error where src ends within the stream: its own, unless it just ended.
func (in *input) cut() error {
	if in.srcErr != io.EOF {
		return in.srcErr
	}
	return &Error{in.base + int64(in.end), io.ErrUnexpectedEOF}
}

// damaged is err with the place up to which the stream was read.
func (in *input) damaged(err error) error {
	return &Error{in.base + int64(in.pos) - int64(in.nb/8), err}
}
