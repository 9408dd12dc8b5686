package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gaprof/gaprof/internal/escape"
	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/kineto"
)

// trainFlags are the flags of train: the options of the trainer, each a flag of the same
// name, and what to do with the run.
type trainFlags struct {
	options   reference.Options
	given     func(flag string) bool // whether it was
	output    string
	force     bool
	gradients bool
	profile   string
	dataset   int
	device    deviceFlags
	quiet     bool
	progress  string
	keep      checkpointFlags
}

func newTrainCommand(s streams) *cobra.Command {
	f := trainFlags{options: reference.Defaults()}
	cmd := &cobra.Command{
		Use:   "train",
		Short: "the reference trainer: writes traces of runs in which every choice is known",
		Long: `train trains a small model on the cpu, several ranks in one process, and writes
into a folder what a run on real devices would leave: a Kineto trace a rank
(rank0.json.gz, ...), token log, loss log, gradients on request. Every choice about
accumulation, normalization and communication is an option; --plant makes the
fault that a rule looks for. Data is Newton's Opticks, byte by byte.

On simulated GPUs (--device sim:h100x8) it is the same program with the defaults of
a job on GPUs: --model gpt2 --dtype bfloat16 --bucket-bytes 26214400, all GPUs of a
node as ranks, rows of a micro-batch by the model (32 of 1,024 tokens), four
micro-batches a step. What is given takes their place.

Ctrl-C ends the run after the step that is under way; what was done is written and
the exit code is 130. With OTEL_EXPORTER_OTLP_ENDPOINT spans and metrics go to an
OpenTelemetry collector; without, nothing leaves the process.`,
		Example: "  gaprof train -o run && gaprof analyze run\n" +
			"  gaprof train -o slow --reduce-scatter step && gaprof train -o fast --reduce-scatter hook && gaprof " +
			"diff slow fast\n" +
			"  gaprof train -o nm --normalization per-rank --token-counts 59,60,14,11/12,268,133,6 " +
			"--sequence-length 128 --gradients",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.given = cmd.Flags().Changed
			return runTrain(cmd.Context(), s, f)
		},
	}
	f.add(cmd.Flags())
	return cmd
}

func (f *trainFlags) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVarP(&f.output, "output", "o", "gaprof-run", "folder to write to; created if needed")
	flags.BoolVar(&f.force, "force", false,
		"write into a folder that is not empty; the run in it is removed")
	flags.StringVar(&f.profile, "profile-steps", "0:50",
		"steps to record: 3:8 (without 8), last:5 or none; logs and traces use the same step numbers only if "+
			"recording starts at 0")
	flags.BoolVar(&f.gradients, "gradients", false,
		"write the gradients of every step as safetensors; shards are gathered first, which adds collectives")
	flags.IntVar(&f.dataset, "dataset-size", 0, "size of the data set in micro-batches, over all ranks; 0: endless")
	flags.StringVar(&f.device.name, "device", "cpu", "what to train on: "+deviceUsage())
	flags.StringArrayVar(&f.device.set, "set", nil,
		"figures of a simulated machine: hbm=2.0TB/s,launch=6us; may be given several times")
	flags.IntVarP(&f.device.cores, "jobs", "j", 0, "cores to use (default: all cores)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress and no notes on stderr")
	flags.StringVar(&f.progress, "progress", "auto", "progress on stderr: auto (on a terminal), plain or off")
	f.keep.add(flags)
	for _, field := range f.options.Fields() {
		usage := flagText(field.Usage)
		if field.Values != nil && field.Name != "plant" {
			usage += ": " + strings.Join(field.Values, ", ")
		}
		switch p := field.Value.(type) {
		case *string:
			flags.StringVar(p, field.Name, *p, usage)
		case *int:
			flags.IntVar(p, field.Name, *p, usage)
		case *float64:
			flags.Float64Var(p, field.Name, *p, usage)
		case *bool:
			flags.BoolVar(p, field.Name, *p, usage)
		}
	}
}

// check rejects invalid flags before anything is written.
func (f *trainFlags) check() (kineto.Window, error) {
	if err := (&inputFlags{progress: f.progress}).check(); err != nil {
		return kineto.Window{}, err
	}
	switch {
	case f.device.cores < 0:
		return kineto.Window{}, usage("leave it out to use all cores", "-j %d is not a number of cores", f.device.cores)
	case f.gradients && f.options.Target.Shapes:
		return kineto.Window{}, usage("leave it out, or take --device cpu",
			"--gradients: a simulation has no gradients")
	case f.dataset < 0:
		return kineto.Window{}, usage("0 is data without an end", "--dataset-size %d is not a number of micro-batches",
			f.dataset)
	}
	if err := trainError(f.options.Validate()); err != nil {
		return kineto.Window{}, err
	}
	return f.window()
}

