package main

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// shell runs the commands of a page, each in the same folder.
type shell struct {
	dir string
	env []string
}

// newShell makes the folder of a page, which has the samples and nothing else.
func newShell(t *testing.T, bin, page string) *shell {
	t.Helper()
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	for name, from := range samples {
		from = cmp.Or(otherSamples[page][name], from)
		copied(t, from, filepath.Join(work, name))
	}
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	return &shell{dir: work, env: []string{"PATH=" + bin, "HOME=" + dir, "TMPDIR=" + tmp, "NO_COLOR=1", "LANG=C.UTF-8"}}
}

// copied copies a file or a folder.
func copied(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if err == nil && info.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Link(from, to))
		if err != nil {
			text, _ := os.ReadFile(from)
			err = os.WriteFile(to, text, 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// do runs commands and returns what they print, on both streams, and their exit code.
func (s *shell) do(t *testing.T, commands string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	commands = strings.ReplaceAll(commands, "go run ./cmd/gaprof", "gaprof")
	cmd := exec.Command("bash", "--norc", "-e", "-o", "pipefail", "-c", commands)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, s.env, &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// commandLine begins a line that runs gaprof.
var commandLine = regexp.MustCompile(`(?m)^(?:gaprof|go run ./cmd/gaprof) `)

// runFence runs the commands of a fence: one after the other, each with its output below it, or all at once.
func (p *docPage) runFence(t *testing.T, s *shell, f fence) {
	t.Helper()
	if f.lang != "console" {
		commands := strings.Join(p.lines[f.first+1:f.end], "\n")
		p.ran += len(commandLine.FindAllString(commands, -1))
		out, code := s.do(t, commands)
		if code != 0 {
			t.Errorf("%s exit code %d:\n%s", p.place(f.first), code, lastLines(out))
		}
		return
	}
	for i := f.first + 1; i < f.end; {
		first, ok := strings.CutPrefix(p.lines[i], "$ ")
		if !ok {
			t.Errorf("%s output of no command: %s", p.place(i), p.lines[i])
			return
		}
		command := []string{first}
		for i++; i < f.end && strings.HasSuffix(command[len(command)-1], "\\"); i++ {
			command = append(command, strings.TrimPrefix(p.lines[i], "> "))
		}
		next := i
		for next < f.end && !strings.HasPrefix(p.lines[next], "$ ") {
			next++
		}
		to := next
		for to > i && p.lines[to-1] == "" { // between two commands
			to--
		}
		p.runCommand(t, s, strings.Join(command, "\n"), i, to)
		i = next
	}
}

// lastLines is the end of an output, where errors stand.
func lastLines(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}

// runCommand runs one command, whose output the page shows in the lines from one to before another.
func (p *docPage) runCommand(t *testing.T, s *shell, command string, from, to int) {
	t.Helper()
	p.ran++
	out, code := s.do(t, command)
	var lines []string
	if out = strings.TrimRight(out, "\n"); out != "" {
		lines = strings.Split(out, "\n")
	}
	if code != 0 {
		lines = append(lines, "[exit code "+strconv.Itoa(code)+"]")
	}
	shown := p.lines[from:to]
	says := len(shown) > 0 && exitMark.MatchString(shown[len(shown)-1])
	if code != 0 && !says {
		t.Errorf("%s exit code %d:\n%s", p.place(from-1), code, lastLines(out))
		return
	}
	p.compare(t, from, to, lines)
}

// TestWordsOfDocs: what pages write in prose as `gaprof ...` has only commands and options that there are.
func TestWordsOfDocs(t *testing.T) {
	span := regexp.MustCompile("`gaprof ([^`]+)`")
	n := 0
	for _, name := range docPages(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range span.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\n", " "), -1) {
			n++
			if err := understood(m[1]); err != nil {
				t.Errorf("%s: `gaprof %s`: %v", strings.TrimPrefix(name, "../../"), m[1], err)
			}
		}
	}
	if n < 60 {
		t.Errorf("found %d only", n)
	}
	for _, bad := range []string{"analyse PATH", "diff BASE NEW --baseline X", "train --plnt RULE", "explian"} {
		if understood(bad) == nil {
			t.Errorf("gaprof %s is taken for a command", bad)
		}
	}
}

// TestCommandsPage: the page of commands has all of them.
func TestCommandsPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	root, _ := newRootCommand(streams{})
	for _, cmd := range root.Commands() {
		if !strings.Contains(string(text), "`gaprof "+cmd.Name()) && !cmd.Hidden {
			t.Errorf("docs/commands.md does not have gaprof %s", cmd.Name())
		}
	}
}

// understood tells whether a command line has a command that there is, and options that it has.
func understood(line string) error {
	line = regexp.MustCompile(`[\[\]"']|\.\.\.`).ReplaceAllString(line, "")
	line, _, _ = strings.Cut(line, " | ")
	line, _, _ = strings.Cut(line, " && ")
	words := strings.Fields(line)
	root, _ := newRootCommand(streams{})
	if len(words) == 0 || words[0] == "0.1" {
		return nil
	}
	if isInput := !isCommand(root, words[0]) && regexp.MustCompile(`^-|[A-Z/.*]`).MatchString(words[0]); isInput {
		words = append([]string{defaultCommand}, words...)
	}
	if !isCommand(root, words[0]) {
		return unknownWord(root, words[0])
	}
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	return flagsThatAre(cmd, rest)
}

// flagsThatAre returns an error for a word that looks like an option and is none.
func flagsThatAre(cmd *cobra.Command, words []string) error {
	cmd.InitDefaultHelpFlag()
	for _, word := range words {
		name, ok := strings.CutPrefix(word, "--")
		name, _, _ = strings.Cut(name, "=")
		if ok && name != "" && cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil &&
			!slices.Contains([]string{"help", "version"}, name) {
			return errors.New("there is no option --" + name)
		}
	}
	return nil
}
