package trace

import (
	"reflect"
	"testing"
	"unsafe"
)

// TestSizesOfRows: what a row is said to take is what its columns hold, and what moves it
// is its place, room for its widest value and its parent.
func TestSizesOfRows(t *testing.T) {
	row, columns := int64(0), reflect.TypeFor[Columns]()
	for i := range columns.NumField() {
		if f := columns.Field(i); f.Name != "Parent" {
			row += int64(f.Type.Elem().Size())
		}
	}
	one := newAdder().add(Complete, "a", 0, 1)
	held, moved := one.Bytes(), one.BuildBytes()
	for range 9 {
		one.add(Complete, "a", 0, 1)
	}
	if got := one.Bytes() - held; got != 9*row {
		t.Errorf("nine rows are said to take %d bytes, not %d", got, 9*row)
	}
	if got := one.BuildBytes() - moved; got != 9*(4+8+4) {
		t.Errorf("nine rows are said to take %d bytes to put in order", got)
	}
	threads := labelTable{}
	threads.set(label{what: threadName, track: 4, text: "name"})
	if got := threads.bytes(); got != int64(5*unsafe.Sizeof(thread{}))+4 {
		t.Errorf("five threads are said to take %d bytes", got)
	}
	p := Part{rows: make([]partRow, 3, 7)}
	if got := p.Bytes(); got != int64(7*unsafe.Sizeof(partRow{})) {
		t.Errorf("room for seven rows of a part is said to take %d bytes", got)
	}
	part := NewPartBuilder()
	part.uncut.rows = make([]partRow, 3, 7)
	if got := part.Bytes() - NewPartBuilder().Bytes(); got != int64(7*unsafe.Sizeof(partRow{})) {
		t.Errorf("room for seven rows is said to take %d bytes", got)
	}
}
