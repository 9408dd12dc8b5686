package pool

import (
	"bytes"

	"github.com/gaprof/gaprof/trace/chrome/event"
)

// findEvent returns the place in the window of r of the first brace at an offset from
// first to before end where an event seems to begin, -1 where there is none. The window
// may slide.
func findEvent(r *event.Reader, first, end int64) int {
	for i := int(first - r.Base); ; i++ {
		if r.N-i < event.Room && !r.EOF {
			from := max(i-lookback, 0)
			r.Slide(from)
			i -= from
		}
		k := bytes.IndexByte(r.Buf[min(i, r.N):r.N], '{')
		switch {
		case k < 0 && r.EOF || r.At(i+max(k, 0)) >= end:
			return -1
		case k < 0:
			i = r.N - 1
			continue
		}
		if i += k; r.N-i < event.Room && !r.EOF {
			i-- // once more, with room for an event
			continue
		}
		if !followsEvent(r.Buf, i) {
			continue
		}
		found, at, _ := r.Try(i)
		if i = at; found {
			return i
		}
	}
}

// followsEvent reports whether a closing brace and a comma stand before the brace at i.
func followsEvent(b []byte, i int) bool {
	if i = backOverSpace(b, i); i < 0 || b[i] != ',' {
		return false
	}
	i = backOverSpace(b, i)
	return i >= 0 && b[i] == '}'
}

// backOverSpace returns the last place before i without white space, -1 for none.
func backOverSpace(b []byte, i int) int {
	for i--; i >= 0; i-- {
		if c := b[i]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			break
		}
	}
	return i
}
