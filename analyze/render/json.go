package render

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
)

// JSON writes the contract gaprof.report/1. What a terminal would obey is written as \u escapes,
// here and in all other JSON: the values are the names as they are.
func JSON(w io.Writer, r *report.Report, _ Options) error { return encode(w, r) }

// encode writes a value as JSON, each member and element on a line of its own.
func encode(w io.Writer, value any) error {
	return json.NewEncoder(escape.JSONWriter(indented{w})).Encode(value)
}

// indented takes whole JSON texts without white space and writes them as json.Indent
// would. json.Indent runs every byte through a state machine, because it trusts no text, and takes
// longer than encoding.
type indented struct{ w io.Writer }

func (d indented) Write(text []byte) (int, error) {
	out, depth := make([]byte, 0, 2*len(text)), 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			n := stringLength(text[i:])
			out = append(out, text[i:i+n]...)
			i += n - 1
		case ':':
			out = append(out, ": "...)
		case ',':
			out = newLine(append(out, c), depth)
		case '{', '[':
			if text[i+1] == c+2 { // the closing bracket follows: it is empty
				out = append(out, c, c+2)
				i++
				continue
			}
			depth++
			out = newLine(append(out, c), depth)
		case '}', ']':
			depth--
			out = append(newLine(out, depth), c)
		default:
			out = append(out, c)
		}
	}
	if _, err := d.w.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

func newLine(out []byte, depth int) []byte {
	out = append(out, '\n')
	for range depth {
		out = append(out, ' ')
	}
	return out
}

// stringLength is the length of the JSON string that text begins with, in bytes.
func stringLength(text []byte) int {
	for n := 1; ; {
		n += bytes.IndexByte(text[n:], '"') + 1
		escapes := 0
		for text[n-2-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return n
		}
	}
}
