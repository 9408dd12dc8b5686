package main

import (
	"os"
	"strings"
	"testing"
)

// TestNothingToRead: what is no trace, and what holds no events, is named with the same words and
// the same exit code by every command that reads traces.
func TestNothingToRead(t *testing.T) {
	sample, err := os.ReadFile("../../traces/reduce-scatter-in-step.json")
	must(t, err)
	t.Chdir(t.TempDir())
	const noEvents, noTrace = `{"traceEvents": []}`, `{"model": "gpt", "layers": 4}`
	for _, dir := range []string{"none", "junk", "mixed"} {
		must(t, os.Mkdir(dir, 0o777))
	}
	for name, text := range map[string]string{
		"empty.json": "", "notes.txt": "Dear diary, it is NaN",
		"other.json": noTrace, "bare.json": noEvents,
		"list.json": "[1, 2, 3]", "good.json": string(sample), "junk/other.json": noTrace,
		"mixed/good.json":  string(sample),
		"mixed/empty.json": "", "mixed/other.json": noTrace, "mixed/bare.json": noEvents,
		"mixed/notes.txt": "Dear diary",
	} {
		must(t, os.WriteFile(name, []byte(text), 0o666))
	}
	commands := map[string]string{
		"bare": "IN", "analyze": "analyze IN", "report": "report IN -o out.html --force", "check": "check IN",
		"diff base": "diff IN good.json", "diff new": "diff good.json IN", "norm": "norm IN", "whatif": "whatif IN",
		"calibrate": "calibrate IN --preset h100", "convert": "convert IN -o out.csv --force",
		"profile": "convert IN -o out.pb.gz --force",
	}
	for input, wants := range map[string][]string{
		"empty.json": {"empty.json: is empty"},
		"notes.txt":  {`notes.txt: is not a trace; it starts with "Dear diary`},
		"other.json": {"other.json: byte 0: an object without an event list"},
		"list.json":  {"list.json: byte 0: an event list without any trace event"},
		"bare.json":  {"bare.json: nothing to "},
		"none":       {"none: holds no trace"},
		"junk":       {"junk: holds no trace", "junk/other.json is there, but is no trace"},
		"gone.json":  {"gone.json: no such file or directory"},
		"gone*.json": {"gone*.json: matches no trace"},
	} {
		for name, line := range commands {
			code, stdout, stderr := runWith("", strings.Fields(strings.ReplaceAll(line, "IN", input))...)
			if code != exitInput || stdout != "" {
				t.Errorf("%s of %s: exit code %d, %q %q", name, input, code, stdout, stderr)
			}
			for _, want := range wants {
				if !strings.Contains(stderr, want) {
					t.Errorf("%s of %s: %q is not in %q", name, input, want, stderr)
				}
			}
		}
	}
	for name, line := range commands {
		if name == "convert" { // one trace only
			continue
		}
		code, _, stderr := runWith("", strings.Fields(strings.ReplaceAll(line, "IN", "mixed"))...)
		if name != "norm" && name != "calibrate" && name != "check" && code != exitOK {
			t.Errorf("%s: exit code %d, %s", name, code, stderr)
		}
		for _, want := range []string{
			"mixed/other.json: is not a trace; left alone", "mixed/empty.json: is empty; left out",
			"mixed/bare.json: nothing to analyze",
		} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s of a folder: %q is not in %q", name, want, stderr)
			}
		}
	}
}

// TestNearFlags: each name of the field leads to a flag of some command.
func TestNearFlags(t *testing.T) {
	root, _ := newRootCommand(streams{})
	for name, of := range otherNames {
		found := false
		for _, cmd := range root.Commands() {
			for _, flag := range of {
				found = found || cmd.Flags().Lookup(flag) != nil || root.PersistentFlags().Lookup(flag) != nil
			}
		}
		if !found || strings.ContainsAny(name, "_ ") {
			t.Errorf("%s leads to %v, which no command has", name, of)
		}
	}
}
