package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/calibration"
	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/reference/sim"
)

// calibrateFlags are the flags of calibrate.
type calibrateFlags struct {
	inputFlags
	machineFlags
	selectFlags
	outputFlags
	preset  string
	name    string
	machine ingest.Limits
}

func newCalibrateCommand(s streams) *cobra.Command {
	f := calibrateFlags{outputFlags: outputFlags{names: render.Calibrations.Names()}}
	cmd := &cobra.Command{
		Use:   "calibrate PATH...",
		Short: "measure a machine in its traces, for simulations of it",
		Long: `calibrate measures in traces of a real run what train --device sim:... assumes of a
machine: calls of the runtime, operators on the host, the start of kernels, the
share of the peak that matrix products and kernels limited by memory reach, by the
shapes of their operators, and what NCCL's links carry. Pass the traces of all ranks
of one run: of one rank alone, a transfer is the least of its size.

Each figure comes with its samples and with the errors of the model: what the preset
says of the very kernels and collectives that it was fitted to. What the traces do not
show is named, and stays as in the preset that is built on: the one whose device has
the name that the traces have, or --preset.

-o FILE.yaml writes a preset, for train --device sim:FILE.yaml. A run that shows not a
single figure: exit code 4, and nothing is written.`,
		Example: "  gaprof calibrate 'rank*.json.gz' -o mine.yaml\n" +
			"  gaprof train --device sim:mine.yaml -o run\n" +
			"  gaprof calibrate rank0.json.gz --format json",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runCalibrate(s, args, f) },
	}
	flags := cmd.Flags()
	f.inputFlags.add(flags)
	f.machineFlags.add(flags)
	f.outputFlags.add(flags)
	flags.StringVar(&f.ranks, "ranks", "", "only these ranks: 0,4-7")
	flags.StringVar(&f.rankRegex, "rank-regex", "", "regular expression whose first group is the rank in a file name")
	addCommunication(flags, &f.communication)
	flags.StringVar(&f.preset, "preset", "", "device whose figures stay where none is fitted: "+devices)
	flags.StringVar(&f.name, "name", "calibrated", "what the preset is called: letters, digits and -")
	return cmd
}

// devices are those of sim.Devices, which reads the presets: too much for the start of every
// command.
const devices = "a100, b200, h100, h100-nanogpt, h100-normuon, h100-pcie, h200, mi300x"

func runCalibrate(s streams, paths []string, f calibrateFlags) error {
	file := f.file
	f.file = ""
	outputs, options, err := f.parse()
	if err != nil {
		return err
	}
	if err := f.checkFile(file); err != nil {
		return err
	}
	result, err := analyzePaths(s, paths, f.inputFlags, f.machine, options)
	if err != nil {
		return err
	}
	of, err := reportOfRun(result, f.selectFlags)
	if err != nil {
		return err
	}
	machine, err := f.base(result.Measured.Device)
	if err != nil {
		return err
	}
	made, fitted := calibrated(result.Measured, machine)
	made.Version, made.Files, made.Ranks = version, of.Source.Files, of.Source.Ranks
	refused := nothingFitted(made)
	if file != "" && refused == nil {
		text := presetOf(made, f.name, machine.Name, fitted)
		err := deliver(s, file, f.force, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		if err != nil {
			return err
		}
	}
	err = writeAs(s, outputs, render.Calibrations, made, render.Options{Quiet: f.quiet, Choices: flagNames})
	return cmp.Or(err, refused)
}

// parse checks every flag before any input is read.
func (f *calibrateFlags) parse() (outputs, analyze.Options, error) {
	var o analyze.Options
	if err := f.inputFlags.check(); err != nil {
		return nil, o, err
	}
	outputs, err := f.outputFlags.parse()
	if err != nil {
		return nil, o, err
	}
	if f.machine, err = f.machineFlags.parse(); err != nil {
		return nil, o, err
	}
	if o, err = f.selectFlags.parse(nil); err != nil {
		return nil, o, err
	}
	o.Version, o.Measure = version, true
	return outputs, o, nil
}

// checkFile refuses a file of presets that train could not read, and one that is there.
func (f *calibrateFlags) checkFile(file string) error {
	if f.preset != "" {
		if _, err := sim.Lookup(f.preset); err != nil || strings.Contains(f.preset, ".yaml") {
			return usage(orNear(f.preset, sim.Devices(), "devices are "+strings.Join(sim.Devices(), ", ")),
				"--preset: there is no device %q", f.preset)
		}
	}
	switch {
	case !validName(f.name):
		return usage("--name my-machine", "--name: a preset cannot be called %q", f.name)
	case file == "":
		return nil
	case !strings.HasSuffix(file, ".yaml"):
		return usage("-o NAME.yaml", "a file of presets ends in .yaml, unlike %q", file)
	}
	return refused(file, f.force)
}

// validName reports whether train can look up a preset by its name.
func validName(name string) bool {
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return false
	}
	at := strings.LastIndexByte(name, 'x')
	return at < 1 || strings.Trim(name[at+1:], "0123456789") != "" || at == len(name)-1 // x8 are devices of a node
}

