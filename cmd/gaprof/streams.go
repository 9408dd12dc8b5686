package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/gaprof/gaprof/internal/escape"
)

// streams are the outside edges of a command. stdout carries data and nothing
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
}

// say writes one message; newlines in it start new messages.
func (s streams) say(format string, args ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		fmt.Fprintf(s.err, "gaprof: %s\n", escape.Control(line))
	}
}

// fail reports an error with its hint.
func (s streams) fail(err error) {
	if message := err.Error(); message != "" {
		s.say("%s", message)
	}
	if hint := hintOf(err); hint != "" {
		s.say("hint: %s", hint)
	}
}

// bug reports a panic and returns its exit code.
func (s streams) bug(what any, stack []byte) int {
	s.say("this is a bug in gaprof: %v", what)
	s.say("hint: please report it with the text below at https://github.com/gaprof/gaprof/issues")
	fmt.Fprintf(s.err, "\n%s\n", versionLine())
	s.err.Write(stack)
	return exitBug
}
