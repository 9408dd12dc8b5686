package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestDocs runs what the pages say: every command in a fence of sh, bash or console, in the order of its page, in an
// empty folder with the samples of this repository (samples, below). In a console fence what stands below a command
// is what it prints, and "[exit code N]" its exit code if that is not 0; "..." stands for anything, alone in a line
// for any lines. -update writes what is printed. Before a fence may stand
//
//	<!-- not run: REASON -->   it needs what a test cannot have
//	<!-- golden: FILE -->      it shows that file of testdata/golden, whose input is not in the repository
func TestDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program many times")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	bin := tools(t)
	ran, read, skipped := 0, 0, []string(nil)
	names := docPages(t)
	for _, name := range names {
		t.Run(strings.TrimPrefix(name, "../../"), func(t *testing.T) {
			read++
			p := readPage(t, name)
			p.run(t, bin)
			ran += p.ran
			skipped = append(skipped, p.skipped...)
		})
	}
	if read == len(names) && ran < 25 {
		t.Errorf("ran %d commands only", ran)
	}
	t.Logf("%d commands ran; %d fences were not run:\n%s", ran, len(skipped), strings.Join(skipped, "\n"))
}

// docPages returns README and the pages of docs/ that people write.
func docPages(t *testing.T) []string {
	t.Helper()
	names := []string{"../../README.md", "../../skills/gaprof/SKILL.md"}
	err := filepath.WalkDir("../../docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(name) == ".md" {
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil || len(names) < 60 {
		t.Fatalf("%d pages, %v", len(names), err)
	}
	return names
}

// samples stand, in the folder of a page, for the files that pages speak of.
var samples = map[string]string{
	"traces":              "../../traces",
	"trace.json.gz":       "../../traces/demo-before/rank0.json.gz",
	"trace-rank0.json.gz": "../../traces/demo-before/rank0.json.gz",
	"rank0.json.gz":       "../../traces/demo-before/rank0.json.gz",
	"rank1.json.gz":       "../../traces/demo-before/rank1.json.gz",
	"base":                "../../traces/demo-before",
	"new":                 "../../traces/demo-after",
	"sample.json":         "../../traces/reduce-scatter-in-step.json",
	"operations.csv":      "../../analyze/straggler/testdata/worked.csv",
}

// otherSamples stand there on pages where a name means something else.
var otherSamples = map[string]map[string]string{
	"docs/ci.md":     {"traces": "../../traces/demo-after"},
	"docs/whatif.md": {"traces": "../../traces/demo-before", "rank0.json.gz": samples["sample.json"]},
}

// shellTools are what commands may use beside gaprof.
var shellTools = []string{
	"gaprof", "bash", "cat", "cp", "grep", "head", "ls", "mkdir", "mv", "rm", "sed", "sort", "tail", "wc",
}

// tools returns a folder with the tools and nothing else.
func tools(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	for _, name := range shellTools {
		file, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(file, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// fence is a block of code of a page.
type fence struct {
	first, end int // lines: the one with the backquotes or of the first command, and after the last
	lang       string
	notRun     string
	golden     string
}

// page is one that is being read, with what happened so far.
type docPage struct {
	file    string
	name    string
	lines   []string
	fences  []fence
	ran     int
	skipped []string
	edits   []edit
}

var (
	notRun     = regexp.MustCompile(`^<!-- not run: (.{9,}) -->$`)
	golden     = regexp.MustCompile(`^<!-- golden: (\S+) -->$`)
	anyMark    = regexp.MustCompile(`^<!--.*(not run|golden)`)
	shellLangs = []string{"sh", "bash", "shell", "console"}
	escaped    = regexp.MustCompile(`^(?:\$ |gaprof [a-z'@]|go (?:run|test|build|install|tool) ` +
		`|make [a-z]|pip |uvx? |python3? |podman )`)
	exitMark = regexp.MustCompile(`^\[exit code (\d+)\]$`)
)

func readPage(t *testing.T, name string) *docPage {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p := &docPage{file: name, name: strings.TrimPrefix(name, "../../"), lines: strings.Split(string(text), "\n")}
	for i := 0; i < len(p.lines); i++ {
		marks, ok := strings.CutPrefix(p.lines[i], "```")
		switch {
		case ok:
			f := fence{first: i, lang: strings.Trim(marks, "`")}
			ticks := p.lines[i][:len(p.lines[i])-len(f.lang)]
			for i++; i < len(p.lines) && p.lines[i] != ticks; i++ {
			}
			f.end = i
			p.fences = append(p.fences, p.marked(t, f))
		case strings.HasPrefix(p.lines[i], "    ") && escaped.MatchString(strings.TrimSpace(p.lines[i])):
			t.Errorf("%s:%d: a command outside of a fence is not run: %s", p.name, i+1, p.lines[i])
		}
	}
	return p
}

// marked reads the remark before a fence.
func (p *docPage) marked(t *testing.T, f fence) fence {
	t.Helper()
	i := f.first - 1
	for i > 0 && p.lines[i] == "" {
		i--
	}
	if i < 0 {
		return f
	}
	if m := notRun.FindStringSubmatch(p.lines[i]); m != nil {
		f.notRun = m[1]
	} else if m := golden.FindStringSubmatch(p.lines[i]); m != nil {
		f.golden = m[1]
	} else if anyMark.MatchString(p.lines[i]) {
		t.Errorf("%s:%d: no remark that is known: %s", p.name, i+1, p.lines[i])
	}
	return f
}

// run runs the fences of a page in the order of the page.
func (p *docPage) run(t *testing.T, bin string) {
	t.Helper()
	var sh *shell
	for _, f := range p.fences {
		switch {
		case f.golden != "":
			p.compareFile(t, f)
		case !slices.Contains(shellLangs, f.lang):
			p.mustNotBeCommands(t, f)
		case f.notRun != "":
			p.skipped = append(p.skipped, p.place(f.first)+" "+p.lines[f.first+1]+" ("+f.notRun+")")
		default:
			if sh == nil {
				sh = newShell(t, bin, p.name)
			}
			p.runFence(t, sh, f)
		}
	}
	p.write(t)
}

func (p *docPage) place(line int) string { return p.name + ":" + strconv.Itoa(line+1) + ":" }

// mustNotBeCommands: what stands in a fence of another kind would not be run.
func (p *docPage) mustNotBeCommands(t *testing.T, f fence) {
	t.Helper()
	if f.lang != "" && f.lang != "text" {
		return
	}
	for i := f.first + 1; i < f.end; i++ {
		if escaped.MatchString(p.lines[i]) {
			t.Errorf("%s a command in a fence that is not one of %v is not run: %s", p.place(i), shellLangs, p.lines[i])
		}
	}
}

// compareFile compares a fence with an output that another test holds.
func (p *docPage) compareFile(t *testing.T, f fence) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join("testdata", "golden", f.golden))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(want), "\n"), "\n")
	p.compare(t, f.first+1, f.end, lines)
}

