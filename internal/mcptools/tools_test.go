package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gaprof/gaprof/analyze/render/agent"
	"github.com/gaprof/gaprof/analyze/report"
)

// program stands for gaprof: it answers, and notes how it was run.
type program struct {
	mu   sync.Mutex
	runs [][]string
	wait chan struct{} // not nil: until it is closed, or ctx is done
	fail error
}

func (p *program) run(ctx context.Context, out io.Writer, args ...string) error {
	p.mu.Lock()
	p.runs = append(p.runs, args)
	p.mu.Unlock()
	if p.wait != nil {
		select {
		case <-p.wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	switch {
	case p.fail != nil:
		return p.fail
	case args[0] == "explain":
		_, err := io.WriteString(out, strings.Repeat("é", 10_000))
		return err
	case slices.Contains(args, "AGENT"):
		text, err := agent.OfReport(sample(), "slow", agent.Inputs{}).Within(0)
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
	return json.NewEncoder(out).Encode(sample())
}

// sample has 30 findings and 60 steps.
func sample() *report.Report {
	r := &report.Report{Schema: report.Schema, Version: "0.1"}
	for i := range 30 {
		f := report.Finding{Rule: fmt.Sprintf("XX%03d", i), Severity: report.Warn, Message: strings.Repeat("m", 300),
			Fix: strings.Repeat("f", 300), Evidence: []report.Evidence{{Name: "k", Start: 5}}}
		if i%2 == 1 {
			f.Severity = report.Note
		}
		r.Findings = append(r.Findings, f)
	}
	for i := range 60 {
		ns := int64(i)
		r.Steps = append(r.Steps, report.Step{Index: i, Kind: "A", Start: &ns, Duration: &ns,
			Ledger: &report.Ledger{Compute: ns}, Optimizers: []report.Optimizer{{Name: strings.Repeat("o", 5000)}}})
	}
	r.Skipped = []report.Skip{{Rule: "NM001", Reason: "no tokens"}}
	return r
}

// newFolder is a folder with traces, and links that lead out of it.
func newFolder(t *testing.T) string {
	t.Helper()
	dir, outside := t.TempDir(), t.TempDir()
	for _, name := range []string{"a.json", "run/rank0.json", "run/rank1.json", "-q.json", "linked/x.json"} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700),
			os.WriteFile(file, []byte(`{"traceEvents":[]}`), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(outside, "secret.json")
	if err := os.WriteFile(secret, []byte(`{"traceEvents":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"link.json": secret, "out": outside, "linked/secret.json": secret, "inside.json": filepath.Join(dir, "a.json"),
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("SKIP: no symbolic links here")
		}
	}
	return dir
}

func connect(t *testing.T, p *program, timeout time.Duration) *mcp.ClientSession {
	t.Helper()
	m, err := New(Options{Version: "0.1", Root: newFolder(t), Timeout: timeout, Run: p.run,
		Flag: func(choice string) []string { return []string{strings.ToUpper(choice)} }})
	if err != nil {
		t.Fatal(err)
	}
	at, there := mcp.NewInMemoryTransports()
	if _, err := m.Connect(t.Context(), at, nil); err != nil {
		t.Fatal(err)
	}
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// call calls a tool; failed is the text of its error.
func call(t *testing.T, c *mcp.ClientSession, tool string, args map[string]any) (out map[string]any, failed string) {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	if r.IsError {
		return nil, text
	}
	if len(text) > 32<<10 {
		t.Errorf("%s: %d bytes", tool, len(text))
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out, ""
}

type arguments = map[string]any

// Each tool says what it takes and gives, that it only reads, and in which order to call.
func TestToolList(t *testing.T) {
	c := connect(t, new(program), time.Minute)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.InputSchema == nil || tool.OutputSchema == nil || !tool.Annotations.ReadOnlyHint ||
			tool.Description == "" {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
		if text, _ := json.Marshal(tool); len(text) > 16<<10 {
			t.Errorf("%s: its description has %d bytes", tool.Name, len(text))
		}
	}
	if got := strings.Join(names, " "); got != "analyze compare explain findings steps whatif" {
		t.Errorf("tools: %s", got)
	}
}

// Arguments become flags and files of the root, never words that a command takes for a flag.
func TestCommands(t *testing.T) {
	for _, test := range []struct {
		tool string
		args arguments
		want string
	}{
		{"analyze", arguments{"path": "a.json"}, "analyze AGENT -- ./a.json"},
		{"analyze", arguments{"path": "run", "steps": "last:5", "ranks": "0-3"},
			"analyze AGENT STEPS last:5 RANKS 0-3 -- ./run/rank0.json ./run/rank1.json"},
		{"analyze", arguments{"path": "run/*0.json"}, "analyze AGENT -- ./run/rank0.json"},
		{"analyze", arguments{"path": "-q.json"}, "analyze AGENT -- ./-q.json"},
		{"analyze", arguments{"path": "inside.json"}, "analyze AGENT -- ./a.json"},
		{"whatif", arguments{"path": "a.json"}, "whatif AGENT -- ./a.json"},
		{"whatif", arguments{"path": "a.json", "edits": []string{"x", "y"}}, "whatif AGENT EDIT x,y -- ./a.json"},
		{"compare", arguments{"base": "a.json", "new": "run"},
			"diff AGENT BASE ./a.json NEW ./run/rank0.json NEW ./run/rank1.json"},
		{"explain", arguments{}, "explain"},
		{"explain", arguments{"rule": "--schema"}, "explain -- --schema"},
		{"findings", arguments{"path": "a.json"}, "analyze JSON -- ./a.json"},
	} {
		p := new(program)
		if _, failed := call(t, connect(t, p, time.Minute), test.tool, test.args); failed != "" {
			t.Errorf("%s %v: %s", test.tool, test.args, failed)
			continue
		}
		if got := strings.Join(p.runs[0], " "); got != test.want {
			t.Errorf("%s %v: %s, want %s", test.tool, test.args, got, test.want)
		}
	}
}

// Nothing outside the root is read, whatever leads there, and nothing is run for it.
func TestOutside(t *testing.T) {
	p := new(program)
	c := connect(t, p, time.Minute)
	for _, path := range []string{
		"", "-", "@a.json", "/etc/passwd", "../x", "..", "run/../../x", "link.json", "out", "out/secret.json",
		"out/*.json", "linked", "l*.json", "../*/secret.json", "a.json\x00", "gone.json", "a.json/..//../x",
	} {
		for tool, args := range map[string]arguments{
			"analyze": {"path": path}, "findings": {"path": path}, "steps": {"path": path}, "whatif": {"path": path},
			"compare": {"base": "a.json", "new": path},
		} {
			out, failed := call(t, c, tool, args)
			if out != nil || failed == "" || strings.Contains(failed, "root:") {
				t.Errorf("%s %q: %v %s", tool, path, out, failed)
			}
		}
	}
	if len(p.runs) > 0 {
		t.Errorf("it ran %q", p.runs)
	}
}

// Findings and steps come some at a time, filtered, and the run is analyzed once.
func TestPages(t *testing.T) {
	p := new(program)
	c := connect(t, p, time.Minute)
	seen := 0
	for offset, pages := any(0), 0; offset != nil; pages++ {
		args := arguments{"path": "a.json", "offset": offset, "severity": "warn", "limit": 20}
		out, failed := call(t, c, "findings", args)
		if failed != "" || pages > 20 || out["total"] != 15.0 {
			t.Fatal(failed, out)
		}
		seen += len(out["findings"].([]any))
		offset = out["next_offset"]
	}
	if seen != 15 {
		t.Errorf("%d findings seen of 15", seen)
	}
	out, _ := call(t, c, "findings", arguments{"path": "a.json", "rule": "xx00"})
	if out["total"] != 10.0 || len(out["findings"].([]any)) != 5 || out["next_offset"] != 5.0 {
		t.Errorf("of a family: %v", out)
	}
	out, _ = call(t, c, "steps", arguments{"path": "a.json", "offset": 55, "limit": 1000})
	if out["total"] != 60.0 || len(out["steps"].([]any)) != 5 || out["next_offset"] != nil {
		t.Errorf("steps: %v", out)
	}
	for _, odd := range []arguments{{"offset": -5, "limit": -1}, {"offset": 1 << 30}} {
		odd["path"] = "a.json"
		if _, failed := call(t, c, "steps", odd); failed != "" {
			t.Errorf("%v: %s", odd, failed)
		}
	}
	if len(p.runs) != 1 {
		t.Errorf("it was analyzed %d times", len(p.runs))
	}
	_, failed := call(t, c, "findings", arguments{"path": "a.json", "severity": "bad"})
	if !strings.Contains(failed, "severity") {
		t.Errorf("a severity that is none: %s", failed)
	}
	page, _ := call(t, c, "explain", arguments{"rule": "OV004"})
	if text := page["text"].(string); page["cut"] != true || len(text) > mostText || strings.Trim(text, "é") != "" {
		t.Errorf("a page of %d bytes", len(text))
	}
}

// Answers name calls that go on.
func TestNextCalls(t *testing.T) {
	out, _ := call(t, connect(t, new(program), time.Minute), "analyze", arguments{"path": "a.json"})
	text, _ := json.Marshal(out["next_calls"])
	for _, want := range []string{`{"arguments":{"rule":"XX000"},"tool":"explain"}`, `"findings"`, `"whatif"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

// Faults are errors of the tool, in words that are safe to print, and arguments of another type are refused.
func TestErrors(t *testing.T) {
	p := &program{fail: errors.New("no trace \x1b[2J" + strings.Repeat("x", 1<<20))}
	c := connect(t, p, time.Minute)
	_, failed := call(t, c, "analyze", arguments{"path": "a.json"})
	if !strings.Contains(failed, "no trace") || strings.Contains(failed, "\x1b") || len(failed) > 2*mostError {
		t.Errorf("%d bytes: %.100q", len(failed), failed)
	}
	for _, args := range []arguments{{}, {"path": 5}, {"path": "a.json", "more": 1}} {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "analyze", Arguments: args})
		if err == nil && !r.IsError {
			t.Errorf("%v is accepted", args)
		}
	}
}

// A call ends when its client gives up, and when it takes too long; the server goes on.
func TestEnds(t *testing.T) {
	p := &program{wait: make(chan struct{})}
	c := connect(t, p, time.Nanosecond)
	_, failed := call(t, c, "analyze", arguments{"path": "a.json"})
	if !strings.Contains(failed, "not done within 1ns") {
		t.Errorf("timeout: %s", failed)
	}
	p = &program{wait: make(chan struct{})}
	c = connect(t, p, time.Hour)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "analyze", Arguments: arguments{"path": "a.json"}})
		ended <- err
	}()
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	close(p.wait)
	if _, failed := call(t, c, "analyze", arguments{"path": "a.json"}); failed != "" {
		t.Errorf("after it: %s", failed)
	}
}

// Serve ends well when its client is gone.
func TestServe(t *testing.T) {
	var out bytes.Buffer
	if err := Serve(t.Context(), Options{Root: t.TempDir()}, strings.NewReader(""), &out); err != nil || out.Len() > 0 {
		t.Errorf("%v %q", err, &out)
	}
	if err := Serve(t.Context(), Options{Root: "/gone"}, strings.NewReader(""), &out); err == nil {
		t.Error("a root that is not there")
	}
}
