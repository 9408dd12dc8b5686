package inflate

import (
	"errors"
	"fmt"
	"io"
)

// History is how many bytes of text before the next one a stream may refer to.
const History = 32 << 10

// What can be wrong with a stream, besides that it ends early (io.ErrUnexpectedEOF).
var (
	errHeader   = errors.New("no header of a gzip member")
	errChecksum = errors.New("the checksum or the length of the text is another one")
	errBlock    = errors.New("a block of no known type")
	errStored   = errors.New("a stored block whose length is not confirmed")
	errCodes    = errors.New("codes that are no prefix code")
	errSymbol   = errors.New("a code without meaning")
	errDistance = errors.New("a reference to before the beginning")
	errBarren   = errors.New("16 MB of it hold no text at all")
)

// Filler is a source of text that writes straight into the buffer of its user. Reader is
// one, and so are those that wrap it.
type Filler interface {
	// Fill writes into buf[from:] until that is full, and returns how many bytes it put
	// there. What stands directly before from must be the last History bytes of the text
	// so far, or all of it where that is less.
	Fill(buf []byte, from int) (n int, err error)
}

// Error says where a stream is damaged, and how.
type Error struct {
	Offset int64 // bytes of the compressed stream before the damage
	Err    error // what is wrong; io.ErrUnexpectedEOF where the stream ends early
}

func (e *Error) Error() string { return fmt.Sprintf("at compressed byte %d: %v", e.Offset, e.Err) }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Reader decompresses a gzip stream of any number of members. It is used by one goroutine
// at a time. The source stays the caller's, who closes it.
type Reader struct {
	in    input
	out   output
	codes codes

	fruitful int64 // up to where the compressed stream gave text, seen at the ends of blocks
	text     int64 // bytes of text up to there

	next step  // what comes next in the stream
	err  error // what ended it; nil while it goes on

	final    bool // the block at hand is the last of its member
	copyLen  int  // bytes of a match, or of a stored block, that found no room yet
	copyDist int  // how far back that match begins

	own       []byte // the buffer of Read, nil until it is called: own[gave:has] is not handed out yet
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

// NewReader returns a Reader of the stream src. It reads nothing yet, so the first Fill is
// where errors of src and damage show.
func NewReader(src io.Reader) *Reader {
	return &Reader{in: input{src: src, buf: make([]byte, inputSize)}}
}

// Fill decompresses into buf[from:] until that is full and returns how many bytes it
// put there; it keeps no reference to buf. What stands directly before from must be the
// last History bytes of the text so far, or all of it where that is less. At the end of the
// stream err is io.EOF. An *Error says what is damaged, and comes behind all text that
// stands before the damage; other errors are those of the source.
func (r *Reader) Fill(buf []byte, from int) (n int, err error) {
	if left := r.own[r.gave:r.has]; len(left) > 0 { // Read has it already
		n = copy(buf[from:], left)
		r.gave += n
	}
	return r.fill(buf, from+n, n)
}

// fill is Fill for a buffer of whose text n bytes are new already.
func (r *Reader) fill(buf []byte, from, n int) (int, error) {
	o := &r.out
	o.lend(buf, from)
	for !o.full() && r.err == nil {
		r.err = r.advance()
		if o.n-o.summed >= crcStep {
			o.account()
		}
	}
	o.account()
	o.buf = nil
	n += o.n - from
	if o.n < len(buf) {
		return n, r.err
	}
	return n, nil
}

// Read is Fill for callers without a large buffer: it copies out of one of its own. Fill
// may follow Read, with all that Read gave in its buffer, but not the other way round.
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

// mostBarren is how many bytes of a stream may give no text: members and blocks may be empty,
// and a stream may be an endless row of such.
var mostBarren = int64(16 << 20)

// barren refuses to go on in a stream that gives no text.
func (r *Reader) barren() error {
	at := r.in.base + int64(r.in.pos)
	if text := r.out.total(); text > r.text {
		r.fruitful, r.text = at, text
	}
	if at-r.fruitful > mostBarren {
		return r.in.damaged(errBarren)
	}
	return nil
}

// advance takes the next step.
func (r *Reader) advance() error {
	if r.next == atMember || r.next == atBlock {
		if err := r.barren(); err != nil {
			return err
		}
	}
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
