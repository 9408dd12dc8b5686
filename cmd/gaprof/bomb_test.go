package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
)

// huge multiplies the sizes of the tests of this file by ten: GAPROF_HUGE=1.
func huge() int {
	if os.Getenv("GAPROF_HUGE") != "" {
		return 10
	}
	return 1
}

// repeated writes a file of a head, a text many times, and a tail. A compressed one is
// made of members that are each compressed once, so that a large text is made at once.
func repeated(t *testing.T, name, head, text string, times int, tail string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	block := strings.Repeat(text, 1+(1<<20)/len(text))
	times = 1 + times*len(text)/len(block)
	member := func(s string) []byte {
		if !strings.HasSuffix(name, ".gz") {
			return []byte(s)
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err := io.WriteString(z, s)
		must(t, err)
		must(t, z.Close())
		return b.Bytes()
	}
	_, err = f.Write(member(head))
	must(t, err)
	for data := member(block); times > 0; times-- {
		_, err = f.Write(data)
		must(t, err)
	}
	_, err = f.Write(member(tail))
	must(t, err)
	return path
}

// TestGzipBombs: a small file that holds a gigabyte of text is refused by name when
// the memory that it may take is spent, not when the machine's is.
func TestGzipBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: takes seconds")
	}
	const limit, gigabyte = 100e6, 1_000_000_000
	const event = `{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1},`
	for _, c := range []struct{ what, head, text, says string }{
		{"zeros", "", "\x00", "is binary data, not a trace"},
		{"spaces", "", " ", "is not a trace; it starts with"},
		{"lists", "", "[", "of memory; the limit is 100.0 MB"},
		{
			"one string", `{"traceEvents": [{"ph": "X", "ts": 1, "dur": 1, "name": "`, "a",
			"of memory; the limit is 100.0 MB",
		},
		{"blanks", `{"traceEvents": [` + event, " ", "of memory; the limit is 100.0 MB"},
		{"events", `{"traceEvents": [`, event, "of memory; the limit is 100.0 MB"},
		{
			"arguments", `{"traceEvents": [{"ph": "X", "ts": 1, "dur": 1, "args": {"a": [`, `[1],`,
			"of memory; the limit is 100.0 MB",
		},
		{"documents", "", "[" + event + "{}]", ""}, // the first few are read
	} {
		t.Run(c.what, func(t *testing.T) {
			path := repeated(t, "bomb.json.gz", c.head, c.text, gigabyte/len(c.text), "")
			start := time.Now()
			code, stderr, peak := tryProgram(t, nil, "analyze", "--mem-limit", "100MB", path)
			took := time.Since(start)
			t.Logf("%v, %.0f MB", took.Round(time.Millisecond), float64(peak)/1e6)
			if refused := c.says != ""; refused != (code == exitInput) || !strings.Contains(stderr, c.says) {
				t.Errorf("exit %d: %s", code, stderr)
			}
			if peak > limit*5/4 || took > 60*time.Second {
				t.Errorf("%v and %.0f MB with a limit of %.0f MB", took, float64(peak)/1e6, limit/1e6)
			}
		})
	}
}

// deepFile writes a trace of an event and one with an argument that is nested deeply.
func deepFile(t *testing.T, event string, depth int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "deep.json")
	text := `{"traceEvents": [` + event + `, {"ph": "X", "ts": 1, "dur": 1, "args": {"Input Dims": ` +
		strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}}]}`
	must(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// TestTooMuch: far more of something than a trace has is read, in a time and in memory
// that grow with it.
func TestTooMuch(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: takes seconds")
	}
	n := huge()
	event := func(name, tid string) string {
		return `{"ph": "X", "cat": "cpu_op", "name": "` + name + `", "pid": 1, "tid": ` + tid + `, "ts": 1, "dur": 1}`
	}
	counted := func(what, format string, count int) string {
		path := filepath.Join(t.TempDir(), what+".json")
		var b strings.Builder
		b.WriteString(`{"traceEvents": [` + event("first", "1"))
		for i := range count {
			fmt.Fprintf(&b, ",\n"+format, i)
		}
		b.WriteString("]}")
		must(t, os.WriteFile(path, []byte(b.String()), 0o666))
		return path
	}
	for _, c := range []struct {
		what, path, says string
		atMost           int64 // resident bytes
	}{
		{
			"a string of 100 MB",
			repeated(t, "string.json",
				`{"traceEvents": [`+event("first", "1")+`, {"ph": "X", "ts": 1, "dur": 1, "name": "`, "a",
				100_000_000*n, `"}]}`), "", 60e6 + int64(n)*530e6,
		},
		{
			"an argument of 100 MB",
			repeated(t, "list.json",
				`{"traceEvents": [`+event("first", "1")+`, {"ph": "X", "ts": 1, "dur": 1, "args": {"Input Dims": [`,
				"1,", 50_000_000*n, `1]}}]}`), "", 60e6 + int64(n)*530e6,
		},
		{"10^6 levels", deepFile(t, event("first", "1"), 1_000_000*n), "deep_nesting", 100e6},
		{
			"10^5 names",
			counted("names", `{"ph": "X", "cat": "cpu_op", "name": "name%d", "pid": 1, "tid": 1, "ts": 1, "dur": 1}`,
				100_000*n), "", 60e6 + int64(n)*60e6,
		},
		{
			"10^5 tracks",
			counted("tracks", `{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": %d, "ts": 1, "dur": 1}`,
				100_000*n), "", 60e6 + int64(n)*80e6,
		},
		{
			"10^5 processes",
			counted("processes", `{"ph": "X", "cat": "kernel", "name": "a", "pid": %d, "tid": 1, `+
				`"ts": 1, "dur": 1, "args": {"correlation": 1}}`, 100_000*n), "", 60e6 + int64(n)*120e6,
		},
		{
			"10^5 keys",
			counted("keys", `{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, `+
				`"ts": 1, "dur": 1, "args": {"key%d": 1}}`, 100_000*n), "", 60e6 + int64(n)*80e6,
		},
	} {
		t.Run(c.what, func(t *testing.T) {
			start := time.Now()
			code, stderr, peak := tryProgram(t, nil, "analyze", "--format", "json", "-o", os.DevNull, c.path)
			took := time.Since(start)
			t.Logf("%v, %.0f MB", took.Round(time.Millisecond), float64(peak)/1e6)
			if code != exitOK || stderr != "" {
				t.Errorf("exit %d: %s", code, stderr)
			}
			if peak > c.atMost || took > time.Duration(n)*30*time.Second {
				t.Errorf("%v and %.0f MB, want %.0f MB at most", took, float64(peak)/1e6, float64(c.atMost)/1e6)
			}
			if c.says != "" {
				code, _, stderr := runWith("", "convert", c.path, "-o", os.DevNull, "--to", "csv")
				if code != exitOK || !strings.Contains(stderr, c.says) {
					t.Errorf("convert: exit %d, no word of %s: %s", code, c.says, stderr)
				}
			}
		})
	}
}
