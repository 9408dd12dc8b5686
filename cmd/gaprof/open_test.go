package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// served is a command that serves pages, run as a program.
type served struct {
	t      *testing.T
	cmd    *exec.Cmd
	base   string
	client *http.Client
}

// startServer runs a command and enters with its address.
func startServer(t *testing.T, args ...string) *served {
	t.Helper()
	program, err := exec.LookPath("gaprof") // this test, which main_test.go makes the program
	must(t, err)
	jar, err := cookiejar.New(nil)
	must(t, err)
	s := &served{t: t, cmd: exec.Command(program, args...), client: &http.Client{Jar: jar}}
	out, err := s.cmd.StdoutPipe()
	must(t, err)
	must(t, s.cmd.Start())
	t.Cleanup(func() { s.cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	address := strings.TrimSpace(line)
	s.base, _, _ = strings.Cut(address, "/?")
	if r, err := http.Get(s.base); err != nil || r.StatusCode != http.StatusForbidden {
		t.Fatalf("without a token: %v, %v", r, err)
	}
	_, _, err = s.ask(address)
	must(t, err)
	return s
}

// ask gets an address once it is no page that waits.
func (s *served) ask(address string) (text string, final string, err error) {
	for range 200 {
		r, err := s.client.Get(address)
		if err != nil {
			return "", "", err
		}
		data, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK {
			return "", "", fmt.Errorf("%s: %s: %s %v", address, r.Status, data, err)
		}
		if r.Header.Get("Refresh") == "" {
			return string(data), r.Request.URL.String(), nil
		}
	}
	return "", "", fmt.Errorf("%s: waits for ever", address)
}

func (s *served) get(address string) (text, final string) {
	s.t.Helper()
	text, final, err := s.ask(address)
	must(s.t, err)
	return text, final
}

// end ends the program as Ctrl-C does.
func (s *served) end() {
	s.t.Helper()
	must(s.t, s.cmd.Process.Signal(os.Interrupt))
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("Ctrl-C: %v", err)
	}
}

// eventsIn are the names of the processes and the slices of gaprof in a trace.
func eventsIn(t *testing.T, text string) (all int, ours []string) {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(text))
	must(t, err)
	var doc struct {
		TraceEvents []struct{ Cat, Name string }
	}
	must(t, json.NewDecoder(z).Decode(&doc))
	for _, e := range doc.TraceEvents {
		if e.Cat == "gaprof" {
			ours = append(ours, e.Name)
		}
	}
	return len(doc.TraceEvents), ours
}

// The page of a run leads to all that is made of it, and Ctrl-C ends the program well.
func TestOpen(t *testing.T) {
	s := startServer(t, "open", "--no-browser", "../../traces/reduce-scatter-in-step.json")
	page, at := s.get(s.base)
	if !strings.Contains(page, "OV004") || !strings.HasSuffix(at, "/0/") {
		t.Errorf("the page at %s has no finding", at)
	}
	trace, _ := s.get(at + "trace/0")
	n, ours := eventsIn(t, trace)
	if n < 200 || !slices.ContainsFunc(ours, func(name string) bool { return strings.HasPrefix(name, "OV004 nccl") }) {
		t.Errorf("%d events, ours: %q", n, ours)
	}
	original, err := os.ReadFile("../../traces/reduce-scatter-in-step.json")
	must(t, err)
	if text, _ := s.get(at + "file/0"); text != string(original) {
		t.Error("the trace as it is is another one")
	}
	for path, want := range map[string]string{
		"flame": "sgemm_backward", "report.json": `"gaprof.report/1"`, "perfetto": "trace/0", "profile": "\x1f\x8b",
	} {
		if text, _ := s.get(at + path); !strings.Contains(text, want) {
			t.Errorf("%s: no %q", path, want)
		}
	}
	s.end()
}

// A folder is its runs, whose pages come when they are asked for; what is written later appears.
func TestServeFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: takes seconds under the race detector")
	}
	dir := t.TempDir()
	copyTo := func(from, to string) {
		text, err := os.ReadFile("../../traces/" + from)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, to), text, 0o600))
	}
	copyTo("reduce-scatter-in-step.json", "monday.json")
	s := startServer(t, "serve", "--no-browser", dir)
	index, _ := s.get(s.base)
	links := regexp.MustCompile(`href="(run/[0-9a-f]+/)"`)
	if got := links.FindAllStringSubmatch(index, -1); len(got) != 1 || !strings.Contains(index, "not analyzed yet") {
		t.Fatalf("links %q in %s", got, index)
	}
	copyTo("reduce-scatter-in-hook.trace.txt", "tuesday.trace.txt")
	index, _ = s.get(s.base)
	found := links.FindAllStringSubmatch(index, -1)
	if len(found) != 2 {
		t.Fatalf("two runs are %q", found)
	}
	for _, m := range found {
		page, at := s.get(s.base + "/" + m[1])
		if !strings.Contains(page, "reduce-scatter exposed") {
			t.Errorf("%s has no finding", at)
		}
		trace, _ := s.get(at + "trace/0")
		if n, ours := eventsIn(t, trace); n < 200 || len(ours) == 0 {
			t.Errorf("%d events, ours: %q", n, ours)
		}
	}
	history, _ := s.get(s.base + "/history")
	if !strings.Contains(history, "2 runs: monday.json to tuesday") {
		t.Error("the history is not of both")
	}
	s.end()
}

// Files of one run are one entry, and nothing outside the folder is any.
func TestCatalogue(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, name := range []string{
		"a/rank0.json", "a/rank1.json", "b/x-rank-0.json", "b/y-rank-0.json", "b/y-rank-1.json", "one.json",
		"c/d/deep.json",
		"w/host_1.1700000000001.pt.trace.json", "w/host_2.1700000000002.pt.trace.json", "a/notes.json",
	} {
		text := `{"traceEvents":[]}`
		if name == "a/notes.json" {
			text = `{"notes":1}`
		}
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	secret := filepath.Join(outside, "secret.json")
	must(t, os.WriteFile(secret, []byte(`{"traceEvents":[]}`), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "report.json"), []byte(`{"schema":"gaprof.report/1"}`), 0o600))
	if err := os.Symlink(secret, filepath.Join(dir, "link.json")); err != nil {
		t.Skip("SKIP: no symbolic links here")
	}
	must(t, os.Symlink(outside, filepath.Join(dir, "linked")))
	c, err := openCatalogue(dir)
	must(t, err)
	defer c.root.Close()
	list, err := c.list()
	must(t, err)
	var got []string
	for _, u := range list {
		got = append(got, fmt.Sprintf("%s %d", u.Name, len(u.Files)))
	}
	slices.Sort(got)
	want := []string{
		"a 2", "b/x-rank-*.json 1", "b/y-rank-*.json 2", "c/d 1", "one.json 1", "report.json 1", "w 2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	for _, path := range []string{
		secret, filepath.Join(dir, "link.json"), filepath.Join(dir, "../x"), "/etc/passwd", "rank0.json",
	} {
		if f, err := c.open(path); err == nil {
			f.Close()
			t.Errorf("%s was opened", path)
		}
	}
	if f, err := c.open(filepath.Join(c.dir, "one.json")); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
}
