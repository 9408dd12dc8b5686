package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/analyze/normalization"
	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/kineto"
	"github.com/gaprof/gaprof/trace/sidecar"
)

// demoFlags are the flags of demo.
type demoFlags struct {
	output string
	force  bool
	quiet  bool
}

func newDemoCommand(s streams) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "trains a small before/after pair, analyzes both, shows the difference",
		Long: `demo runs the same loop twice, as it often is and as it can be, and says what the
gap between backward() and optimizer.step() cost, whether the communication was
hidden and whether the gradients were right. Times are those of GPT-2 medium on eight
simulated H100s, gradients those of a small model that is trained on two ranks of
this cpu with the token counts of a published step. It takes seconds and no network.
The runs stay in the folder that it names, for the other commands.`,
		Example: "  gaprof demo\n  gaprof demo -o pair && gaprof report pair/before",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), s, f) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "", "folder to write to (default: a new temporary folder)")
	flags.BoolVar(&f.force, "force", false,
		"write into a folder that is not empty; the runs in it are removed")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no notes on stderr")
	return cmd
}

// Both sides are run twice: on simulated GPUs for the times, and on the cpu for the gradients.
// Each of these is what its two runs share. The token counts are those of torchtune's pull
// request 1917: 563 tokens on two ranks.
const (
	demoGPUs   = "sim:h100x8"
	demoOnGPUs = "model=gpt2-medium dtype=bfloat16 world-size=8 sequence-length=1024 local-batch-size=16 max-steps=8 " +
		"global-batch-size=-1"
	demoOnCPU = "layers=1 width=32 heads=2 sequence-length=64 local-batch-size=5 " +
		"token-counts=59,60,14,11/12,268,133,6 max-steps=6"
)

// demoSides are the two runs, each with the flags in which it differs from the other.
var demoSides = [2]struct{ name, choices string }{
	{"before", "normalization=per-rank scale=pass reduce-scatter=step"},
	{"after", "normalization=global scale=loss reduce-scatter=hook"},
}

// demoSide is one side, run and analysed.
type demoSide struct {
	report    *report.Report // on the simulated GPUs
	leadTime  int64          // of the first reduce-scatter on rank 0, median of steps
	leadKnown bool
	trained   *report.Report   // on the cpu
	gradients []sidecar.Tensor // of its first step, before the optimizer
}

func runDemo(ctx context.Context, s streams, f demoFlags) (err error) {
	dir, err := demoFolder(f)
	if err != nil {
		return err
	}
	if f.output == "" {
		defer func() {
			if err != nil { // a folder that nobody was told of
				err = errors.Join(err, os.RemoveAll(dir))
			}
		}()
	}
	if ctx == nil {
		ctx = context.Background()
	}
	var sides [2]*demoSide
	for i, side := range demoSides {
		if sides[i], err = runSide(ctx, filepath.Join(dir, side.name), side.choices, f.force); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(s.out, demoHeader(dir)); err != nil {
		return err
	}
	answers, err := demoAnswers(sides[0], sides[1])
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s\nThe difference, as gaprof diff has it:\n\n", answers)
	d := compare.Between([]*report.Report{sides[0].report}, []*report.Report{sides[1].report}, version)
	if err := render.DiffText(s.out, d, s.fitted(render.Options{Quiet: f.quiet, Choices: flagNames}, "")); err != nil {
		return err
	}
	before, after := escape.Control(filepath.Join(dir, "before")), escape.Control(filepath.Join(dir, "after"))
	_, err = fmt.Fprintf(s.out,
		"\nNext: gaprof analyze %s\n      gaprof norm %s --against %s\n      gaprof report %s\n",
		before, before+"-cpu", after+"-cpu", before)
	if f.output == "" && err == nil {
		_, err = fmt.Fprintf(s.out, "The runs stay in %s until you remove it.\n", escape.Control(dir))
	}
	return err
}

func demoFolder(f demoFlags) (string, error) {
	if f.output == "" {
		return os.MkdirTemp("", "gaprof-demo-")
	}
	return f.output, os.MkdirAll(f.output, 0o777)
}

// demoOptions returns the options of some words NAME=VALUE.
func demoOptions(words string) (reference.Options, error) {
	o := reference.Defaults()
	for _, word := range strings.Fields(words) {
		name, value, _ := strings.Cut(word, "=")
		if err := o.Set(name, value); err != nil {
			return o, err
		}
	}
	return o, nil
}

// runSide runs a side on the simulated GPUs, into dir, and on the cpu, into dir-cpu.
func runSide(ctx context.Context, dir, choices string, force bool) (*demoSide, error) {
	side := &demoSide{}
	run, err := runInto(ctx, dir, deviceFlags{name: demoGPUs}, demoOnGPUs+" "+choices, force)
	if err != nil {
		return nil, err
	}
	side.leadTime, side.leadKnown = analyze.MedianLead(analyze.ScatterLeads(run.trace(0)))
	side.report = run.report()
	for i := range side.report.Source.Files { // as gaprof diff would name them
		side.report.Source.Files[i] = filepath.Join(dir, side.report.Source.Files[i])
	}
	if run, err = runInto(ctx, dir+"-cpu", deviceFlags{name: "cpu"}, demoOnCPU+" "+choices, force); err != nil {
		return nil, err
	}
	side.trained = run.report()
	return side, side.firstGradients(ctx, dir+"-cpu", run.options)
}

// runInto is one run with its folder.
func runInto(ctx context.Context, dir string, d deviceFlags, words string, force bool) (*trained, error) {
	o, err := demoOptions(words)
	if err != nil {
		return nil, err
	}
	backend, err := d.open()
	if err != nil {
		return nil, err
	}
	folder, err := openFolder(dir, force)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	run, err := (&trainJob{options: o, backend: backend, window: kineto.All}).train(ctx)
	if err != nil {
		return nil, err
	}
	return run, folder.write(run)
}

// firstGradients trains the first step again, for its gradients, because handing those out adds
// collectives.
func (side *demoSide) firstGradients(ctx context.Context, dir string, o reference.Options) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	folder := &runFolder{dir: dir, root: root}
	o.MaxSteps = 1
	first := &trainJob{options: o, window: noSteps}
	first.gradients = func(rank, step int, tensors []reference.Tensor) {
		list := asSafetensors(tensors, o.DType)
		first.fail(folder.gradients(rank, step, o.WorldSize, list))
		if rank == 0 {
			side.gradients = list
		}
	}
	_, err = first.train(ctx)
	return err
}

