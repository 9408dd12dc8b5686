package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/trace"
)

// value is the right side of key=value.
type value struct {
	kind trace.Kind
	num  int64
	str  string // unquoted; of an Int as it stands
}

// value takes the next value.
func (l *line) value() (value, error) {
	switch {
	case l.rest == "" || l.rest[0] == ' ' || l.rest[0] == '\t':
		return value{}, errors.New("value is missing")
	case l.rest[0] == '"':
		s, err := l.quoted()
		return value{kind: trace.Text, str: s}, l.spaceAfter(err)
	case strings.HasPrefix(l.rest, `json"`):
		l.take(len("json"))
		s, err := l.quoted()
		return value{kind: trace.JSON, str: s}, l.spaceAfter(err)
	case l.rest[0] == '[' || l.rest[0] == '{':
		s := l.take(bracketEnd(l.rest))
		if !json.Valid([]byte(s)) {
			return value{}, fmt.Errorf("%q is not JSON", s)
		}
		return value{kind: trace.JSON, str: s}, l.spaceAfter(nil)
	}
	return bareValue(l.take(bareEnd(l.rest))), nil
}

func (l *line) spaceAfter(err error) error {
	if err == nil && l.rest != "" && l.rest[0] != ' ' && l.rest[0] != '\t' {
		return fmt.Errorf("no space before %q", l.rest)
	}
	return err
}

// bareValue tells what a word without quotes and brackets is.
func bareValue(s string) value {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return value{trace.Int, n, s}
	}
	if json.Valid([]byte(s)) {
		return value{kind: trace.JSON, str: s}
	}
	return value{kind: trace.Text, str: s}
}

// bracketEnd is where the JSON list or object at the start of s ends; spaces
// inside belong to it.
func bracketEnd(s string) int {
	depth, inString := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// appendValue appends v so that value returns it.
func appendValue(b []byte, v value) []byte {
	switch {
	case v.kind == trace.Int:
		return strconv.AppendInt(b, v.num, 10)
	case v.kind == trace.JSON && !readsAs(v):
		return appendQuoted(append(b, "json"...), v.str)
	case v.kind == trace.Text && !readsAs(v):
		return appendQuoted(b, v.str)
	}
	return append(b, v.str...)
}

// readsAs reports whether v.str as it stands is read as v.
func readsAs(v value) bool {
	if escape.Control(v.str) != v.str {
		return false
	}
	if v.kind == trace.Text && !isBare(v.str) {
		return false
	}
	l := line{v.str}
	got, err := l.value()
	return err == nil && got == v && l.rest == ""
}

// textTo, intTo, timeTo and listTo set a field from a value.
func textTo(p *string) func(value) error {
	return func(v value) error {
		*p = v.str
		return nil
	}
}

func intTo(p *int64) func(value) error {
	return func(v value) error {
		if v.kind != trace.Int {
			return fmt.Errorf("%q is not an integer", v.str)
		}
		*p = v.num
		return nil
	}
}

func timeTo(p *int64) func(value) (err error) {
	return func(v value) (err error) {
		*p, err = parseTime(v.str)
		return err
	}
}

func listTo(p *[]int64) func(value) error {
	return func(v value) error {
		*p = nil
		for s := range strings.SplitSeq(v.str, ",") {
			n, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				return fmt.Errorf("%q is not an integer", s)
			}
			*p = append(*p, n)
		}
		return nil
	}
}
