package template

import (
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// name is a name that was read before, without its quotes.
type name struct {
	text string
	id   trace.StringID
	next *name // the one that stood there the last time after this one
}

// Names is a cache of names. They are known by their first sixteen bytes, so that one
// that stood there last, or next the time before, is compared, and neither scanned nor
// hashed. The zero value is empty.
type Names struct {
	slots [4 * slots]*name
	all   map[trace.StringID]*name
}

// mostNames is how many names are known at a time: with more, learning starts anew.
const mostNames = 1 << 13

// put notes that the name called text stands in slot.
func (t *Names) put(slot **name, id trace.StringID, text string) {
	n := t.all[id]
	if n == nil {
		if len(t.all) == mostNames || t.all == nil {
			*t = Names{all: make(map[trace.StringID]*name)}
		}
		n = &name{text: text, id: id}
		n.next, t.all[id] = n, n
	}
	if last := *slot; last != nil {
		last.next = n
	}
	*slot = n
}

// at reports whether the name and the quote behind it stand at i.
func (n *name) at(b []byte, i int) bool {
	end := i + len(n.text)
	return end < len(b) && b[end] == '"' && string(b[i:end]) == n.text
}

// Len is the number of names that are known.
func (t *Names) Len() int { return len(t.all) }

// Read reads a quoted name without escapes at i of the text buf[:n], which padding
// follows, and interns it in to. ok is false for all else, and near the end of the text.
func (t *Names) Read(buf []byte, n, i int, to *trace.Builder) (id trace.StringID, next int, ok bool) {
	b := buf[:n]
	if buf[i] != '"' || i+18 > len(b) {
		return 0, i, false
	}
	i++
	slot := &t.slots[hash(b, i)>>54]
	if last := *slot; last != nil {
		if n := last.next; n.at(b, i) {
			*slot = n
			return n.id, i + len(n.text) + 1, true
		}
		if last.at(b, i) {
			last.next = last
			return last.id, i + len(last.text) + 1, true
		}
	}
	end, escaped := scan.String(buf, i)
	if escaped || scan.Broken(end) || end-i > token.MaxText { // longer ones are cut, by the rules
		return 0, i, false
	}
	before := to.NumStrings()
	if id = to.Intern(b[i:end]); int(id) < before { // names that come once are not worth it
		t.put(slot, id, to.String(id))
	}
	return id, end + 1, true
}
