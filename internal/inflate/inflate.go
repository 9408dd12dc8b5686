// Package inflate reads gzip (RFC 1952, RFC 1951) straight into large windows of its
// caller, at about twice the speed of libraries that copy out of a window of their own.
//
//  1. Reader.Fill decompresses behind text that is already in the caller's buffer, so
//     that what a match refers to is found there and nothing is copied twice.
//  2. While there is slack in input and output, fast reads symbols through tables whose
//     entries say all of a symbol, or of up to three literals; step reads the rest,
//     symbol by symbol and no bit too far.
//  3. What is valid, what is delivered before an error and what counts as one is the
//     same as in compress/gzip; tests compare the two.
package inflate

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// History is how many bytes of text before the next one a stream may refer to.
const History = 32 << 10

const (
	inputSize = 128 << 10 // bytes of the compressed stream that are read at once
	crcStep   = 128 << 10 // bytes of text after which the checksum is brought up to date, while they are in the cache
)

// What can be wrong with a stream, besides that it ends early (io.ErrUnexpectedEOF).
var (
	errHeader   = errors.New("no header of a gzip member")
	errChecksum = errors.New("the checksum or the length of the text is another one")
	errBlock    = errors.New("a block of no known type")
	errStored   = errors.New("a stored block whose length is not confirmed")
	errCodes    = errors.New("codes that are no prefix code")
	errSymbol   = errors.New("a code without meaning")
	errDistance = errors.New("a reference to before the beginning")
)

// Filler is a source of text that writes straight into the window of its user, behind
// what it gave before. Fill reads into buf[from:] until that is full, and returns how many
// bytes it put there. What stands directly before from must be the last History bytes of
// the text so far, or all of it where that is less. Reader is one, and so is what wraps it.
type Filler interface {
	Fill(buf []byte, from int) (n int, err error)
}

// Error says where a stream is damaged, and how.
type Error struct {
	Offset int64 // in the compressed stream, bytes
	Err    error // io.ErrUnexpectedEOF where the stream ends early
}

func (e *Error) Error() string { return fmt.Sprintf("at compressed byte %d: %v", e.Offset, e.Err) }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Reader decompresses a gzip stream of any number of members. It is used by one
// goroutine at a time.
type Reader struct {
	bitReader // the compressed stream

	next step  // what comes next in it
	err  error // what ended it

	buf    []byte // of the call at hand: text up to out
	out    int
	summed int // buf up to here is part of sum
	origin int // buf from here on is text of this member; negative where it began before buf
	sum    uint32
	text   int64 // bytes of text of this member that are part of sum

	final    bool // the block at hand is the last of its member
	copyLen  int  // bytes of a match, or of a stored block, that found no room yet
	copyDist int
	codes    codes

	own       []byte // the window of Read: own[gave:has] is not handed out yet
	gave, has int
}

// step is a place in the grammar of a stream.
type step uint8

const (
	atMember   step = iota // before a member, or at the end
	atBlock                // before a block
	inStored               // within a stored block
	inCodes                // within a block of codes, before a symbol
	atDistance             // behind the length of a match
	inMatch                // within a match
	atTrailer              // behind the last block of a member
)

// NewReader returns a Reader of the stream src. It reads nothing yet, so that src is
// asked and damage is told by the first Fill.
func NewReader(src io.Reader) *Reader {
	return &Reader{bitReader: bitReader{src: src, in: make([]byte, inputSize)}}
}

// Fill decompresses into buf[from:] until that is full and returns how many bytes it
// put there. What stands directly before from must be the last History bytes of the
// text so far, or all of it where that is less. At the end of the stream err is io.EOF;
// an *Error says what is damaged, behind all text that stands before the damage; other
// errors are those of the source.
func (r *Reader) Fill(buf []byte, from int) (n int, err error) {
	if left := r.own[r.gave:r.has]; len(left) > 0 { // Read has it already
		n = copy(buf[from:], left)
		r.gave += n
	}
	return r.fill(buf, from+n, n)
}

// fill is Fill for a buffer of whose text n bytes are new already.
func (r *Reader) fill(buf []byte, from, n int) (int, error) {
	r.origin = from - int(min(r.text, History))
	r.buf, r.out, r.summed = buf, from, from
	for r.out < len(buf) && r.err == nil {
		r.err = r.advance()
		if r.out-r.summed >= crcStep {
			r.account()
		}
	}
	r.account()
	r.buf = nil
	n += r.out - from
	if r.out < len(buf) {
		return n, r.err
	}
	return n, nil
}

// Read is Fill for those who have no window: it copies out of one of its own. Fill may
// follow Read, with all that Read gave in its buffer, but not the other way round.
func (r *Reader) Read(p []byte) (int, error) {
	if r.own == nil {
		r.own = make([]byte, 2*History+inputSize)
	}
	if r.gave == r.has {
		from := copy(r.own, r.own[max(r.has-History, 0):r.has])
		n, err := r.fill(r.own, from, 0)
		if r.gave, r.has = from, from+n; n == 0 {
			return 0, err
		}
	}
	n := copy(p, r.own[r.gave:r.has])
	r.gave += n
	return n, nil
}

// account brings the checksum up to date.
func (r *Reader) account() {
	r.sum = crc32.Update(r.sum, crc32.IEEETable, r.buf[r.summed:r.out])
	r.text += int64(r.out - r.summed)
	r.summed = r.out
}

// advance takes the next step.
func (r *Reader) advance() error {
	switch r.next {
	case atMember:
		return r.member()
	case atBlock:
		return r.block()
	case inStored:
		return r.stored()
	case inCodes:
		return r.coded()
	case atDistance:
		return r.distance()
	case inMatch:
		r.match()
		return nil
	}
	return r.trailer()
}
