package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestColumns: with COLUMNS no command writes a longer line, to a pipe either, while files that
// it writes stay as they are.
func TestColumns(t *testing.T) {
	const sample, hook = "../../traces/reduce-scatter-in-step.json", "../../traces/reduce-scatter-in-hook.json"
	baseline := filepath.Join(t.TempDir(), "baseline.json")
	if code, _, stderr := runWith("", "analyze", sample, "--format", "json", "-o", baseline); code != exitOK {
		t.Fatal(stderr)
	}
	for _, args := range [][]string{
		{"analyze", sample, "--show", "findings,top,groups,memory,ranks,health,whatif"},
		{"diff", sample, hook}, {"check", hook, "--baseline", baseline}, {"whatif", sample},
		{"norm", "../../traces/demo-before"},
		{"explain"}, {"explain", "OV004"}, {"explain", "rs.exposed.time"}, {"version"}, {"help"}, {"help", "analyze"},
		{"train", "--help"}, {"analyze", "no/such/" + strings.Repeat("folder/", 12) + "file.json"},
	} {
		t.Run(strings.Join(args[:min(2, len(args))], " "), func(t *testing.T) {
			_, wide, _ := runWith("", args...)
			for _, columns := range []int{60, 80, 120} {
				t.Setenv("COLUMNS", strconv.Itoa(columns))
				_, stdout, stderr := runWith("", args...)
				for l := range strings.Lines(stdout + stderr) {
					if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > columns {
						t.Errorf("%d columns: a line of %d: %s", columns, n, l)
					}
				}
				if got, want := len(strings.Fields(stdout)), len(strings.Fields(wide)); got < want {
					t.Errorf("%d columns: %d words of %d", columns, got, want)
				}
			}
		})
	}
	t.Setenv("COLUMNS", "60")
	file := filepath.Join(t.TempDir(), "out.txt")
	if code, _, stderr := runWith("", "analyze", sample, "-o", file, "--color", "always"); code != exitOK {
		t.Fatal(stderr)
	}
	text, err := os.ReadFile(file)
	must(t, err)
	golden, err := os.ReadFile("testdata/golden/sample-in-step.txt")
	must(t, err)
	if string(text) != string(golden) {
		t.Errorf("a file depends on the terminal:\n%s", text)
	}
}

func TestColorFlag(t *testing.T) {
	const sample = "../../traces/reduce-scatter-in-step.json"
	for _, c := range []struct {
		env, flag string
		want      bool
	}{
		{"", "", false}, {"", "--color=always", true}, {"NO_COLOR=1", "--color=always", true},
		{"FORCE_COLOR=1", "", true}, {"FORCE_COLOR=0", "", false}, {"FORCE_COLOR=1", "--color=never", false},
		{"NO_COLOR=1 FORCE_COLOR=1", "", false}, {"", "--color=auto", false},
	} {
		t.Run(c.env+c.flag, func(t *testing.T) {
			for _, name := range []string{"NO_COLOR", "FORCE_COLOR"} {
				t.Setenv(name, "")
			}
			for _, pair := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(pair, "=")
				t.Setenv(name, value)
			}
			code, stdout, stderr := runWith("", append([]string{"analyze", sample}, strings.Fields(c.flag)...)...)
			if code != exitOK || strings.Contains(stdout, "\x1b[") != c.want || strings.Contains(stderr, "\x1b") {
				t.Errorf("code %d, %q", code, stdout)
			}
			_, json, _ := runWith("", append(strings.Fields(c.flag), "analyze", sample, "--format=json")...)
			if strings.Contains(json, "\x1b") {
				t.Error("colors in JSON")
			}
		})
	}
	code, _, stderr := runWith("", "version", "--color", "blue")
	if code != exitUsage || !strings.Contains(stderr, "never") {
		t.Errorf("code %d, %s", code, stderr)
	}
}
