package text

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// line is what is left of one line while it is read from left to right.
type line struct{ rest string }

// more skips spaces; it is false at the end of the line or at a comment.
func (l *line) more() bool {
	l.rest = strings.TrimLeft(l.rest, " \t")
	return l.rest != "" && l.rest[0] != '#'
}

// word takes the next word and unquotes it; what says what it is for the error.
func (l *line) word(what string) (string, error) {
	if !l.more() {
		return "", fmt.Errorf("%s is missing", what)
	}
	if l.rest[0] != '"' {
		return l.take(bareEnd(l.rest)), nil
	}
	s, err := l.quoted()
	if err == nil && l.rest != "" && l.rest[0] != ' ' && l.rest[0] != '\t' {
		err = fmt.Errorf("no space after %s %q", what, s)
	}
	return s, err
}

// take cuts n bytes off.
func (l *line) take(n int) string {
	s := l.rest[:n]
	l.rest = l.rest[n:]
	return s
}

// bareEnd is where a word that starts without a quote ends.
func bareEnd(s string) int {
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return i
	}
	return len(s)
}

// quoted takes a quoted string, wherever it ends.
func (l *line) quoted() (string, error) {
	q, err := strconv.QuotedPrefix(l.rest)
	if err != nil {
		return "", errors.New("a quote is not closed, or an escape in it is not one of Go's")
	}
	l.rest = l.rest[len(q):]
	return strconv.Unquote(q)
}

// track takes process/thread; either may be quoted.
func (l *line) track() (pid, tid string, err error) {
	if !l.more() {
		return "", "", errors.New("process/thread is missing")
	}
	if pid, err = l.id("/ \t"); err != nil {
		return "", "", err
	}
	if !strings.HasPrefix(l.rest, "/") {
		return "", "", fmt.Errorf("expected process/thread, found %q", pid+l.take(bareEnd(l.rest)))
	}
	l.take(1)
	tid, err = l.id(" \t")
	return pid, tid, err
}

func (l *line) id(ends string) (string, error) {
	if strings.HasPrefix(l.rest, `"`) {
		return l.quoted()
	}
	n := strings.IndexAny(l.rest, ends)
	if n < 0 {
		n = len(l.rest)
	}
	return l.take(n), nil
}

// arg takes the next key=value.
func (l *line) arg() (key string, quoted bool, v value, err error) {
	quoted = strings.HasPrefix(l.rest, `"`)
	if key, err = l.id("= \t"); err != nil {
		return key, quoted, v, err
	}
	if !strings.HasPrefix(l.rest, "=") {
		return key, quoted, v, fmt.Errorf("expected key=value, found %q", key+l.take(bareEnd(l.rest)))
	}
	l.take(1)
	if v, err = l.value(); err != nil {
		err = fmt.Errorf("%s: %w", key, err)
	}
	return key, quoted, v, err
}

// attrs are the key=value words that a line may have, each with what it sets.
type attrs map[string]func(value) error

// attrs takes the rest of the line.
func (l *line) attrs(known attrs) error {
	for l.more() {
		key, _, v, err := l.arg()
		if err != nil {
			return err
		}
		set, ok := known[key]
		if !ok {
			names := strings.Join(slices.Sorted(maps.Keys(known)), ", ")
			return fmt.Errorf("unknown key %q; there are %s", key, names)
		}
		if err := set(v); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// appendWord appends s so that word returns it.
func appendWord(b []byte, s string) []byte {
	if isBare(s) {
		return append(b, s...)
	}
	return appendQuoted(b, s)
}

// appendQuoted appends s as Go quotes it; a runner of CI finds no command in it.
func appendQuoted(b []byte, s string) []byte {
	return append(b, strings.ReplaceAll(strconv.Quote(s), "##", `#\x23`)...)
}

// isBare reports whether s can stand as a word without quotes.
func isBare(s string) bool {
	if s == "" || s == "-" || s[0] == '#' || strings.HasPrefix(s, "::") || strings.Contains(s, "##") {
		return false
	}
	for _, r := range s {
		if r == '"' || r == ' ' || r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

func appendTrack(b []byte, pid, tid string) []byte {
	b = append(appendID(b, pid), '/')
	return appendID(b, tid)
}

func appendID(b []byte, id string) []byte {
	if strings.Contains(id, "/") {
		return appendQuoted(b, id)
	}
	return appendWord(b, id)
}
