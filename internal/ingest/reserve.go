package ingest

import (
	"errors"
	"sync"

	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// reservation is the memory that the reader of a file has taken from a budget: for its
// text at first, and for more where the text turns out longer, or where what is in
// it takes more than text usually does: names that do not repeat, tracks, arguments.
type reservation struct {
	budget *budget

	mu      sync.Mutex
	density float64 // of the format: bytes of memory that a byte of text takes
	text    int64   // bytes of text that memory is reserved for
	bytes   int64   // reserved
	tables  int64   // what the tables that did not fit would have needed
}

// errOutgrown ends the reading of a text for which there is not enough memory.
var errOutgrown = errors.New("outgrown")

// reserve prepares, without taking anything yet, to read a file of some size.
func (b *budget) reserve(size tracefile.Size) *reservation {
	text := size.Text
	if size.Stored == 0 {
		text = unknownText
	}
	return &reservation{budget: b, density: size.Density, text: text, bytes: needOf(text, size.Density)}
}

// facts is how many bytes are kept of what was read, whatever its tracks.
func (r *reservation) facts() int64 { return keptOfText(r.text, r.density) }

// whole is how many bytes are kept where the trace is kept too.
func (r *reservation) whole() int64 { return needOf(r.text, r.density) - perFile }

// watch makes reading ask r for the memory that it takes.
func (r *reservation) watch(o *tracefile.Options) { o.Grow, o.Tables = r.grow, r.growTables }

// grow reserves memory for a text that has become longer than expected. Of a stream the
// density, too, may be another one than expected.
func (r *reservation) grow(text int64, density float64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.density = density
	if text <= r.text && needOf(text, density) <= r.bytes {
		return nil
	}
	if longer := text + text/4; r.take(needOf(longer, density)) {
		r.text = longer
		return nil
	}
	longer := textIn(r.bytes+r.budget.left(), density)
	if longer <= text || !r.take(needOf(longer, density)) {
		return errOutgrown
	}
	r.text = longer
	return nil
}

// growTables reserves memory for tables that take more than such a text usually needs.
func (r *reservation) growTables(bytes int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if need := needOfTables(bytes); !r.take(need+need/32) && !r.take(need) {
		r.tables = need
		return errOutgrown
	}
	return nil
}

// take makes sure that so many bytes are reserved.
func (r *reservation) take(bytes int64) bool {
	if bytes <= r.bytes {
		return true
	}
	if !r.budget.grow(bytes - r.bytes) {
		return false
	}
	r.bytes = bytes
	return true
}

// refusal is the error of a file that could not even be reserved memory for.
func (r *reservation) refusal() string {
	return "needs about " + units.Bytes(ownMemory+r.bytes) + " of memory for " + units.Bytes(r.text) + " of text"
}

// outgrown is the error of a file whose reading was cut short.
func (r *reservation) outgrown() string {
	if r.tables > 0 {
		return "has events, names and tracks that need more than " + units.Bytes(ownMemory+r.tables) + " of memory"
	}
	return "has more than " + units.Bytes(r.text) +
		" of text, which needs more than " + units.Bytes(ownMemory+r.bytes) + " of memory"
}

// tooLarge is the error of a file that is left out.
func (b *budget) tooLarge(file, what string) error {
	reason := what + "; the limit is " + units.Bytes(b.limit)
	if facts := b.kept(); facts > b.limit/4 {
		reason += ", of which the facts of other files hold " + units.Bytes(facts)
	}
	return &TooLarge{File: file, Reason: reason}
}
