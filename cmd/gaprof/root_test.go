package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// A path without a command is analyzed; a word that is neither is refused.
func TestWithDefault(t *testing.T) {
	t.Chdir(t.TempDir())
	os.WriteFile("a.json", nil, 0o666)
	os.WriteFile("version.json", nil, 0o666)
	for _, c := range []struct{ args, want string }{
		{"a.json", "analyze a.json"},
		{"./a.json -q", "analyze ./a.json -q"},
		{".", "analyze ."},
		{"-", "analyze -"},
		{"@list", "analyze @list"},
		{"*.json", "analyze *.json"},
		{"version.json", "analyze version.json"},
		{"--format json a.json", "analyze --format json a.json"},
		{"-q a.json", "analyze -q a.json"},
		{"-- -a.json", "analyze -- -a.json"},
		{"-q -- a.json", "analyze -q -- a.json"},
		{"analyze -- -a.json", "analyze -- -a.json"},
		{"--", "--"},
		{"a.json version", "analyze a.json version"},
		{"analyze gone", "analyze gone"},
		{"version", "version"},
		{"-q version", "-q version"},
		{"help", "help"},
		{"help convert", "help convert"},
		{"--help", "--help"},
		{"-h", "-h"},
		{"--version", "version"},
		{"-v", "version"},
		{"-v -h", "-v -h"},
		{"__complete a", "__complete a"},
		{"", "no path given"},
		{"gone.json", "analyze gone.json"},
		{"everything", "analyze everything"},
		{"--color never diff a b", "--color never diff a b"},
		{"--color never a.json", "analyze --color never a.json"},
		{"verson", "neither a command nor a file"},
		{"Analyze", "neither a command nor a file"},
	} {
		root, _ := newRootCommand(streams{})
		got, err := withDefault(root, strings.Fields(c.args))
		if err != nil {
			got = []string{err.Error()}
		}
		if s := strings.Join(got, " "); s != c.want && (err == nil || !strings.Contains(s, c.want)) {
			t.Errorf("%q: got %q, want %q", c.args, s, c.want)
		}
	}
}

func TestNearestCommand(t *testing.T) {
	root, _ := newRootCommand(streams{})
	for word, want := range map[string]string{
		"analyse": "gaprof analyze", "conver": "gaprof convert", "con": "gaprof convert", "VERSION": "gaprof version",
		"quux": "gaprof --help",
	} {
		err := unknownWord(root, word)
		if codeOf(err, false) != exitUsage || !strings.Contains(hintOf(err), want) {
			t.Errorf("%s: hint %q, want %q", word, hintOf(err), want)
		}
	}
}

// Every command says in one line what it does, and runs or has commands of its own.
func TestCommands(t *testing.T) {
	root, _ := newRootCommand(streams{})
	seen := make(map[string]bool)
	for _, c := range root.Commands() {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") || !c.Runnable() || seen[c.Name()] {
			t.Errorf("command %s: %q", c.Name(), c.Short)
		}
		seen[c.Name()] = true
	}
	if !seen[defaultCommand] {
		t.Errorf("there is no command %s", defaultCommand)
	}
}

func TestSay(t *testing.T) {
	var out strings.Builder
	s := streams{err: &out}
	s.say("%s\nsecond", "a\x1b[31m\r")
	s.fail(errors.Join(usage("", "third"), errors.New("fourth")))
	s.fail(usage("try \x07", "fifth"))
	s.fail(&codeError{
		exitInput, errors.Join(errors.New("a\ngaprof: b"), fmt.Errorf("in %q: %w", "c", errors.Join(io.EOF, io.EOF))),
		"",
	})
	s.say("%v; left out", errors.New("d\n::error::e"))
	s.fail(&codeError{code: exitGate})
	want := "gaprof: a\\x1b[31m\\r\ngaprof: second\ngaprof: third\ngaprof: fourth\ngaprof: fifth\n" +
		"gaprof: hint: try \\a\n" +
		"gaprof: a\\ngaprof: b\ngaprof: in \"c\": EOF\\nEOF\ngaprof: d\\n::error::e; left out\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
