package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/internal/bounded"
)

// endless gives a head, and then the same text for ever, and counts what was read.
type endless struct {
	head, row string
	read      int64
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.head)
	e.head = e.head[n:]
	for n < len(p) {
		n += copy(p[n:], e.row)
	}
	e.read += int64(n)
	return n, nil
}

const head = `{"schema":"gaprof.report/1",`

// A report without end is read as far as memory allows, and refused there.
func TestReadEndless(t *testing.T) {
	for name, in := range map[string]*endless{
		"steps":   {head: head + `"steps":[{}`, row: ",{}"},
		"string":  {head: head + `"version":"`, row: "a"},
		"unknown": {head: head + `"unknown":[1`, row: ",1"},
		"blanks":  {head: head, row: " "},
	} {
		const memory = 30 << 20
		_, _, err := ReadWithin(in, memory)
		var much *bounded.TooMuch
		if !errors.As(err, &much) || much.Most != memory || in.read > memory/2 {
			t.Errorf("%s: %d bytes were read, %v", name, in.read, err)
		}
	}
	if _, err := Read(&endless{head: head, row: " "}); err == nil ||
		err.Error() != "not a report: byte 268435456: it goes on, and reports have at most that" {
		t.Errorf("with all the memory that there is: %v", err)
	}
}

// What takes far more memory than its length is no report, even where there is memory; what
// takes more than there is says so.
func TestReadTooMuch(t *testing.T) {
	steps := head + `"steps":[{}` + strings.Repeat(",{}", 1_000_000) + "]}"
	_, _, err := ReadWithin(strings.NewReader(steps), 1<<40)
	var much *bounded.TooMuch
	if err == nil || errors.As(err, &much) || !strings.Contains(err.Error(), "of memory, as no report does") {
		t.Errorf("%v", err)
	}
	if _, _, err := ReadWithin(strings.NewReader(steps), 20<<20); !errors.As(err, &much) || much.Most != 20<<20 {
		t.Errorf("%v", err)
	}
}

// A real report is read in little more than its length.
func TestReadReal(t *testing.T) {
	var r Report
	r.Schema = Schema
	zero := int64(0)
	for i := range 5000 {
		r.Steps = append(r.Steps, Step{Index: i, Start: &zero, Duration: &zero, Ledger: new(Ledger)})
		r.Findings = append(r.Findings, Finding{Rule: "OV001", Message: strings.Repeat("text ", 20)})
	}
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got, used, err := ReadWithin(bytes.NewReader(text), 1<<40)
	if err != nil || len(got.Steps) != len(r.Steps) || used > 3*int64(len(text)) {
		t.Errorf("%d bytes of memory for %d of text, %v", used, len(text), err)
	}
	if _, err := Read(io.MultiReader(bytes.NewReader(text), strings.NewReader("{}"))); err == nil {
		t.Error("two reports are one")
	}
}

// FuzzRead: whatever is read is a report, or an error, and takes no more than it may.
func FuzzRead(f *testing.F) {
	f.Add([]byte(head + `"steps":[{"index":1,"ledger_ns":{}}]}`))
	f.Add([]byte(head + `"steps":[{"idle_causes_ns":{"a":1}}],"normalization":{"tokens":[[9223372036854775807]]}}`))
	f.Add([]byte("\xef\xbb\xbf" + head + `"findings":[{"evidence":[{}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, used, err := ReadWithin(bytes.NewReader(text), 1<<20)
		if err == nil && (r == nil || used > 1<<20) {
			t.Errorf("%q: %d bytes", text, used)
		}
	})
}
