package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/internal/mcptools"
)

// mcpFlags are the flags of mcp.
type mcpFlags struct {
	machineFlags
	root    string
	timeout time.Duration
}

func newMCPCommand(s streams) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "tools for agents, by the Model Context Protocol on stdin and stdout",
		Long: `mcp serves the tools analyze, findings, steps, compare, whatif and explain to one client
of the Model Context Protocol, a message a line on stdin and stdout, until stdin ends.
Each tool only reads, and only below --root, links resolved. Answers have some
kilobytes, with evidence and the calls that go on from there. Each call runs in a
process of its own, which --timeout and the client's cancellation end, within
--mem-limit.`,
		Example: "  claude mcp add gaprof -- gaprof mcp --root ~/traces\n  gaprof mcp --timeout 10m --mem-limit 8GB",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runMCP(cmd.Context(), s, f) },
	}
	flags := cmd.Flags()
	f.machineFlags.add(flags)
	flags.StringVar(&f.root, "root", ".", "folder outside of which nothing is read")
	flags.DurationVar(&f.timeout, "timeout", 5*time.Minute, "most time for one call")
	return cmd
}

// toolFlags are how the tools write their choices.
var toolFlags = map[string][]string{
	"agent": {"--format", "agent"}, "json": {"--format", "json"}, "steps": {"--steps"}, "ranks": {"--ranks"},
	"edit": {"--edit"}, "base": {"--base"}, "new": {"--new"},
}

func runMCP(ctx context.Context, s streams, f mcpFlags) error {
	if f.timeout <= 0 {
		return usage("write 5m", "--timeout %s is no time", f.timeout)
	}
	if _, err := f.machineFlags.parse(); err != nil {
		return err
	}
	if info, err := os.Stat(f.root); err != nil {
		return err
	} else if !info.IsDir() {
		return usage("name a folder", "--root %s is no folder", f.root)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	c := newChild(f.memLimit)
	c.dir = f.root
	return mcptools.Serve(ctx, mcptools.Options{
		Version: version, Root: f.root, Timeout: f.timeout,
		Flag: func(choice string) []string { return toolFlags[choice] },
		Run: func(ctx context.Context, out io.Writer, args ...string) error {
			if args[0] != "explain" {
				args = append([]string{args[0]}, append(c.withLimit("--quiet"), args[1:]...)...)
			}
			return c.run(ctx, out, nil, args...)
		},
	}, s.in, s.out)
}
