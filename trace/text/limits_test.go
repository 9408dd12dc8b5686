package text

import (
	"errors"
	"strings"
	"testing"
)

// lines gives the same line for ever, and counts the bytes.
type lines struct {
	line string
	at   int
	read int
}

func (l *lines) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k := copy(p[n:], l.line[l.at:])
		n, l.at = n+k, (l.at+k)%len(l.line)
	}
	l.read += n
	return n, nil
}

// Reading says how much memory it takes, and ends where it may not have that: a text of short
// lines takes several times its length.
func TestTables(t *testing.T) {
	full := errors.New("full")
	for _, line := range []string{
		"1/1 1us +1us k name1\n", "1/1 1us +1us k n dims=[[1,2]]\n", "thread 1/1 name=\"n\"\n",
	} {
		in, told, calls := &lines{line: line}, int64(0), 0
		_, err := ReadWith(in, Options{Tables: func(bytes int64) error {
			if bytes < told {
				t.Errorf("%q: %d bytes after %d", line, bytes, told)
			}
			if told = bytes; bytes > 8<<20 {
				return full
			}
			if calls++; calls > 500 { // what repeats a fact takes nothing
				return full
			}
			return nil
		}})
		if err != full || in.read > 1<<24 {
			t.Errorf("%q: %v after %d bytes", line, err, in.read)
		}
		if strings.Contains(line, "+1us") && told < int64(in.read) {
			t.Errorf("%q: %d bytes for %d of text", line, told, in.read)
		}
	}
}

// A line has an end, or the text is none of this format.
func TestLongLine(t *testing.T) {
	in := &lines{line: "x"}
	_, err := ReadWith(in, Options{File: "f", Reach: 1 << 20})
	if err == nil || err.Error() != "f: byte 0: line 1: has more than 1048576 bytes" || in.read > 2<<20 {
		t.Errorf("%v after %d bytes", err, in.read)
	}
	text := "# a trace\n1/1 1 +1 k n\r\n\n1/1 2 +1 k n"
	tr, err := ReadWith(strings.NewReader(text), Options{Reach: 1 << 20})
	if err != nil || tr.Len() != 2 {
		t.Errorf("%v", err)
	}
	_, err = Read(strings.NewReader(text+"\noops"), "f")
	if err == nil || !strings.Contains(err.Error(), "byte 38: line 5: ") {
		t.Errorf("%v", err)
	}
}
