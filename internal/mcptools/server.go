package mcptools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gaprof/gaprof/analyze/render/agent"
	"github.com/gaprof/gaprof/internal/escape"
)

// Options are what the tools work with.
type Options struct {
	Version string
	Root    string        // the folder outside of which nothing is read
	Timeout time.Duration // of one call

	// Run runs a command of gaprof in Root. Its error says what the command said.
	Run func(ctx context.Context, out io.Writer, args ...string) error

	// Flag is how a choice of the library is written on the command line: steps, ranks, edit, agent, json.
	Flag func(choice string) []string
}

// server is the tools and what they share.
type server struct {
	Options
	root string // without links
	busy chan struct{}
	last last
}

// atOnce is how many analyses run at a time.
const atOnce = 2

const instructions = "gaprof reads traces of PyTorch training (Kineto, Chrome JSON) and says what is lost between " +
	"backward and optimizer.step, why, what it costs and what to change. Begin with analyze. Times are ns per " +
	"optimizer step. A rule that is not judged says what to record; it does not mean that all is well."

// New makes the server.
func New(o Options) (*mcp.Server, error) {
	root, err := realFolder(o.Root)
	if err != nil {
		return nil, err
	}
	s := &server{Options: o, root: root, busy: make(chan struct{}, atOnce)}
	m := mcp.NewServer(&mcp.Implementation{Name: "gaprof", Title: "gaprof", Version: o.Version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}})
	add(s, m, "analyze", "Verdict, findings with cost and change, and what could not be judged, of the traces "+
		"of one run. At most 4 KB.", s.analyze)
	add(s, m, "findings", "Findings of a run with their evidence, filtered, some at a time.", s.findings)
	add(s, m, "steps", "The optimizer steps of a run: how long each takes and where its time goes, some at a time.",
		s.steps)
	add(s, m, "compare", "What changed between two runs: structure first, then the time of steps with its "+
		"statistics, then findings.", s.compare)
	add(s, m, "whatif", "What changes would gain, by a replay of the run: each that applies, or those that are "+
		"asked for together.", s.whatif)
	add(s, m, "explain", "What a rule means, its thresholds, code before and after, and when to ignore it; without a "+
		"rule, the list of rules.", s.explain)
	return m, nil
}

// add adds a tool that only reads.
func add[In, Out any](s *server, m *mcp.Server, name, what string, call func(context.Context, In) (Out, error)) {
	closed := false
	tool := &mcp.Tool{Name: name, Description: what, Annotations: &mcp.ToolAnnotations{
		ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed, DestructiveHint: &closed,
	}}
	mcp.AddTool(m, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		ctx, stop := context.WithTimeoutCause(ctx, s.Timeout, errors.New("timeout"))
		defer stop()
		out, err := call(ctx, in)
		return nil, out, s.said(ctx, err)
	})
}

// mostError is how long the text of an error is, in bytes.
const mostError = 2000

// said is an error as an agent reads it.
func (s *server) said(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("not done within %s: ask for fewer files, or raise the timeout of the server", s.Timeout)
	}
	text := escape.Control(err.Error())
	if len(text) > mostError {
		text = text[:mostError] + "…"
	}
	return errors.New(text)
}

// run runs a command once there is room for it.
func (s *server) run(ctx context.Context, out io.Writer, args ...string) error {
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.Run(ctx, out, args...)
}

// flags are choices with values as flags, without those that have no value.
func (s *server) flags(pairs ...string) []string {
	var list []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			list = append(append(list, s.Flag(pairs[i])...), pairs[i+1])
		}
	}
	return list
}

// Call is a call of a tool that goes on from an answer.
type Call struct {
	Tool      string            `json:"tool"`
	Arguments map[string]string `json:"arguments"`
}

// Answer is the short answer of a command, with calls in place of commands.
type Answer struct {
	agent.Answer
	Calls []Call `json:"next_calls" jsonschema:"calls that go on from here"`
}