// demoHeader says what was run.
func demoHeader(dir string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "gaprof %s demo  GPT-2 medium on 8 simulated H100s, a small GPT on 2 ranks of this cpu,\n"+
		"each before and after a change; all runs are in %s\n", version, escape.Control(dir))
	for _, side := range demoSides {
		fmt.Fprintf(&b, "%-6s", side.name)
		for _, word := range strings.Fields(side.choices) {
			fmt.Fprintf(&b, " --%s", strings.Replace(word, "=", " ", 1))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// demoAnswers are the three questions that gaprof is for, with the figures of both runs.
func demoAnswers(before, after *demoSide) (string, error) {
	var c normalization.Comparison
	for i, t := range before.gradients {
		if err := c.Add(t.Name, t.Values, after.gradients[i].Values); err != nil {
			return "", err
		}
	}
	was, is := compare.GapOf(before.report), compare.GapOf(after.report)
	var b strings.Builder
	line := func(what, x, y string) { fmt.Fprintf(&b, "   %-36s %-32s %s\n", what, x, y) }
	ask := func(question string) { fmt.Fprintf(&b, "\n%s\n", question) }
	fmt.Fprintf(&b, "\n   %-36s %-32s %s\n", "", "before", "after")
	ask("1  What does the gap between backward() and optimizer.step() cost? (8 simulated H100s)")
	line("passes that scale gradients", scaling(was.Scaling), scaling(is.Scaling))
	ask("2  Is the reduction of gradients hidden? (8 simulated H100s)")
	line("reduce-scatters are launched from", launchSites(was.Sites), launchSites(is.Sites))
	line("the first starts, by backward's end", before.lead(), after.lead())
	line("of them exposed, per step", exposed(was.Exposed), exposed(is.Exposed))
	ask("3  Are the gradients right? (2 ranks of this cpu)")
	line("token weight relative to 1/N", tokenWeights(before.trained), tokenWeights(after.trained))
	d := c.Deviation()
	line("norm of the gradient, against after", figure(d.NormRatio), "1")
	line("cosine to it", figure(d.Cosine), "1")
	line("change of AdamW's first update", figure(d.AdamW), "0")
	return b.String(), nil
}

// scaling says what passes that scale gradients cost.
func scaling(s compare.Scaling) string {
	if s.Passes == 0 {
		return "none"
	}
	return fmt.Sprintf("%d launches, %s, %s", s.Launches, units.Bytes(s.Bytes), units.Milliseconds(s.Span))
}

func launchSites(sites []compare.Site) string {
	list := make([]string, len(sites))
	for i, site := range sites {
		list[i] = fmt.Sprintf("%s (%d)", site.Name, site.Count)
	}
	return strings.Join(list, ", ")
}

// lead says where the first reduce-scatter starts.
func (d *demoSide) lead() string {
	switch {
	case !d.leadKnown:
		return "unknown"
	case d.leadTime < 0:
		return units.Milliseconds(-d.leadTime) + " after it"
	}
	return units.Milliseconds(d.leadTime) + " before it"
}

func exposed(e compare.Exposed) string {
	if e.Steps == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%s of %s (%.1f %%)", units.Milliseconds(e.Time), units.Milliseconds(e.Step), 100*e.Share)
}

func tokenWeights(r *report.Report) string {
	w := r.Normalization.Ratio
	switch {
	case w == nil:
		return "unknown"
	case w.Min == w.Max:
		return fmt.Sprintf("%.4g", w.Min)
	}
	return fmt.Sprintf("%.4g to %.4g", w.Min, w.Max)
}

// figure writes a ratio as gaprof norm does.
func figure(v *float64) string {
	if v == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.6g", *v)
}