// window parses --profile-steps.
func (f *trainFlags) window() (kineto.Window, error) {
	if f.profile == "none" {
		return noSteps, nil
	}
	bad := usage("write 3:8, last:5 or none", "--profile-steps %q is not a range of steps", f.profile)
	pick, err := parseSteps(f.profile)
	if err != nil || pick == nil {
		return kineto.Window{}, bad
	}
	from, to := pick(f.options.MaxSteps)
	if last, ok := strings.CutPrefix(f.profile, "last:"); ok {
		var n int
		if _, err := fmt.Sscan(last, &n); err != nil {
			return kineto.Window{}, bad
		}
		return kineto.Window{To: math.MaxInt, Last: n}, nil
	}
	if from >= to {
		return kineto.Window{}, usage("raise --max-steps", "--profile-steps %s records nothing of %s",
			f.profile, units.Count(f.options.MaxSteps, "step"))
	}
	return kineto.Window{From: from, To: to}, nil
}

// trainError turns an invalid option into a usage error with a hint.
func trainError(err error) error {
	var option *reference.OptionError
	if errors.As(err, &option) {
		return usage(flagText(option.WayOut), "--%s: %s", option.Option, flagText(option.Reason))
	}
	return err
}

// flagText rewrites the options in a text of the trainer as flags.
func flagText(text string) string {
	return reference.RewriteOptions(text, func(name string) string { return "--" + name })
}

func runTrain(ctx context.Context, s streams, f trainFlags) error {
	checkpoint, err := f.resumed()
	if err != nil {
		return err
	}
	f.device.seed = f.options.Seed
	backend, err := f.device.open()
	if err != nil {
		return err
	}
	f.options.FillOn(backend.Traits(), f.given)
	window, err := f.check()
	if err != nil {
		return err
	}
	folder, err := f.folder(checkpoint)
	if err != nil {
		return err
	}
	defer folder.Close()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second Ctrl-C ends the program at once
	job := &trainJob{options: f.options, backend: backend, window: window, dataset: f.dataset}
	f.keepIn(folder, job)
	bar := startTrainProgress(s.err, f)
	session, err := startTelemetry(ctx, f.options)
	if err != nil {
		return errors.Join(err, folder.discard())
	}
	job.span = session.Span
	job.recorded = func(t *trained, rank int) { job.fail(folder.writeMade(t, rank, t.job.ranks[rank].Trace(job.run))) }
	told := tellSteps(session, bar)
	warned := false
	job.stepped = func(r reference.StepResult) {
		told(r)
		job.fail(folder.log(f.options, r))
		if text := badLoss(f.options, r); text != "" && !warned {
			warned = true
			bar.done()
			s.say("%s; later steps train on what it leaves\nhint: lower --lr, or clip with --clip-grad-norm", text)
		}
	}
	job.message = func(text string) {
		bar.done()
		s.say("%s", strings.ToLower(text[:1])+strings.TrimSuffix(text[1:], "."))
	}
	if f.gradients {
		job.gradients = func(rank, step int, tensors []reference.Tensor) {
			job.fail(folder.gradients(rank, step, f.options.WorldSize, asSafetensors(tensors, f.options.DType)))
		}
	}
	run, err := job.train(ctx)
	bar.done()
	if err := session.Close(); err != nil && !f.quiet {
		s.say("telemetry did not arrive: %v", err)
	}
	if err != nil {
		return errors.Join(trainError(err), folder.discard())
	}
	if err := folder.write(run); err != nil {
		return err
	}
	fmt.Fprint(s.out, run.summary(folder))
	if run.result.End == reference.EndCancel {
		return &codeError{code: exitInterrupt,
			err: fmt.Errorf("interrupted after %d of %d steps; they are written to %s", run.result.Steps,
				run.options.MaxSteps, f.output)}
	}
	return nil
}

// before says how many of the steps were done by the run that this one goes on with.
func (t *trained) before() string {
	if t.options.Resume == nil {
		return ""
	}
	return fmt.Sprintf(", of which %d before", t.options.Resume.Steps)
}

// summary is what train prints at the end.
func (t *trained) summary(folder *runFolder) string {
	var b strings.Builder
	r := t.result
	verb, clock := "trained", "s"
	if t.options.Target.Epoch != 0 {
		verb, clock = "simulated", "s of simulated time"
	}
	fmt.Fprintf(&b, "%s %s on %s, %d of %d steps%s, %d tokens in %.1f %s, %.0f tokens/s", verb, t.options.Model,
		units.Count(t.options.WorldSize, "rank"), r.Steps, t.options.MaxSteps, t.before(), r.Tokens,
		r.Duration.Seconds(), clock,
		float64(r.Tokens)/max(r.Duration.Seconds(), 1e-9))
	if n := len(t.steps); n > 0 && !t.options.Target.Shapes {
		fmt.Fprintf(&b, ", loss %.4f -> %.4f", t.steps[0].Loss, t.steps[n-1].Loss)
	}
	fmt.Fprintf(&b, "\nwrote %s\nnext: gaprof analyze %s\n", escape.Control(listed(folder.wrote)),
		escape.Control(folder.dir))
	return b.String()
}

// listed joins names, of many those in the middle left out.
func listed(names []string) string {
	const most = 20
	if n := len(names); n > most {
		return fmt.Sprintf("%s, ... (%d files), %s", strings.Join(names[:3], ", "), n, strings.Join(names[n-3:], ", "))
	}
	return strings.Join(names, ", ")
}
