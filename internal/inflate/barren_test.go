package inflate

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"hash/crc32"
	"io"
	"testing"
)

// circle gives the same bytes for ever, and counts them.
type circle struct {
	row  []byte
	at   int
	read int64
}

func (c *circle) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k := copy(p[n:], c.row[c.at:])
		n, c.at = n+k, (c.at+k)%len(c.row)
	}
	c.read += int64(n)
	return n, nil
}

func gzipped(t *testing.T, text []byte, level int) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, level)
	if err == nil {
		_, err = w.Write(text)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// little makes less of a stream barren, so that tests need not read so much.
func little(t *testing.T) {
	before := mostBarren
	mostBarren = 1 << 18
	t.Cleanup(func() { mostBarren = before })
}

// A stream without end that gives no text is given up: members without text, and blocks
// without text within a member, stored or of codes.
func TestBarren(t *testing.T) {
	little(t)
	head := gzipped(t, nil, flate.NoCompression)[:10]
	for name, in := range map[string]io.Reader{
		"members":       &circle{row: gzipped(t, nil, flate.BestSpeed)},
		"stored blocks": io.MultiReader(bytes.NewReader(head), &circle{row: []byte{0, 0, 0, 0xff, 0xff}}),
		"coded blocks":  io.MultiReader(bytes.NewReader(head), &circle{row: []byte{0x02, 0x08, 0x20, 0x80, 0x00}}),
		"after text": io.MultiReader(bytes.NewReader(gzipped(t, []byte("text"), flate.BestSpeed)),
			&circle{row: gzipped(t, nil, flate.BestSpeed)}),
	} {
		r := NewReader(in)
		text, err := io.ReadAll(r)
		var e *Error
		if !errors.As(err, &e) || e.Err != errBarren || e.Offset > mostBarren+1<<20 {
			t.Errorf("%s: %v", name, err)
		}
		if want := ""; name == "after text" {
			want = "text"
			if string(text) != want {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
}

// What gives text is read, however little that is and however long its blocks are, whatever
// the buffers of whoever reads it.
func TestNotBarren(t *testing.T) {
	little(t)
	row := gzipped(t, []byte("."), flate.BestSpeed)
	for range 1_000 {
		row = append(row, gzipped(t, nil, flate.BestSpeed)...)
	}
	source := &circle{row: row}
	buf := make([]byte, 200)
	r := NewReader(source)
	for i := range buf {
		if n, err := r.Fill(buf[:i+1], i); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if source.read < 2*mostBarren {
		t.Fatalf("%d bytes are too few to show anything", source.read)
	}
	// one block of codes, each byte a literal of 8 or 9 bits, longer than may be barren
	text := bytes.Repeat([]byte{0}, 4096)
	stream, long := literalBlock(text, int(2*mostBarren)/len(text))
	whole := NewReader(bytes.NewReader(stream))
	window := make([]byte, History+len(long))
	n, err := whole.Fill(window, History)
	if err != nil || n != len(long) {
		t.Fatalf("%d of %d bytes, %v", n, len(long), err)
	}
	if n, err := whole.Fill(window, History); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d, %v", n, err)
	}
}

// literalBlock is a member of one block with fixed codes, in which each byte of text is a
// literal, and its text.
func literalBlock(text []byte, times int) (stream, whole []byte) {
	whole = bytes.Repeat(text, times)
	stream = gzipHead()
	b, nb := uint64(1|1<<1), uint(3)      // final, fixed codes
	put := func(code uint64, bits uint) { // from the highest bit
		for i := bits; i > 0; i-- {
			b |= (code >> (i - 1) & 1) << nb
			nb++
		}
		for ; nb >= 8; nb -= 8 {
			stream = append(stream, byte(b))
			b >>= 8
		}
	}
	for _, c := range whole {
		put(0x30+uint64(c), 8)
	}
	put(0, 7)
	stream = append(stream, byte(b))
	sum, n := crc32.ChecksumIEEE(whole), uint32(len(whole))
	for _, v := range []uint32{sum, n} {
		stream = append(stream, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return stream, whole
}

func gzipHead() []byte { return []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255} }
