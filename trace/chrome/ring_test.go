package chrome

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/gaprof/gaprof/internal/inflate"
	"github.com/gaprof/gaprof/internal/tracegen"
)

// checkRing compares reading through a ring, by workers in chunks of each size, with
// reading alone. src opens the input, which is at most size bytes long.
func checkRing(t *testing.T, src func() io.Reader, size int64, o Options, chunks ...int64) {
	t.Helper()
	traces, err := Read(src(), o)
	want := account(t, traces, err)
	for _, chunk := range chunks {
		o.chunk, o.SizeHint = chunk, size
		o.Again = func() (io.Reader, error) { return src(), nil }
		traces, err := Read(src(), o)
		if got := account(t, traces, err); got != want {
			k := 0
			for k < min(len(got), len(want)) && got[k] == want[k] {
				k++
			}
			t.Fatalf("chunks of %d bytes: got ...%q, want ...%q", chunk, clip(got[max(k-40, 0):]), clip(want[max(k-40, 0):]))
		}
	}
}

func reading(text []byte) func() io.Reader {
	return func() io.Reader { return bytes.NewReader(text) }
}

func TestRingEveryOffset(t *testing.T) {
	text := []byte(tricky)
	checkRing(t, reading(text), int64(len(text)), Options{KeepArgs: true}, upTo(400)...)
	for _, text := range append(seeds(), strings.TrimSuffix(tricky, `,"traceName":"x"}`), tricky+tricky, tricky+"\n"+ev+next) {
		checkRing(t, reading([]byte(text)), int64(len(text)), Options{KeepArgs: true}, 1, 7, 20, 100)
	}
}

// TestRingDamage damages and cuts a text at every place, by a decompressor that fails
// too.
func TestRingDamage(t *testing.T) {
	step := 5
	if testing.Short() {
		step = 41
	}
	broken := errors.New("the stream is damaged")
	for i := 0; i < len(tricky); i += step {
		chunk := int64(1 + i*7%300)
		head, size := []byte(tricky[:i]), int64(len(tricky))
		checkRing(t, reading(head), size, Options{}, chunk)
		checkRing(t, func() io.Reader { return io.MultiReader(bytes.NewReader(head), iotest.ErrReader(broken)) }, size, Options{}, chunk)
		checkRing(t, reading([]byte(tricky[:i]+tricky[i+1:])), size, Options{}, chunk)
		checkRing(t, reading([]byte(tricky[:i]+`"`+tricky[i:])), size, Options{}, chunk)
	}
}

func TestRingShapes(t *testing.T) {
	for _, shape := range tracegen.Shapes() {
		text := generated(t, shape, 1_200_000)
		size := int64(len(text))
		checkRing(t, reading(text), size, Options{KeepArgs: true}, 100_000, 30_011, 250_000, 10_007)
		cut := text[:size*2/3]
		checkRing(t, func() io.Reader { return io.MultiReader(bytes.NewReader(cut), iotest.ErrReader(io.ErrUnexpectedEOF)) }, size,
			Options{}, 60_011)
		checkRing(t, reading(bytes.Replace(text, []byte(`"ph": "X"`), []byte(`"ph": "X", "q": NaN`), 500)), size, Options{}, 60_011)
	}
}

// TestRingLongEvent: an event that the ring has no room for, at its beginning, within
// the chunks and at the end.
func TestRingLongEvent(t *testing.T) {
	long := `{"ph":"X","ts":5,"dur":1,"pid":1,"tid":1,"name":"long","args":{"s":"` + strings.Repeat("},{", 700_000) + `"}},`
	short := strings.Repeat(ev+",", 2000)
	for _, text := range []string{long + short, short + long + short, short + long + long, short + short + long[:1_000_000]} {
		checkRing(t, reading([]byte("["+text+ev+"]")), int64(len(text)), Options{}, 10_000, 50_000)
	}
}

// TestRingHint: what is said of the length changes nothing.
func TestRingHint(t *testing.T) {
	text := generated(t, tracegen.AsIs, 500_000)
	for _, size := range []int64{0, 1, 400_000, 1 << 30} {
		checkRing(t, reading(text), size, Options{}, 50_000)
	}
}

