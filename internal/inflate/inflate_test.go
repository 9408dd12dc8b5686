package inflate

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// pack compresses each text into a member of its own.
func pack(level int, texts ...[]byte) []byte {
	var b bytes.Buffer
	for _, text := range texts {
		z, _ := gzip.NewWriterLevel(&b, level)
		_, _ = z.Write(text)
		_ = z.Close()
	}
	return b.Bytes()
}

// member is raw compressed data with the head and the end that belong to text.
func member(raw, text []byte) []byte {
	b := append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, raw...)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(text))
	return binary.LittleEndian.AppendUint32(b, uint32(len(text)))
}

// texts are what compressors are given.
func texts() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	random, few, runs := make([]byte, 100_000), make([]byte, 70_000), []byte(nil)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for i := range few {
		few[i] = "abc"[r.IntN(3)]
	}
	for len(runs) < 200_000 {
		unit := random[r.IntN(1000):][:1+r.IntN(20)]
		runs = append(runs, bytes.Repeat(unit, 1+r.IntN(3000/len(unit)))...)
	}
	return map[string][]byte{
		"empty": nil, "one": []byte("x"), "short": []byte(`{"a": [1, 2, 3]}`), "zeros": make([]byte, 1<<20),
		"random": random, "few": few, "runs": runs, "trace": trace(300_000),
		"far": slicesConcat(random[:History], random[:History], random[1:History], random[:20]),
	}
}

// trace is JSON as profilers write it: keys over and over, and numbers that grow.
func trace(size int) []byte {
	names := []string{
		"aten::mm", "aten::add_", "void at::native::vectorized_elementwise_kernel<4, float>", "cudaLaunchKernel",
		"autograd::engine::evaluate_function: MmBackward0",
	}
	const event = "  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"pid\": 4711, \"tid\": %d,\n" +
		"    \"ts\": %d.%03d, \"dur\": %d.%03d,\n" +
		"    \"args\": {\n      \"External id\": %d, \"correlation\": %d\n    }\n  },\n"
	r := rand.New(rand.NewPCG(3, 4))
	b := []byte("{\"traceEvents\": [\n")
	for ts := 3_923_968_038_989_372; len(b) < size; ts += r.IntN(30_000) {
		b = fmt.Appendf(b, event, names[r.IntN(len(names))], 7+r.IntN(3),
			ts/1000, ts%1000, r.IntN(200), r.IntN(1000), ts/7777%100_000, ts/1000%10_000)
	}
	return b[:size]
}

func slicesConcat(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// fill reads all of a stream by Fill, in windows of so many bytes.
func fill(r *Reader, window int) (text []byte, err error) {
	buf, from := make([]byte, History+window), 0
	for {
		n, err := r.Fill(buf[:min(from+window, len(buf))], from)
		if text = append(text, buf[from:from+n]...); err != nil {
			return text, err
		}
		if n != window && from+n < len(buf) {
			return text, fmt.Errorf("%d of %d bytes without an error", n, window)
		}
		from = copy(buf, buf[max(from+n-History, 0):from+n])
	}
}

// standard is what compress/gzip makes of a stream.
func standard(packed []byte) (text []byte, err error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err = io.ReadAll(z)
	if err == nil {
		err = io.EOF
	}
	return text, err
}

// kind is what an error says, whoever says it.
func kind(err error) string {
	var damage *Error
	var corrupt flate.CorruptInputError
	switch {
	case err == io.EOF:
		return "end"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "cut"
	case errors.As(err, &damage) && damage.Err == errHeader, err == gzip.ErrHeader:
		return "header"
	case errors.As(err, &damage) && damage.Err == errChecksum, err == gzip.ErrChecksum:
		return "checksum"
	case errors.As(err, &damage), errors.As(err, &corrupt):
		return "corrupt"
	}
	return err.Error()
}

// compare compares what all ways of reading make of a stream with what compress/gzip
// makes of it.
func compare(t *testing.T, what string, packed []byte, windows ...int) {
	t.Helper()
	want, wantErr := standard(packed)
	check := func(how string, got []byte, err error) {
		t.Helper()
		if !bytes.Equal(got, want) || kind(err) != kind(wantErr) {
			k := 0
			for k < min(len(got), len(want)) && got[k] == want[k] {
				k++
			}
			t.Fatalf("%s, %s: %d bytes, %v; want %d bytes, %v; the first %d are the same",
				what, how, len(got), err, len(want), wantErr, k)
		}
		var damage *Error
		if errors.As(err, &damage) && (damage.Offset < 0 || damage.Offset > int64(len(packed))) {
			t.Fatalf("%s, %s: the damage is at %d of %d", what, how, damage.Offset, len(packed))
		}
	}
	for _, w := range windows {
		r := &Reader{in: input{src: bytes.NewReader(packed), buf: make([]byte, 100+w)}}
		got, err := fill(r, w)
		check(fmt.Sprintf("windows of %d", w), got, err)
	}
	if len(windows) > 1 {
		got, err := io.ReadAll(NewReader(bytes.NewReader(packed)))
		if err == nil {
			err = io.EOF
		}
		check("Read", got, err)
	}
}

func TestLevels(t *testing.T) {
	for name, text := range texts() {
		for level := gzip.HuffmanOnly; level <= gzip.BestCompression; level++ {
			packed := pack(level, text)
			compare(t, fmt.Sprintf("%s, level %d", name, level), packed, 1<<20, 100_003, 64<<10)
			if got, err := standard(packed); !bytes.Equal(got, text) || err != io.EOF {
				t.Fatal("the standard library reads something else")
			}
		}
	}
}

func TestSmallWindows(t *testing.T) {
	all := texts()
	for _, name := range []string{"runs", "trace", "few", "far"} {
		compare(t, name, pack(6, all[name][:50_000]), 1, 2, 3, 7, 8, 100, 257, 258, 259, 319, 320, 321, 1000)
	}
}

// TestSources: how the source hands out its bytes makes no difference.
func TestSources(t *testing.T) {
	text := texts()["trace"]
	packed := pack(6, text, nil, text[:1000])
	want := slicesConcat(text, text[:1000])
	for name, src := range map[string]io.Reader{
		"one":  iotest.OneByteReader(bytes.NewReader(packed)),
		"half": iotest.HalfReader(bytes.NewReader(packed)),
		"last": iotest.DataErrReader(bytes.NewReader(packed)),
	} {
		if got, err := fill(NewReader(src), 10_000); !bytes.Equal(got, want) || err != io.EOF {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(want), err)
		}
	}
}

