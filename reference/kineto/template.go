package kineto

import (
	"bytes"
	"io"
	"slices"
	"strconv"

	"github.com/gaprof/gaprof/trace/chrome"
)

// Template is the text of the traces of ranks that did the same: written once, with holes for
// what differs, which are the number of the rank and what is counted from it.
type Template struct {
	text  []byte
	holes []hole
}

// hole is where a number of a rank stands.
type hole struct {
	from, to int   // in the text
	add      int64 // to the number of the rank
}

// noRank is a number that no rank has and that stands for it in the text.
const noRank = 1_876_543_201

// Template returns the text of the traces of all ranks for which this one stands. It is nil
// where there is none: ranks that are in several groups differ by more than numbers. Recording
// must be over.
func (r *Rank) Template(run Run) (*Template, error) {
	if len(run.Groups) > 0 || run.World < 2 {
		return nil, nil
	}
	var b, sample bytes.Buffer
	if err := chrome.Write(&b, r.TraceAs(noRank, run)); err != nil {
		return nil, err
	}
	t := &Template{text: b.Bytes()}
	for _, add := range []int64{0, hostThread(r.process, 0).PID, streamOf(0, 0).ProcessSort} {
		t.find(add)
	}
	slices.SortFunc(t.holes, func(a, b hole) int { return a.from - b.from })
	// Nothing but holes may have had the digits of one.
	last := run.World - 1
	if err := chrome.Write(&sample, r.TraceAs(last, run)); err != nil {
		return nil, err
	}
	if !bytes.Equal(t.Append(nil, last), sample.Bytes()) {
		return nil, nil
	}
	return t, nil
}

// find finds all holes of a kind.
func (t *Template) find(add int64) {
	digits := strconv.AppendInt(nil, noRank+add, 10)
	for at := 0; ; {
		i := bytes.Index(t.text[at:], digits)
		if i < 0 {
			return
		}
		t.holes = append(t.holes, hole{at + i, at + i + len(digits), add})
		at += i + len(digits)
	}
}

// Append appends the text of the trace of a rank.
func (t *Template) Append(out []byte, rank int) []byte {
	at := 0
	for _, h := range t.holes {
		out = append(out, t.text[at:h.from]...)
		out = strconv.AppendInt(out, h.add+int64(rank), 10)
		at = h.to
	}
	return append(out, t.text[at:]...)
}

// Write writes the text of the trace of a rank.
func (t *Template) Write(w io.Writer, rank int) error {
	_, err := w.Write(t.Append(make([]byte, 0, len(t.text)), rank))
	return err
}
