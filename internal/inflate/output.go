package inflate

import "hash/crc32"

// crcStep is how many bytes of text may wait for the checksum. It is brought up to date
// while they are still in the cache, which is cheaper than once at the end of the buffer.
const crcStep = 128 << 10

// output is the text of the member at hand: the end of it in the caller's buffer, the
// rest as a checksum and a length.
type output struct {
	buf    []byte // the caller's, lent for one call of Fill: text up to n
	n      int
	summed int    // buf up to here is part of sum
	origin int    // buf from here on is text of this member; negative where it began before buf
	sum    uint32 // CRC-32 of the member's text up to summed
	text   int64  // bytes of the member's text up to summed
	from   int    // where the text of this call begins in buf
	before int64  // bytes of text of all members, of earlier calls
}

// lend makes buf[from:] the room for text to come.
func (o *output) lend(buf []byte, from int) {
	o.origin = from - int(min(o.text, History))
	o.before += int64(o.n - o.from)
	o.buf, o.n, o.summed, o.from = buf, from, from, from
}

// total is how many bytes of text there were, of all members.
func (o *output) total() int64 { return o.before + int64(o.n-o.from) }

// begin starts the text of another member.
func (o *output) begin() { o.sum, o.text, o.origin = 0, 0, o.n }

// full reports whether there is no room left.
func (o *output) full() bool { return o.n == len(o.buf) }

// free is the room that is left, at most limit bytes of it.
func (o *output) free(limit int) []byte { return o.buf[o.n:min(len(o.buf), o.n+limit)] }

// account brings the checksum up to date.
func (o *output) account() {
	o.sum = crc32.Update(o.sum, crc32.IEEETable, o.buf[o.summed:o.n])
	o.text += int64(o.n - o.summed)
	o.summed = o.n
}

// repeat appends as much of a match as there is room for, and returns how many bytes.
// A match longer than its distance repeats what it has itself written, so each round
// copies what stands between the source and the end of the text by then.
func (o *output) repeat(length, distance int) (copied int) {
	for copied < length && !o.full() {
		n := copy(o.free(length-copied), o.buf[o.n-distance:o.n])
		o.n += n
		copied += n
	}
	return copied
}
