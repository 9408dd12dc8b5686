package chrome

import "github.com/gaprof/gaprof/trace"

// What tables of a reader take besides those of its Builder, in bytes an entry.
const (
	hopBytes  = 900 // with its plan, its text and its places in maps
	memoBytes = 160 // without its text
	nameBytes = 80  // likewise
)

// tally tells Options.Tables what reading takes. Where that is refused the input ends
// at i, and Read returns the refusal.
func (d *reader) tally(i int) {
	if d.isRefused() {
		d.End(i)
	}
}

// isRefused tells whether reading takes too much, now or already before.
func (d *reader) isRefused() bool {
	if d.opts.Tables != nil && d.refused == nil {
		all := d.finished
		all.add(d.b)
		d.refused = d.opts.Tables(all.tables + max(all.build, d.ownBytes()+d.team.bytes()))
	}
	return d.refused != nil
}

// size is what the tables of some documents take, in bytes: until they are built, and
// more of it then.
type size struct{ tables, build int64 }

func (s *size) add(b *trace.Builder) {
	s.tables += b.Bytes()
	s.build += b.BuildBytes()
}

// ownBytes is what d takes besides its Builder, in bytes.
func (d *reader) ownBytes() int64 {
	return int64(len(d.Buf))*3/2 + int64(len(d.hops))*hopBytes + int64(len(d.memos.all))*memoBytes + d.memos.text + int64(len(d.names.all))*nameBytes
}

// count adds what the hand and the run that it has just made take to that of the team.
func (h *hand) count(r *run) {
	all := h.d.b.Bytes() + h.d.ownBytes()
	part := r.part.Bytes()
	h.team.tables.Add(all - h.counted + part - r.counted)
	h.counted, r.counted = all, part
}

// bytes is what the hands and their runs take.
func (t *team) bytes() int64 {
	if t == nil {
		return 0
	}
	return t.tables.Load()
}
