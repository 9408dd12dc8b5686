package tracefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// circle gives a head, and then the same bytes for ever, and counts what was read.
type circle struct {
	head, row []byte
	at        int
	read      int64
}

func (c *circle) Read(p []byte) (n int, err error) {
	if len(c.head) > 0 {
		n = copy(p, c.head)
		c.head = c.head[n:]
	}
	for n < len(p) {
		k := copy(p[n:], c.row[c.at:])
		n, c.at = n+k, (c.at+k)%len(c.row)
	}
	c.read += int64(n)
	return n, nil
}

// zstdHead begins a frame of zstd without a length, whose blocks follow; blanks is a block
// of 128 KiB of them in four bytes, and zstdEmpty a frame without text.
var (
	zstdHead  = []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0x38}
	blanks    = []byte{0x02, 0, 0x10, ' '}
	zstdEmpty = append(append([]byte{}, zstdHead...), 1, 0, 0)
	skipped   = []byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}
)

// rawBlock is a block of zstd that holds a text as it is.
func rawBlock(text string) []byte {
	n := len(text) << 3
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16)}, text...)
}

// A stream without end is given up: by what it inflates to, or by how much of it holds
// nothing. How much was read of it says that this does not depend on the machine's memory.
func TestEndlessStreams(t *testing.T) {
	before := freeText
	defer func() { freeText = before }()
	freeText = 64 << 20
	event := rawBlock(`{"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1},`)
	for name, c := range map[string]struct {
		in   *circle
		says string
		most int64 // bytes that may be read
	}{
		"blanks in zstd": {
			&circle{head: append(append([]byte{}, zstdHead...), rawBlock("[ ")...), row: blanks}, "more than 400 times",
			1 << 20,
		},
		"blanks after an event": {
			&circle{head: append(append([]byte{}, zstdHead...), event...), row: blanks}, "more than 400 times", 1 << 20,
		},
		"empty frames of zstd":   {&circle{row: zstdEmpty}, "zstd stream is damaged at compressed byte", 20 << 20},
		"skipped frames of zstd": {&circle{head: zstdEmpty, row: skipped}, "hold no text at all", 20 << 20},
		"empty members of gzip":  {&circle{row: []byte(gz(""))}, "hold no text at all", 20 << 20},
	} {
		traces, err := ReadFrom(c.in, "stdin", Options{})
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(e.Error(), c.says) || traces != nil {
			t.Errorf("%s: %d traces, %v", name, len(traces), err)
		}
		if c.in.read > c.most {
			t.Errorf("%s: %d bytes were read, %d are enough", name, c.in.read, c.most)
		}
	}
}

// OpenText reads what is compressed like traces, within the same bounds.
func TestOpenText(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	must(t, err)
	for _, content := range []string{"text", gz("text"), string(z.EncodeAll([]byte("text"), nil)), gz(gz("text"))} {
		text, err := OpenText(file(t, "f", content))
		must(t, err)
		data, err := io.ReadAll(text)
		if string(data) != "text" || err != nil || text.Stored != int64(len(content)) {
			t.Errorf("%q, %v", data, err)
		}
		must(t, text.Close())
	}
	bomb := append(append([]byte{}, zstdHead...), bytes.Repeat(blanks, 1_000)...)
	text, err := OpenText(file(t, "f", string(bomb)))
	must(t, err)
	defer text.Close()
	n, err := io.Copy(io.Discard, text)
	var e *Error
	if !errors.As(err, &e) || n > freeOther+1<<20 || e.Hint == "" {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := OpenText("/dev/null"); !errors.As(err, &e) || e.Reason != "is a device, not a plain file" {
		t.Errorf("a device: %v", err)
	}
}

// A list of files is read line by line within its limit.
func TestBadLists(t *testing.T) {
	long := file(t, "long", "# a list\n"+strings.Repeat("x", 5000))
	_, err := Expand([]string{"@" + long})
	if err == nil || !strings.Contains(err.Error(), "byte 9: is no path: it goes on for more than 4096 bytes") {
		t.Errorf("%v", err)
	}
	if _, err := Expand([]string{"@/dev/zero"}); err == nil || !strings.Contains(err.Error(), "is a device") {
		t.Errorf("%v", err)
	}
	before := listLimit.Bytes
	defer func() { listLimit.Bytes = before }()
	listLimit.Bytes = 10
	if _, err := Expand([]string{"@" + long}); err == nil || !strings.Contains(err.Error(), "at most 10 bytes") {
		t.Errorf("%v", err)
	}
}

// A search that finds more than any job has files says so.
func TestMostFound(t *testing.T) {
	before := mostFound
	defer func() { mostFound = before }()
	mostFound = 3
	tree(t, map[string]string{
		"d/1.json": aTrace, "d/2.json": aTrace, "d/e/3.json": aTrace, "d/e/4.json": aTrace, "c/1.json": aTrace,
		"c/2.json": aTrace, "c/3.json": aTrace, "others/1.json": "1", "others/2.json": "2",
		"others/3.json": "3", "others/f/4.json": "4", "c/notes.txt": "no trace by its name",
	})
	for arg, named := range map[string]string{
		"d": "d", "[d]": "d", "others": "others", "**": "**", "**/*.json": "**/*.json",
	} {
		var e *Error
		_, err := Expand([]string{arg})
		want := fmt.Sprintf("%s: holds more than %d files that may be traces", named, mostFound)
		if !errors.As(err, &e) || e.Error() != want || e.Hint == "" {
			t.Errorf("%s: %v", arg, err)
		}
	}
	if files, err := Expand([]string{"c"}); err != nil || len(files) != 3 {
		t.Errorf("%q, %v", files, err)
	}
}
