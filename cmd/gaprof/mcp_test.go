package main

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The program serves the official client over its stdin and stdout.
func TestMCP(t *testing.T) {
	program, err := exec.LookPath("gaprof") // this test, which main_test.go makes the program
	must(t, err)
	cmd := exec.Command(program, "mcp", "--root", "../../traces", "--mem-limit", "2GB")
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	c, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	must(t, err)
	for _, test := range []struct {
		tool string
		args map[string]any
		want string // in the answer, or of an error with a ! before it
	}{
		{"analyze", map[string]any{"path": "reduce-scatter-in-step.json"}, `"rule":"OV004"`},
		{"findings", map[string]any{"path": "reduce-scatter-in-step.json", "rule": "OV"}, `"total":2`},
		{"steps", map[string]any{"path": "reduce-scatter-in-step.json", "steps": "last:1"}, `"total":1`},
		{
			"compare", map[string]any{"base": "reduce-scatter-in-step.json", "new": "reduce-scatter-in-hook.json"},
			"FIXED: OV004",
		},
		{"whatif", map[string]any{"path": "reduce-scatter-in-step.json"}, `"edit":"hoist-reduce-scatter"`},
		{"whatif", map[string]any{"path": "reduce-scatter-in-step.json", "edits": []string{"nonsense"}}, "!nonsense"},
		{"explain", map[string]any{"rule": "OV004"}, "OV004"},
		{"explain", map[string]any{"rule": "ZZ999"}, "!ZZ999"},
		{"analyze", map[string]any{"path": "../README.md"}, "!outside the root"},
		{"analyze", map[string]any{"path": "demo-before"}, `"verdict"`},
	} {
		r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: test.tool, Arguments: test.args})
		must(t, err)
		text := r.Content[0].(*mcp.TextContent).Text
		want, isError := strings.CutPrefix(test.want, "!")
		if r.IsError != isError || !strings.Contains(text, want) {
			t.Errorf("%s %v: %.300s", test.tool, test.args, text)
		}
		if structured, _ := json.Marshal(r.StructuredContent); !isError && len(structured) < 100 {
			t.Errorf("%s: structured %s", test.tool, structured)
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
