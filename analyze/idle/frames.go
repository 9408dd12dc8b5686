package idle

import (
	"strings"

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
		if ofProgram(name) {
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

// libraries are pieces of the paths of frames that are not the program's own.
var libraries = []string{
	"/torch/", "-packages/", "/lib/python3", "/threading.py(", "/contextlib.py(", "/functools.py(", "<frozen",
}

// ofProgram reports whether a frame is a line of the program: "train.py(57): log_loss", and not
// a built-in, "nn.Module: Linear_0" or a line of a library.
func ofProgram(name string) bool {
	if strings.HasPrefix(name, "<built-in") || !strings.Contains(name, ".py(") {
		return false
	}
	path := "/" + strings.ReplaceAll(name, `\`, "/")
	for _, library := range libraries {
		if strings.Contains(path, library) {
			return false
		}
	}
	return true
}

// frames is a frame in which the host is, and the line of the program that called it.
func frames(program, innermost string) string {
	if program == innermost || strings.Contains(innermost, ".py(") {
		return program
	}
	return innermost + ", called at " + program
}