func TestMembers(t *testing.T) {
	all := texts()
	packed := pack(6, all["trace"], nil, all["far"], []byte("x"), all["runs"])
	compare(t, "members", packed, 1<<20, 5000)
	compare(t, "zeros behind", append(packed[:len(packed):len(packed)], 0, 0, 0), 5000)
	compare(t, "text behind", append(packed[:len(packed):len(packed)], "and so on and so on"...), 5000)
	compare(t, "half a head behind", append(packed[:len(packed):len(packed)], packed[:7]...), 5000)
	// a member does not refer to the one before it
	for _, start := range []string{"", "0123456789"} {
		var raw bytes.Buffer
		z, _ := flate.NewWriterDict(&raw, 9, all["far"][:1000])
		_, _ = z.Write([]byte(start))
		_, _ = z.Write(all["far"][:1000])
		_ = z.Close()
		second := member(raw.Bytes(), all["far"][:1000])
		compare(t, "before the beginning", append(pack(6, all["far"][:1000]), second...), 5000, 1005, 1)
	}
}

// TestManyCodes: more codes than have a meaning are refused before they are read.
func TestManyCodes(t *testing.T) {
	for _, c := range []struct{ lit, dist uint16 }{
		{285, 29}, {286, 29}, {287, 29}, {287, 30}, {288, 30}, {286, 30}, {286, 31}, {286, 32},
	} {
		head := 1 | 2<<1 | (c.lit-257)<<3 | (c.dist-1)<<8
		compare(t, fmt.Sprint(c), append(member(nil, nil)[:10], byte(head), byte(head>>8), 0), 10)
	}
}

func TestHeaders(t *testing.T) {
	for k, h := range []gzip.Header{
		{Name: "a.json"}, {Comment: "é ü"}, {Extra: []byte("extra")},
		{Extra: make([]byte, 65535), Name: "n", Comment: "c"},
		{Name: strings.Repeat("n", 511)}, {Name: strings.Repeat("n", 512)}, {Comment: strings.Repeat("c", 600)},
	} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Header = h
		_, _ = z.Write([]byte("text"))
		_ = z.Close()
		compare(t, fmt.Sprintf("head %d", k), b.Bytes(), 100)
		for i := range min(b.Len(), 700) {
			compare(t, fmt.Sprintf("head %d cut at %d", k, i), b.Bytes()[:i], 100)
		}
	}
	plain := pack(6, []byte("text"))
	for _, good := range []bool{true, false} {
		head := append([]byte(nil), plain[:10]...)
		head[3] = hasHeaderSum
		sum := uint16(crc32.ChecksumIEEE(head))
		if !good {
			sum++
		}
		packed := append(binary.LittleEndian.AppendUint16(head, sum), plain[10:]...)
		compare(t, "sum of the head", packed, 100)
		if _, err := standard(packed); (err == io.EOF) != good {
			t.Errorf("the standard library says %v", err)
		}
	}
}

// small are short streams with every kind of block.
func small() map[string][]byte {
	trace := trace(3000)
	return map[string][]byte{
		"trace": pack(6, trace), "fixed": pack(6, []byte("hello, hello, hello")), "stored": pack(0, trace[:300]),
		"huffman": pack(-2, trace[:500]), "members": pack(9, trace[:600], nil, trace[500:900]),
		"runs": pack(6, bytes.Repeat([]byte("ab"), 5000)),
	}
}

