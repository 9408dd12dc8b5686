package chrome

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gaprof/gaprof/internal/tracegen"
)

// counted is a text that counts what has been seen of it.
type counted struct {
	inMemory
	seen atomic.Int64
}

func (c *counted) Map(from, to int64, zeros int) ([]byte, func(int)) {
	text, _ := c.inMemory.Map(from, to, zeros)
	return text, func(read int) { c.seen.Add(int64(read)) }
}

// TestMapped: what is read where it stands is told, and no more than there is.
func TestMapped(t *testing.T) {
	text := generated(t, tracegen.AsIs, 4_000_000)
	m := &counted{inMemory: text}
	_, err := Read(bytes.NewReader(text), Options{At: bytes.NewReader(text), Size: int64(len(text)), chunk: 300_000, Map: m})
	if err != nil || m.seen.Load() < 3_000_000 || m.seen.Load() > int64(len(text))+20*64 {
		t.Errorf("%d bytes were seen of %d, %v", m.seen.Load(), len(text), err)
	}
}

// TestMappedChanges: a worker that meets other bytes than the reader, because the file
// changes, or the end of what is mapped, leaves it to the reader.
func TestMappedChanges(t *testing.T) {
	text := generated(t, tracegen.AsIs, 2_000_000)
	traces, err := Read(bytes.NewReader(text[:1_500_000]), Options{})
	want := account(t, traces, err)
	zeroed := bytes.Clone(text)
	clear(zeroed[1_500_000:])
	traces, err = Read(bytes.NewReader(text[:1_500_000]), Options{
		At: bytes.NewReader(text[:1_500_000]), Size: int64(len(text)), chunk: 200_000, Map: inMemory(zeroed),
	})
	if got := account(t, traces, err); got != want {
		t.Errorf("%.500s\nwant\n%.500s", got, want)
	}
}

// TestMappedLongValues: where blanks or a string go on behind what is mapped for a chunk,
// they end there for its worker, which does not panic (TestMain), and the result is that
// of one reader.
func TestMappedLongValues(t *testing.T) {
	const event = `{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1},` + "\n"
	text := `{"traceEvents":[`
	for _, long := range []string{
		strings.Repeat(" ", 300_000), `{"ph":"X","name":"` + strings.Repeat("x", 300_000) + `","pid":1,"tid":1,"ts":1},`,
		`{"ph":"X","name":"b","pid":1,"tid":1,"ts":` + strings.Repeat("1", 300_000) + `},`,
		`{"ph":"X","name":"b","pid":1,"tid":1,"ts":1,"args":{"x":` + strings.Repeat("[", 300_000) + `}},`,
	} {
		text += strings.Repeat(event, 3_000) + long
	}
	text += event[:len(event)-2] + "]}"
	traces, err := Read(strings.NewReader(text), Options{})
	want := account(t, traces, err)
	for _, chunk := range []int64{50_000, 170_000} {
		o := Options{At: strings.NewReader(text), Size: int64(len(text)), chunk: chunk, Map: inMemory(text)}
		traces, err = Read(strings.NewReader(text), o)
		if got := account(t, traces, err); got != want {
			t.Errorf("chunks of %d: %.500s\nwant\n%.500s", chunk, got, want)
		}
	}
}

// TestMappedAlone: who reads alone goes on in the mapped text, and reads the same.
func TestMappedAlone(t *testing.T) {
	for _, shape := range tracegen.Shapes() {
		text := generated(t, shape, 3_000_000)
		for _, cut := range []int{len(text), len(text) / 2, 1_300_000} {
			text := text[:cut]
			traces, err := Read(bytes.NewReader(text), Options{})
			want := account(t, traces, err)
			m := &counted{inMemory: text}
			o := Options{At: bytes.NewReader(text), Size: int64(len(text)), Map: m, Alone: true}
			traces, err = Read(bytes.NewReader(text), o)
			if got := account(t, traces, err); got != want {
				t.Errorf("%v, %d bytes: %.500s\nwant\n%.500s", shape, cut, got, want)
			}
			if n := m.seen.Load(); n < int64(cut)/3 || n > int64(cut) {
				t.Errorf("%v: %d bytes of %d were read where they stand", shape, n, cut)
			}
		}
	}
}
