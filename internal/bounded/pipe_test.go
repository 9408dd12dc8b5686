//go:build linux || darwin

package bounded

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// impatient makes pipes give up at once.
func impatient(t *testing.T) {
	before := silence
	silence = 0
	t.Cleanup(func() { silence = before })
}

func fifo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Skip("SKIP: no pipes here")
	}
	return name
}

func TestPipe(t *testing.T) {
	name, piped := fifo(t), ten
	if _, err := ReadFile(name, ten); err == nil || !strings.HasSuffix(err.Error(), ": is a pipe, not a plain file") {
		t.Errorf("a pipe where a file is wanted: %v", err)
	}
	piped.Pipes = true
	for text, want := range map[string]string{
		"text": "", strings.Repeat("x", 11): ": byte 10: goes on, and a list has at most 10 bytes",
	} {
		done := make(chan error)
		go func() { done <- os.WriteFile(name, []byte(text), 0) }()
		data, err := ReadFile(name, piped)
		said := ""
		if err != nil {
			said = strings.TrimPrefix(err.Error(), name)
		}
		if said != want || want == "" && string(data) != text {
			t.Errorf("%q: %q, %v", text, data, err)
		}
		<-done
	}
}

// A pipe that nobody writes to, or whose writer falls silent, is given up.
func TestSilentPipe(t *testing.T) {
	impatient(t)
	name, piped := fifo(t), ten
	piped.Pipes = true
	var e *Error
	if _, err := ReadFile(name, piped); !errors.As(err, &e) || !strings.Contains(e.Reason, "nothing was written") {
		t.Errorf("without a writer: %v", err)
	}
	writer, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if _, err := ReadFile(name, piped); !errors.As(err, &e) || !strings.Contains(e.Reason, "nothing was written") {
		t.Errorf("with a silent writer: %v", err)
	}
}

// drip gives a byte at a time, for ever.
type drip struct{ given int }

func (d *drip) Read(p []byte) (int, error)      { d.given++; return 1, nil }
func (d *drip) SetReadDeadline(time.Time) error { return nil }

// endless is a writer that is never silent and never ends: its time is up at some point.
type late struct{ drip }

func (l *late) Read(p []byte) (int, error) { return 0, os.ErrDeadlineExceeded }

func TestSlowPipe(t *testing.T) {
	p := &pipe{name: "p", from: new(late), end: time.Now().Add(-time.Hour), read: 7}
	if _, err := io.ReadAll(p); err == nil || err.Error() != "p: byte 7: is a pipe whose writer took more than 1m0s" {
		t.Errorf("%v", err)
	}
	source := new(drip)
	f := &File{name: "p", limit: ten, from: &pipe{name: "p", from: source, end: time.Now().Add(time.Hour)}}
	if data, err := io.ReadAll(f); err == nil || len(data) != 10 || source.given != 11 {
		t.Errorf("%d bytes, %d given, %v", len(data), source.given, err)
	}
}