func TestRingFullTables(t *testing.T) {
	var keys strings.Builder
	for i := range 70_000 {
		fmt.Fprintf(&keys, `{"ph":"X","ts":%d,"dur":1,"pid":1,"tid":1,"name":"n","args":{"k%d":%d}},`, i, i, i)
	}
	text := []byte("[" + keys.String() + ev + "]")
	checkRing(t, reading(text), int64(len(text)), Options{KeepArgs: true}, 150_000)
	o := Options{KeepArgs: true, chunk: 150_000, Again: func() (io.Reader, error) { return nil, errBroken }}
	traces, err := Read(bytes.NewReader(text), o)
	if got := account(t, traces, err); !strings.Contains(got, errBroken.Error()) {
		t.Error("that the text could not be read again is not told")
	}
}

// filler gives text by Fill only.
type filler struct {
	t    *testing.T
	text []byte
	pos  int
}

func (f *filler) Read([]byte) (int, error) {
	f.t.Error("Read was asked, not Fill")
	return 0, io.EOF
}

func (f *filler) Fill(buf []byte, from int) (int, error) {
	if before := f.text[max(f.pos-inflate.History, 0):f.pos]; !bytes.HasSuffix(buf[:from], before) {
		f.t.Error("the history is not there")
	}
	n := copy(buf[from:], f.text[f.pos:])
	if f.pos += n; from+n < len(buf) {
		return n, io.EOF
	}
	return n, nil
}

// TestRingTakesOver: the workers do the work, and what fills the ring finds its history.
func TestRingTakesOver(t *testing.T) {
	text := generated(t, tracegen.AsIs, 4_000_000)
	for _, chunk := range []int64{300_000, 20_000} {
		src := &filler{t: t, text: text}
		d := newReader(src, Options{SizeHint: int64(len(text)), chunk: chunk,
			Again: func() (io.Reader, error) { return nil, errBroken }}, maxValue)
		end := d.readAhead()
		if _, err := d.first(); err != nil {
			t.Fatal(err)
		}
		end()
		if alone := len(text) - int(d.taken); chunk > 100_000 && alone > 1_000_000 {
			t.Errorf("the reader read %d of %d bytes by itself", alone, len(text))
		}
	}
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// TestRingPanics: a panic of the source is raised where somebody catches it.
func TestRingPanics(t *testing.T) {
	text := generated(t, tracegen.AsIs, 500_000)
	defer func() {
		if got := recover(); got != "planted" {
			t.Errorf("recovered %v", got)
		}
	}()
	src := io.MultiReader(bytes.NewReader(text[:300_000]), readFunc(func([]byte) (int, error) { panic("planted") }))
	_, _ = Read(src, Options{chunk: 20_000, Again: func() (io.Reader, error) { return nil, errBroken }})
}

// TestRingEnds: nothing keeps running behind Read, however it ended.
func TestRingEnds(t *testing.T) {
	text := generated(t, tracegen.AsIs, 300_000)
	noTrace := append(text[:200_000:200_000], bytes.Repeat([]byte(" x"), 200_000)...)
	for _, in := range [][]byte{nil, []byte("x"), text, append([]byte(`{"a":1} `), text...), noTrace} {
		synctest.Test(t, func(t *testing.T) { // fails where a goroutine does not end
			again := func() (io.Reader, error) { return nil, errBroken }
			_, _ = Read(bytes.NewReader(in), Options{chunk: 10_000, Again: again})
		})
	}
}

// FuzzRing: through a ring everything is as it is for one reader alone.
func FuzzRing(f *testing.F) {
	for _, s := range append(seeds(), tricky) {
		f.Add([]byte(s), uint16(len(s)/3))
	}
	f.Fuzz(func(t *testing.T, text []byte, chunk uint16) {
		least := len(text) / 64
		checkRing(t, reading(text), int64(len(text)), Options{KeepArgs: len(text)%2 == 0}, int64(max(int(chunk), least))+1)
	})
}
