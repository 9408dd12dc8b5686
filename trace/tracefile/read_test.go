package tracefile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/zstd"

	"github.com/gaprof/gaprof/trace"
)

// oneEvent has 16 bytes before its list.
const oneEvent = `{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}`

func gz(parts ...string) string {
	var b bytes.Buffer
	for _, s := range parts {
		w := gzip.NewWriter(&b)
		w.Write([]byte(s))
		w.Close()
	}
	return b.String()
}

func zst(s string) string {
	w, _ := zstd.NewWriter(nil)
	return string(w.EncodeAll([]byte(s), nil))
}

func readString(t *testing.T, s string, o Options) ([]*trace.Trace, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.any")
	if err := os.WriteFile(path, []byte(s), 0o666); err != nil {
		t.Fatal(err)
	}
	return Read(path, o)
}

// Content decides, not the name, and compression changes nothing.
func TestRead(t *testing.T) {
	const lines = "# a trace\n1/1 1us +2us - a\n"
	for name, in := range map[string]string{
		"json":          oneEvent,
		"text":          lines,
		"gzip":          gz(oneEvent),
		"gzip members":  gz(oneEvent[:20], "", oneEvent[20:]),
		"zstd":          zst(oneEvent),
		"zstd frames":   zst(oneEvent[:20]) + zst(oneEvent[20:]),
		"gzip in gzip":  gz(gz(oneEvent)),
		"gzip in zstd":  zst(gz(oneEvent)),
		"gzip of text":  gz(lines),
		"leading space": "\n\n  " + oneEvent,
		"bare list":     oneEvent[16 : len(oneEvent)-1],
	} {
		traces, err := readString(t, in, Options{})
		if err != nil || len(traces) != 1 || traces[0].Len() != 1 || traces[0].Event(0).Dur() != 2000 {
			t.Errorf("%s: %d traces, error %v", name, len(traces), err)
		}
	}
}

func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "is empty"},
		{gz(""), "holds nothing but an empty gzip stream"},
		{zst(""), "holds nothing but an empty zstd stream"},
		{gz(oneEvent)[:5], "gzip stream ends early at compressed byte 5"},
		{"\x1f\x8bxxxxxxxxxxxxxxxx", "gzip stream is damaged at compressed byte"},
		{gz(gz(gz(oneEvent))), "is compressed more than twice"},
		{"\x89PNG\r\n\x1a\n\x00\x00", "is a PNG image, not a trace"},
		{gz("\x89PNG\r\n\x1a\n"), "is a PNG image, not a trace"},
		{"PK\x03\x04zip", "is a zip archive, not a trace"},
		{"\xff\xfe{\x00", "is UTF-16 text, not a trace"},
		{"<!DOCTYPE html>", "is HTML or XML, not a trace"},
		{"\x0a\x00\x01\x02", "is binary data, not a trace"},
		{"hello, world", `is not a trace; it starts with "hello, world"`},
	} {
		_, err := readString(t, c.in, Options{})
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "f.any: "+c.want) {
			t.Errorf("%.20q: error %v, want %s", c.in, err, c.want)
		}
	}
}

func TestReadNoFile(t *testing.T) {
	dir := t.TempDir()
	locked := filepath.Join(dir, "locked.json")
	os.WriteFile(locked, []byte(oneEvent), 0)
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "gone"), "no such file or directory"},
		{dir, "is a directory"},
		{locked, "permission denied"},
		{Stdin, "there is no standard input"},
	} {
		if c.path == locked && os.Getuid() == 0 {
			t.Log("skipping a file without permission: root may read it")
			continue
		}
		_, err := Read(c.path, Options{})
		var e *Error
		if !errors.As(err, &e) || e.Error() != c.path+": "+c.want {
			t.Errorf("%s: error %v, want %s", c.path, err, c.want)
		}
	}
}

func TestReadStdin(t *testing.T) {
	traces, err := Read(Stdin, Options{Stdin: iotestOneByte{strings.NewReader(gz(oneEvent))}})
	if err != nil || len(traces) != 1 || traces[0].Len() != 1 {
		t.Errorf("%d traces, error %v", len(traces), err)
	}
}

// iotestOneByte hands out a byte at a time, as slow pipes do.
type iotestOneByte struct{ r io.Reader }

func (o iotestOneByte) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1)]) }

func TestStrict(t *testing.T) {
	for _, in := range []string{`[{"ph": "X", "ts": NaN}]`, "1/1 0 +-1 - a", "problem truncated offset=7"} {
		if _, err := readString(t, in, Options{}); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		_, err := readString(t, in, Options{Strict: true})
		var e *trace.FormatError
		if !errors.As(err, &e) || !strings.HasSuffix(e.File, "f.any") {
			t.Errorf("%s: error %v", in, err)
		}
	}
}

func TestProgress(t *testing.T) {
	in := gz(oneEvent[:17], strings.Repeat(" ", 1<<20), oneEvent[17:])
	var last, total int64
	_, err := readString(t, in, Options{Progress: func(done, all int64) {
		if done < last {
			t.Errorf("went back from %d to %d", last, done)
		}
		last, total = done, all
	}})
	if err != nil || last != int64(len(in)) || total != last {
		t.Errorf("%d of %d bytes, want %d, error %v", last, total, len(in), err)
	}
}