// base is the machine that is built on.
func (f *calibrateFlags) base(device string) (*sim.Machine, error) {
	if f.preset != "" {
		return sim.Lookup(f.preset)
	}
	for _, name := range sim.Devices() {
		if m, err := sim.Lookup(name); err == nil && m.Name == device {
			return m, nil
		}
	}
	text := "the traces name no device"
	if device != "" {
		text = fmt.Sprintf("no preset is of the device %q", device)
	}
	return nil, &codeError{exitInput, errors.New(text), "--preset names one to build on: " +
		strings.Join(sim.Devices(), ", ")}
}

// nothingFitted is the error of traces that show nothing.
func nothingFitted(made *report.Calibration) error {
	made.Exit = report.Exit{Code: exitOK, Reason: "ok"}
	for i := range made.Figures {
		if made.Figures[i].Fitted {
			return nil
		}
	}
	made.Exit = report.Exit{Code: exitInconclusive, Reason: "the traces show not a single figure"}
	return &codeError{exitInconclusive, errors.New(made.Exit.Reason),
		"record with torch.profiler.ProfilerActivity.CPU and CUDA, and with record_shapes=True"}
}

// calibrated fits a machine to what was measured. Both halves of gaprof meet here: what traces say, and what
// simulations need.
func calibrated(m *calibration.Measured, machine *sim.Machine) (*report.Calibration, []sim.Fitted) {
	made := &report.Calibration{Schema: report.CalibrationSchema, Device: m.Device, Preset: machine.Preset,
		Figures: []report.CalibrationFigure{}, Collectives: []report.CalibrationLine{}}
	before := *machine
	fitted := machine.Fit(observed(m))
	for i := range fitted {
		made.Figures = append(made.Figures, figureRow(&fitted[i], &before))
	}
	for _, l := range m.Lines {
		made.Collectives = append(made.Collectives, report.CalibrationLine(l))
	}
	return made, fitted
}

// observed is what was measured, as simulations want it.
func observed(m *calibration.Measured) *sim.Observed {
	o := &sim.Observed{Shapes: m.Shapes, Uneven: m.Uneven.Factor, WhyUneven: m.Uneven.Why, Steps: m.Uneven.Steps}
	for _, t := range m.Times {
		one := sim.ObservedTime{Name: t.Name, NS: float64(t.NS), Samples: t.Samples, Why: t.Why}
		if t.NS > 0 {
			one.Middle, one.P90 = float64(t.Middle)/float64(t.NS), float64(t.P90)/float64(t.NS)
		}
		o.Times = append(o.Times, one)
	}
	for _, p := range m.Products {
		o.Products = append(o.Products, sim.ObservedProduct{Type: p.Dtype, Rows: int(p.Rows), Columns: int(p.Columns),
			Inner: int(p.Inner), NS: float64(p.NS), Samples: p.Samples})
	}
	for _, v := range m.Moves {
		o.Moves = append(o.Moves, sim.ObservedMove{Op: v.Op, Bytes: v.Bytes, NS: float64(v.NS), Samples: v.Samples})
	}
	for _, t := range m.Transfers {
		o.Transfers = append(o.Transfers, sim.ObservedTransfer{Kind: t.Kind, Ranks: int(t.Ranks), Bytes: t.Bytes,
			NS: float64(t.NS), Samples: t.Samples})
	}
	return o
}

// figureRow is a figure of the report. before is the machine that was built on.
func figureRow(f *sim.Fitted, before *sim.Machine) report.CalibrationFigure {
	value, unit, text := before.Figure(f.Name)
	row := report.CalibrationFigure{Name: f.Name, Fitted: f.Why == "", Value: value, Unit: unit, Text: text,
		Before: text, Samples: f.Samples, Sizes: f.Sizes, Why: f.Why, Checks: []report.CalibrationCheck{}}
	if f.Why != "" {
		return row
	}
	row.Value, row.Text, row.Median, row.P90 = f.Value, f.Text, f.Middle, f.P90
	for _, c := range f.Checks {
		row.Checks = append(row.Checks, report.CalibrationCheck{What: c.What, Samples: c.Samples,
			Observed: int64(math.Round(c.Seen)), Model: int64(math.Round(c.Model)), Error: c.Model/c.Seen - 1})
	}
	return row
}

// presetOf is the file of presets. device is what the device is called where traces do not say it.
func presetOf(made *report.Calibration, name, device string, fitted []sim.Fitted) string {
	source := strings.ToValidUTF8(filepath.Base(made.Files[0]), "?")
	if n := len(made.Files) - 1; n > 0 {
		source += fmt.Sprintf(" and %d more", n)
	}
	return "# Measured by gaprof calibrate. Each figure is [value, where it is from].\n" +
		sim.Preset(name, cmp.Or(made.Device, device), made.Preset, source, fitted)
}
