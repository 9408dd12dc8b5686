package main

import (
	"io"
	"os"
	"runtime/debug"

	"github.com/gaprof/gaprof/internal/ingest"
)

func main() {
	ingest.StartCollector()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program: it runs the command that args name and returns the
// exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	s := streams{in: stdin, out: stdout, err: stderr, look: new(look)}
	defer func() {
		if bug := recover(); bug != nil {
			code = s.bug(bug, debug.Stack())
		}
	}()
	root, started := newRootCommand(s)
	args, err := withDefault(root, args)
	if err == nil {
		root.SetArgs(args)
		err = root.Execute()
	}
	if err != nil {
		s.fail(err)
	}
	return codeOf(err, *started)
}