// What stands before a cut is handed on, then the error with its place.
func TestCutStream(t *testing.T) {
	text := strings.Repeat(oneEvent+"\n", 10000)
	whole := gz(text)
	for _, n := range []int{10, 11, 100, len(whole) / 2, len(whole) - 9, len(whole) - 1} {
		in, err := unpack(&counter{r: strings.NewReader(whole[:n]), total: int64(n)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(in)
		var d *damage
		if !errors.As(err, &d) || d.offset != int64(n) || !strings.HasPrefix(text, string(got)) {
			t.Errorf("cut at %d: %d bytes, error %v", n, len(got), err)
		}
		if n > len(whole)-10 && string(got) != text {
			t.Errorf("cut at %d: %d bytes of %d", n, len(got), len(text))
		}
	}
}

// The real cut file gives exactly the bytes before the cut.
func TestTruncatedFile(t *testing.T) {
	f, err := os.Open(shared + "/damaged/truncated-gzip.json.gz")
	if err != nil {
		t.Skip("skipping: the shared traces are not here")
	}
	defer f.Close()
	info, _ := f.Stat()
	in, err := unpack(&counter{r: f, total: info.Size()})
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, in)
	if n != 6426233 || err == nil || err.Error() != "gzip stream ends early at compressed byte 436871" {
		t.Errorf("%d bytes, error %v", n, err)
	}
}

// Where a stream is cut, pipes give the same bytes as files, and the same error.
func TestCutPipe(t *testing.T) {
	text := strings.Repeat(oneEvent+"\n", 10000)
	whole := gz(text)
	for n := 20; n < len(whole); n += 101 {
		want, wantErr := readGzip(whole[:n], int64(n))
		got, err := readGzip(whole[:n], 0)
		if got != want || err == nil || err.Error() != wantErr.Error() {
			t.Errorf("cut at %d: %d bytes of %d, error %v", n, len(got), len(want), err)
		}
	}
}

func readGzip(s string, size int64) (string, error) {
	in, err := unpack(&counter{r: strings.NewReader(s), total: size})
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(in)
	return string(text), err
}

// The standard library decides where a stream that is cut ends.
func FuzzCut(f *testing.F) {
	f.Add([]byte(oneEvent), uint16(40))
	f.Fuzz(func(t *testing.T, in []byte, at uint16) {
		packed := gz(string(in), string(in))
		packed = packed[:int(at)%len(packed)]
		var want []byte
		if z, err := gzip.NewReader(strings.NewReader(packed)); err == nil {
			want, _ = io.ReadAll(z)
		}
		if got, err := readGzip(packed, int64(len(packed))); got != string(want) && len(packed) > 1 {
			t.Errorf("cut at %d: %q, want %q, error %v", len(packed), got, want, err)
		}
	})
}

func TestSizeHint(t *testing.T) {
	long := oneEvent + strings.Repeat(" ", 1000)
	for _, c := range []struct {
		in   string
		want func(size int64) int64
	}{
		{long, func(size int64) int64 { return size }},
		{gz(long), func(int64) int64 { return int64(len(long)) }},
		{gz(long, oneEvent), func(size int64) int64 { return size * typicalRatio }},
		{gz(long)[:60], func(size int64) int64 { return size * typicalRatio }},
		{zst(long), func(int64) int64 { return int64(len(long)) }},
	} {
		r := strings.NewReader(c.in)
		in, err := unpack(&counter{r: r})
		if err != nil {
			t.Fatal(err)
		}
		size := int64(len(c.in))
		if got := in.sizeHint(r, size); got != c.want(size) {
			t.Errorf("%.4q of %d bytes: %d, want %d", c.in, size, got, c.want(size))
		}
	}
}

// A reader that is given up on does not leave its goroutine behind: it fills no more than the
// windows that there are. One that stayed would be found blocked when the bubble ends; one that never
// ceases to read is given no more after many times as many.
func TestAheadStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		a := startAhead(readerFunc(func(p []byte) (int, error) {
			if reads++; reads > 100*aheadCount {
				return 0, io.EOF
			}
			return len(p), nil
		}))
		if n, err := a.Read(make([]byte, 10)); n != 10 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
		a.Close()
		synctest.Wait()
		if reads < 1 || reads > aheadCount {
			t.Errorf("%d windows were filled, of %d", reads, aheadCount)
		}
	})
}

func TestAheadPanics(t *testing.T) {
	a := startAhead(readerFunc(func([]byte) (int, error) { panic("planted") }))
	defer a.Close()
	defer func() {
		if got := recover(); got != "planted" {
			t.Errorf("recovered %v", got)
		}
	}()
	io.ReadAll(a)
}

func TestAheadNoProgress(t *testing.T) {
	a := startAhead(readerFunc(func([]byte) (int, error) { return 0, nil }))
	defer a.Close()
	if _, err := io.ReadAll(a); err != io.ErrNoProgress {
		t.Errorf("error %v", err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Whatever the bytes are, reading ends, and without an error there is a trace.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"", oneEvent, gz(oneEvent), gz(gz(oneEvent)), zst(oneEvent), gz(oneEvent)[:30], "1/1 0 +1 - a", "\x89PNG",
	} {
		f.Add([]byte(s), uint16(0), byte(0))
		f.Add([]byte(s), uint16(len(s)/2), byte(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, at uint16, flip byte) {
		packed := []byte(gz(string(in)))
		packed[int(at)%len(packed)] ^= flip
		for _, s := range [][]byte{in, packed} {
			traces, err := Read(Stdin, Options{Stdin: bytes.NewReader(s)})
			if err == nil && len(traces) == 0 {
				t.Errorf("nothing was read and nothing was wrong")
			}
		}
	})
}
