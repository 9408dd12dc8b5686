package idle

import (
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// code is the Python frame around a row that a person can change: the innermost one of a line
// of the program. Where all frames are those of Python and PyTorch it is the innermost of them,
// "" where stacks were not recorded. The row counts if it is a frame itself.
func (c *charger) code(row int32) (program, innermost string) {
	look := func(span int32) bool {
		if c.x.Col.Cat[span] != trace.CatPythonFunction {
			return true
		}
		name := c.x.Name(span)
		if innermost == "" {
			innermost = name
		}
		if c.x.Is(span, timeline.ProgramLine) {
			program = name
		}
		return program == ""
	}
	if look(row) {
		c.x.Stack(row, look)
	}
	if program == "" {
		program = innermost
	}
	return program, innermost
}

// frames is a frame in which the host is, and the line of the program that called it.
func frames(program, innermost string) string {
	if program == innermost || strings.Contains(innermost, ".py(") {
		return program
	}
	return innermost + ", called at " + program
}
