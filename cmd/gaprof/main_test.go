package main

import (
	"bytes"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gaprof": main, "peak": peak})
}

// TestScripts runs the program as users do. In a script,
//
//	exits CODE gaprof ARG...
//
// runs it and checks its exit code; stdout and stderr look at what it said.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Cmds:                map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d; stderr:\n%s", got, want, ts.ReadFile("stderr"))
	}
}

// runWith runs the program in this process.
func runWith(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, strings.NewReader(stdin), &out, &err)
	return code, out.String(), err.String()
}

func TestPanicIsReported(t *testing.T) {
	defer func(old []func(streams) *cobra.Command) { commands = old }(commands)
	commands = append(commands[:len(commands):len(commands)], func(streams) *cobra.Command {
		return &cobra.Command{Use: "explode", Run: func(*cobra.Command, []string) { panic("planted \x1b[2J") }}
	})
	code, stdout, stderr := runWith("", "explode")
	if code != exitBug || stdout != "" {
		t.Errorf("code %d, stdout %q", code, stdout)
	}
	for _, want := range []string{
		`gaprof: this is a bug in gaprof: planted \x1b[2J`, "please report it", "goroutine", "gaprof " + version,
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr has no %q:\n%s", want, stderr)
		}
	}
}

func TestCodes(t *testing.T) {
	for _, c := range []struct {
		err     error
		started bool
		want    int
	}{
		{nil, true, exitOK},
		{errors.New("unknown flag"), false, exitUsage},
		{errors.New("disk full"), true, exitInput},
		{usage("", "no"), true, exitUsage},
		{&codeError{code: exitGate}, true, exitGate},
		{&codeError{code: exitInconclusive}, true, exitInconclusive},
		{&tracefile.Error{}, true, exitInput},
		{&trace.FormatError{}, true, exitInput},
		{errors.Join(&trace.FormatError{}, &tracefile.Error{}), true, exitInput},
		{&tracefile.UnknownFormat{}, true, exitUsage},
	} {
		if got := codeOf(c.err, c.started); got != c.want {
			t.Errorf("%T, started %v: %d, want %d", c.err, c.started, got, c.want)
		}
	}
}

func TestHelpNamesEveryCode(t *testing.T) {
	_, help, _ := runWith("", "--help")
	for _, e := range exitCodes {
		if !strings.Contains(help, strconv.Itoa(e.code)+" ") || !strings.Contains(help, e.meaning) {
			t.Errorf("the help does not name exit code %d", e.code)
		}
	}
}

// Messages of every command are lower case, without a full stop, and never on stdout.
func TestMessages(t *testing.T) {
	for _, args := range [][]string{
		{}, {"nonsense"}, {"convert"}, {"convert", "gone.json", "-o", "-", "--to", "text"}, {"version", "x"},
		{"convert", "--nonsense"}, {"completion", "tcsh"}, {"convert", "a", "-o", "-"}, {"analyze", "gone.json"},
	} {
		code, stdout, stderr := runWith("", args...)
		if code == exitOK || code == exitBug || stdout != "" {
			t.Errorf("%v: exit code %d, stdout %q", args, code, stdout)
		}
		for line := range strings.Lines(stderr) {
			message, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "gaprof: ")
			first := message[:min(1, len(message))]
			if !ok || strings.HasSuffix(message, ".") || first != strings.ToLower(first) {
				t.Errorf("%v: message %q", args, line)
			}
		}
	}
}