func TestEveryCut(t *testing.T) {
	for name, packed := range small() {
		for i := range packed {
			compare(t, fmt.Sprintf("%s cut at %d", name, i), packed[:i], 5_000, 61)
			if i == 0 {
				continue
			}
			var damage *Error
			_, err := fill(NewReader(bytes.NewReader(packed[:i])), 1000)
			if errors.As(err, &damage) && damage.Offset != int64(i) {
				t.Fatalf("%s cut at %d: told at %d", name, i, damage.Offset)
			}
		}
	}
}

func TestEveryDamage(t *testing.T) {
	for name, packed := range small() {
		for i := range packed {
			for bit := range 8 {
				bad := bytes.Clone(packed)
				bad[i] ^= 1 << bit
				compare(t, fmt.Sprintf("%s, bit %d of byte %d", name, bit, i), bad, 5_000)
			}
			bad := bytes.Clone(packed)
			bad[i] ^= 0xff
			compare(t, fmt.Sprintf("%s, byte %d", name, i), bad, 997)
		}
	}
}

// TestDamageIsTold: where and what it is.
func TestDamageIsTold(t *testing.T) {
	packed := pack(6, []byte("hello, hello, hello"))
	for _, c := range []struct {
		at   int
		to   byte
		want string
	}{
		{0, 0, "at compressed byte 10: no header of a gzip member"},
		{10, 7, "at compressed byte 11: a block of no known type"},
		{len(packed) - 8, ^packed[len(packed)-8], fmt.Sprintf(
			"at compressed byte %d: the checksum or the length of the text is another one", len(packed))},
	} {
		bad := bytes.Clone(packed)
		bad[c.at] = c.to
		if _, err := fill(NewReader(bytes.NewReader(bad)), 1000); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// TestSourceFails: what was read before an error of the source is delivered, then the
// error itself.
func TestSourceFails(t *testing.T) {
	text := texts()["trace"]
	packed := pack(6, text)
	broken := errors.New("the disk is broken")
	for n := 0; n < len(packed); n += 1 + n/7 {
		want, _ := standard(packed[:n])
		got, err := fill(NewReader(io.MultiReader(bytes.NewReader(packed[:n]), iotest.ErrReader(broken))), 10_000)
		if err != broken || !bytes.Equal(got, want) {
			t.Errorf("after %d bytes: %d of %d bytes, %v", n, len(got), len(want), err)
		}
	}
	if _, err := fill(NewReader(lazy{}), 100); err != io.ErrNoProgress {
		t.Errorf("a source that gives nothing: %v", err)
	}
}

// lazy gives nothing and never ends.
type lazy struct{}

func (lazy) Read([]byte) (int, error) { return 0, nil }

// TestFillAfterRead: Fill goes on where Read stopped, with what Read has not given yet.
func TestFillAfterRead(t *testing.T) {
	text := texts()["trace"]
	for _, n := range []int{0, 1, 4096, 100_000, 200_000, len(text)} {
		r := NewReader(bytes.NewReader(pack(6, text)))
		buf := make([]byte, len(text)+10)
		if _, err := io.ReadFull(r, buf[:n]); err != nil {
			t.Fatal(err)
		}
		middle := min(n+1000, len(text))
		more, err := r.Fill(buf[:middle], n)
		if err != nil || more != middle-n {
			t.Fatalf("%d bytes, %v", more, err)
		}
		rest, err := r.Fill(buf, n+more)
		if got := buf[:n+more+rest]; err != io.EOF || !bytes.Equal(got, text) {
			t.Errorf("after %d bytes: %d of %d bytes, %v", n, len(got), len(text), err)
		}
	}
}

// TestPackedLiterals: an entry holds the literals that its bits hold, the first lowest.
func TestPackedLiterals(t *testing.T) {
	var c codes
	c.lengths['a'], c.lengths['b'], c.lengths[endOfBlock] = 1, 2, 2
	c.lengths[maxLit] = 1
	if !c.make(maxLit, 1) {
		t.Fatal("not a code")
	}
	for bits, want := range map[int]string{0: "aaa", 0b010: "aba", 0b01: "baa", 0b0101: "bba", 0b110: "a", 0b11: ""} {
		e := c.lit[bits]
		got := ""
		for k := range e >> 5 & 3 {
			got += string(rune(byte(e >> (8 + 8*k))))
		}
		if got != want {
			t.Errorf("%b: %q, want %q", bits, got, want)
		}
	}
}

// FuzzInflate compares with compress/gzip: streams as they are, and damaged ones.
func FuzzInflate(f *testing.F) {
	for _, packed := range small() {
		f.Add(packed[:min(len(packed), 600)], uint16(0), byte(0), uint16(5000))
		f.Add(packed[:len(packed)-3], uint16(20), byte(1), uint16(77))
	}
	f.Fuzz(func(t *testing.T, in []byte, at uint16, flip byte, window uint16) {
		for _, packed := range [][]byte{in, member(in, nil), pack(int(flip)%12-2, in)} {
			packed = bytes.Clone(packed)
			if len(packed) > 0 {
				packed[int(at)%len(packed)] ^= flip
			}
			if want, _ := standard(packed); len(want) < 1<<20 { // a few bytes may stand for much text
				compare(t, "fuzz", packed, max(int(window), len(want)/50, 50), max(len(want)/20, 400))
			}
		}
	})
}
