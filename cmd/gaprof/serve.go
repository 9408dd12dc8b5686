package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/web"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	machineFlags
	pageFlags
	cache string // bytes, with their unit
}

func newServeCommand(s streams) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve DIR",
		Short: "the runs of a folder, with their history, in the browser",
		Long: `serve shows the runs of a folder on 127.0.0.1: an index, the page of each run, its
trace in the Perfetto UI with findings as tracks of their own, a flame graph, and a
history of the runs that were analyzed. It reads only; runs that are written later appear
when the index is loaded again. Reports that analyze --format json wrote are runs too.

The traces of the ranks of a run are told by their names (rank0..., or the names that
torch.profiler gives) and by what is in them. A run is analyzed when it is opened, one at
a time, each in a process of its own with --mem-limit; what is kept of all of them takes
--cache at most. Links that lead out of the folder are not followed.`,
		Example: "  gaprof serve runs/\n  gaprof serve runs/ --port 8080 --no-browser --mem-limit 8GB",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return runServe(cmd.Context(), s, args[0], f) },
	}
	flags := cmd.Flags()
	f.machineFlags.add(flags)
	f.pageFlags.add(flags, 0)
	flags.StringVar(&f.cache, "cache", "256MB", "memory for analyses that nobody looks at")
	return cmd
}

func runServe(ctx context.Context, s streams, dir string, f serveFlags) error {
	if err := f.pageFlags.check(); err != nil {
		return err
	}
	if _, err := f.machineFlags.parse(); err != nil {
		return err
	}
	cache, ok := parseBytes(f.cache)
	if !ok {
		return usage("write 256MB", "--cache %q is not a size", f.cache)
	}
	c, err := openCatalogue(dir)
	if err != nil {
		return err
	}
	defer c.root.Close()
	if _, err := c.list(); err != nil {
		return err
	}
	of := newChild(f.memLimit)
	return f.serve(ctx, s, dir, web.Options{
		Title: filepath.Base(c.dir), List: c.list, Open: c.open, Convert: of.convert, Memory: cache,
		Page: render.Options{Choices: flagNames},
		Analyze: func(ctx context.Context, u web.Unit, say func(string)) ([]*report.Report, error) {
			return of.reports(ctx, u.Files, say)
		},
	})
}

// mostReports is how long the reports of one analysis may be, in bytes.
const mostReports = 512 << 20

// reports are those of each run that some traces, or one report, are of.
func (c child) reports(ctx context.Context, files []string, say func(string)) ([]*report.Report, error) {
	if made, err := savedReport(files); made != nil || err != nil {
		return made, err
	}
	args := c.withLimit("analyze", "--each-run", "--drawing", "--format", "json", "--progress", "plain")
	var out bytes.Buffer
	if err := c.run(ctx, &capped{&out, mostReports}, say, append(append(args, "--"), files...)...); err != nil {
		return nil, err
	}
	var list []*report.Report
	for d := json.NewDecoder(&out); ; {
		var text json.RawMessage
		if err := d.Decode(&text); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		r, err := report.Read(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
}

// savedReport reads a file that is a report and no trace; nil otherwise.
func savedReport(files []string) ([]*report.Report, error) {
	if len(files) != 1 || !isReport(files[0]) {
		return nil, nil
	}
	f, err := os.Open(files[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := report.Read(f)
	if err != nil {
		return nil, err
	}
	return []*report.Report{r}, nil
}

// capped refuses what goes beyond a number of bytes.
type capped struct {
	w    io.Writer
	left int
}

func (b *capped) Write(p []byte) (int, error) {
	if len(p) > b.left {
		return 0, fmt.Errorf("the output goes on and on")
	}
	b.left -= len(p)
	return b.w.Write(p)
}
