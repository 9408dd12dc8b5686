package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gaprof/gaprof/internal/escape"
)

// streams are the standard streams of a command. stdout carries data and nothing
// else. Messages go to stderr, as
//
//	gaprof: lower case, no full stop
//	gaprof: hint: what you can do, where we know
//
// with whatever came out of a file escaped, so that a name in a trace cannot
// command a terminal.
type streams struct {
	in       io.Reader
	out, err io.Writer
	look     *look // nil: as by default
}

// say writes one message; newlines of its format start new messages, those within
// an argument, such as the name of a file, do not.
func (s streams) say(format string, args ...any) {
	for i, a := range args {
		switch a := a.(type) {
		case string:
			args[i] = escape.Control(a)
		case error:
			args[i] = escape.Control(a.Error())
		}
	}
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		fmt.Fprintln(s.err, within(s.err, "gaprof: "+escape.Control(line)))
	}
}

// fail reports an error with its hint.
func (s streams) fail(err error) {
	for _, message := range linesOf(err) {
		s.say("%s", message)
	}
	if hint := hintOf(err); hint != "" {
		s.say("hint: %s", hint)
	}
}

// linesOf returns the messages of the errors joined in err, else that of err.
func linesOf(err error) []string {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return notEmpty(err.Error())
	}
	var list, texts []string
	for _, part := range joined.Unwrap() {
		list, texts = append(list, linesOf(part)...), append(texts, part.Error())
	}
	if strings.Join(texts, "\n") != err.Error() { // err wraps the list in a text of its own
		return notEmpty(err.Error())
	}
	return list
}

func notEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// bug reports a panic and returns its exit code.
func (s streams) bug(what any, stack []byte) int {
	s.say("this is a bug in gaprof: %v", what)
	s.say("hint: please report it with the text below at https://github.com/gaprof/gaprof/issues")
	fmt.Fprintf(s.err, "\n%s\n", versionLine())
	s.err.Write(stack)
	return exitBug
}