// compare compares lines of the page with what they should be. With -update they become that.
func (p *docPage) compare(t *testing.T, from, to int, want []string) {
	t.Helper()
	got := p.lines[from:to]
	if elided(got, want) {
		return
	}
	if *update {
		p.edits = append(p.edits, edit{from, to, want})
		return
	}
	t.Errorf("%s the page says\n%s\nand the program\n%s\n(go test ./cmd/gaprof -run TestDocs -update writes it)",
		p.place(from), strings.Join(got, "\n"), strings.Join(want, "\n"))
}

// edit puts lines in the place of others.
type edit struct {
	from, to int
	lines    []string
}

// write writes the page with what -update changed.
func (p *docPage) write(t *testing.T) {
	t.Helper()
	if len(p.edits) == 0 {
		return
	}
	for _, e := range slices.Backward(p.edits) {
		p.lines = slices.Replace(p.lines, e.from, e.to, e.lines...)
	}
	if err := os.WriteFile(p.file, []byte(strings.Join(p.lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// elided tells whether a text is what a page shows, where "..." stands for anything, alone in a line for any lines.
func elided(shown, text []string) bool {
	var b strings.Builder
	b.WriteString(`\A`)
	for _, line := range shown {
		if line == "..." {
			b.WriteString(`(?:.*\n)*?`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), `\.\.\.`, `.*`) + `\n`)
	}
	return regexp.MustCompile(b.String() + `\z`).MatchString(strings.Join(append(text, ""), "\n"))
}

// TestElided: the test itself must be able to fail.
func TestElided(t *testing.T) {
	for _, c := range []struct {
		shown, text string
		want        bool
	}{
		{"a\nb", "a\nb", true},
		{"a\nb", "a\nc", false},
		{"a", "a\nb", false},
		{"a\nb", "a", false},
		{"a\n...\nd", "a\nb\nc\nd", true},
		{"a\n...\nd", "a\nd", true},
		{"a\n...\nd", "a\nb\nc", false},
		{"a ... z (x)", "a 1.5 z (x)", true},
		{"a ... z", "a 1.5 y", false},
		{"...", "", true},
	} {
		if got := elided(strings.Split(c.shown, "\n"), strings.Split(c.text, "\n")); got != c.want {
			t.Errorf("%q of %q: %v", c.shown, c.text, got)
		}
	}
}
