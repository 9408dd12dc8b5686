package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// child runs this program once more, for what is asked of a server: it can be ended at any time, has a
// limit of memory of its own, gives all of it back, and its faults are not the server's.
type child struct {
	program  func() (string, error)
	memLimit string // as --mem-limit; empty: that of the command
	dir      string // where it runs; empty: here
}

func newChild(memLimit string) child { return child{program: os.Executable, memLimit: memLimit} }

// childError is what a child said on stderr, and its exit code.
type childError struct {
	code int
	text string
}

func (e *childError) Error() string { return e.text }

// childWait is how long the streams of a child that was ended may stay open.
const childWait = 2 * time.Second

// run runs a command whose stdout goes to out. say gets each line on stderr, without our prefix; it
// may be nil.
func (c child) run(ctx context.Context, out io.Writer, say func(line string), args ...string) error {
	program, err := c.program()
	if err != nil {
		return err
	}
	said := &sayings{say: say}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = c.dir
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, said, childWait
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		return &childError{exit.ExitCode(), said.last()}
	case err != nil:
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

// withLimit adds the limit of memory to the flags of a command that reads traces.
func (c child) withLimit(args ...string) []string {
	if c.memLimit != "" {
		args = append(args, "--mem-limit", c.memLimit)
	}
	return args
}

// sayings are the lines on a child's stderr.
type sayings struct {
	say   func(line string)
	part  []byte
	lines []string
}

// What is kept of what a child says.
const (
	mostSayings = 20
	mostSaying  = 1000 // bytes of a line
)

func (s *sayings) Write(p []byte) (int, error) {
	s.part = append(s.part, p...)
	for {
		line, rest, whole := bytes.Cut(s.part, []byte("\n"))
		if !whole {
			s.part = s.part[:min(len(s.part), mostSaying)]
			return len(p), nil
		}
		s.add(string(line))
		s.part = append([]byte(nil), rest...)
	}
}

func (s *sayings) add(line string) {
	line = strings.TrimPrefix(line, "gaprof: ")
	line = strings.ToValidUTF8(line[:min(len(line), mostSaying)], "")
	if s.say != nil {
		s.say(line)
	}
	if !strings.HasPrefix(line, "read ") && !strings.HasPrefix(line, "reading ") { // progress
		s.lines = append(s.lines, line)
		s.lines = s.lines[max(0, len(s.lines)-mostSayings):]
	}
}

func (s *sayings) last() string {
	if len(s.lines) == 0 {
		return "it ended without a word"
	}
	return strings.Join(s.lines, "\n")
}
