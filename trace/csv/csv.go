// Package csv writes traces as comma-separated values, one event a row, for
// spreadsheets and data frames. It does not read them: a row has no place for
// what a recording says of itself.
//
// The first row names the columns (see Header). Times are integer ns on the clock
// of the recording; correlation and external_id are empty where absent; args_json
// is one JSON object of the other arguments, empty where there are none, in which
// values that are not valid JSON stand as strings.
//
// Names in a trace may come from anywhere, and a spreadsheet runs a cell that
// starts like a formula. A text cell whose first character is = + - or @ gets an
// apostrophe before it, unless all of it is a whole number, and control characters stand
// as escapes (see internal/escape).
package csv

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"

	"github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/trace"
)

// Header is the first row.
var Header = []string{
	"start_ns", "dur_ns", "phase", "category", "name", "process", "process_name", "thread", "thread_name",
	"correlation", "external_id", "args_json",
}

// Write writes t in its own order: by track, then by start. Errors are those of w.
func Write(w io.Writer, t *trace.Trace) error {
	out := csv.NewWriter(w)
	if err := out.Write(Header); err != nil {
		return err
	}
	row := make([]string, 0, len(Header))
	for i := range t.Len() {
		row = appendRow(row[:0], t, t.Event(i))
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func appendRow(row []string, t *trace.Trace, e trace.Event) []string {
	k := e.Track()
	return append(row,
		strconv.FormatInt(e.Start(), 10), strconv.FormatInt(e.Dur(), 10), escape.Cell(string(rune(e.Phase()))),
		escape.Cell(t.CatName(e.Cat())), escape.Cell(e.Name()),
		escape.Cell(k.PID), escape.Cell(k.ProcessName), escape.Cell(k.TID), escape.Cell(k.ThreadName),
		id(e.Corr()), id(e.External()), argsJSON(t, e.Args()))
}

func id(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func argsJSON(t *trace.Trace, args []trace.Arg) string {
	if len(args) == 0 {
		return ""
	}
	var b bytes.Buffer
	for i, a := range args {
		b.WriteByte("{,"[min(i, 1)])
		quote(&b, t.KeyName(a.Key))
		b.WriteByte(':')
		switch s := t.String(a.Str); {
		case a.Kind == trace.Int:
			b.WriteString(strconv.FormatInt(a.Num, 10))
		case a.Kind == trace.JSON && json.Valid([]byte(s)):
			b.WriteString(s)
		default:
			quote(&b, s)
		}
	}
	b.WriteByte('}')
	return string(escape.JSON(b.Bytes()))
}

// quote appends s as a JSON string; kernel names keep their angle brackets.
func quote(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	e.Encode(s) // of a string and into memory, it does not fail
	b.Truncate(b.Len() - 1)
}
