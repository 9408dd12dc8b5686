package main

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/render"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// reportFlags are the flags of report.
type reportFlags struct {
	runFlags
	eachRun bool
	history bool // one page of all runs
}

// reportFormats are the forms that show figures.
var reportFormats = []string{"html", "md"}

func newReportCommand(s streams) *cobra.Command {
	f := reportFlags{runFlags: runFlags{outputFlags: outputFlags{names: reportFormats}}}
	cmd := &cobra.Command{
		Use:   "report PATH...|REPORT.json...",
		Short: "one self-contained HTML page with figures",
		Long: `report reads the traces of one run, or a report that analyze --format json wrote,
and writes one HTML page: verdict, the three questions, figures, tables and the
evidence. It needs no network, fits a phone and can be printed. Without -o it writes
report.html, or report.md with its figures as SVG files beside it.

Several reports are runs of one history, oldest first: one page says how their steps
changed and which findings came and went. --history does the same of the traces of
several runs.

A report does not hold the events unless it was made with analyze --drawing: its page
has no timeline then, and says so.`,
		Example: "  gaprof report rank0.json.gz\n  gaprof report 'traces/rank*.json.gz' -o run42.html --force\n" +
			"  gaprof report report.json --format md -o run42.md\n" +
			"  gaprof report monday.json tuesday.json -o history.html",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runReport(s, args, f) },
	}
	flags := cmd.Flags()
	f.runFlags.add(flags)
	flags.BoolVar(&f.eachRun, eachRun, false, eachRunHelp)
	flags.BoolVar(&f.history, "history", false, "one page of all runs that the traces are of, in their order")
	cmd.MarkFlagsMutuallyExclusive(eachRun, "history")
	return cmd
}

func runReport(s streams, paths []string, f reportFlags) error {
	machine, err := f.machineFlags.parse()
	if err != nil {
		return err
	}
	outputs, options, made, err := f.parse()
	if err != nil {
		return err
	}
	defer machine.Apply()()
	s.in = bufio.NewReader(s.in) // peeked at: a report and a trace begin differently
	runs, err := f.read(s, paths, machine, options, outputs)
	if err != nil {
		return err
	}
	shown := render.Options{Made: made, Choices: flagNames}
	if f.history || len(runs) > 1 && !f.eachRun {
		return f.writeHistory(s, outputs, runs, shown)
	}
	for i, r := range runs {
		for _, out := range outputs.numbered(i + 1) {
			if err := writeReport(s, out, r.Report, shown); err != nil {
				return err
			}
			f.wrote(s, out)
		}
	}
	return nil
}

func (f *reportFlags) wrote(s streams, out output) {
	if !f.quiet && !isStream(out.file) {
		s.say("wrote %s", out.file)
	}
}

// writeHistory writes one page of several runs.
func (f *reportFlags) writeHistory(s streams, list outputs, runs []render.Run, o render.Options) error {
	for _, out := range list {
		if out.format != "html" {
			return usage("write it as html", "%s: several runs make a page of HTML alone", out.format)
		}
		err := deliver(s, out.file, out.force, func(w io.Writer) error { return render.HistoryHTML(w, runs, o) })
		if err != nil {
			return err
		}
		f.wrote(s, out)
	}
	return nil
}

// parse checks every flag before any input is read.
func (f *reportFlags) parse() (outputs, analyze.Options, time.Time, error) {
	var o analyze.Options
	if err := f.inputFlags.check(); err != nil {
		return nil, o, time.Time{}, err
	}
	made, err := madeAt()
	if err != nil {
		return nil, o, made, err
	}
	f.fillIn()
	outputs, err := f.outputFlags.parse()
	if err != nil {
		return nil, o, made, err
	}
	for _, out := range outputs {
		if err := refusedFigures(out); err != nil {
			return nil, o, made, err
		}
	}
	if o, err = f.selectFlags.parse(rules.All()); err != nil {
		return nil, o, made, err
	}
	o.Version, o.Drawing, o.Predict = version, true, true
	return outputs, o, made, f.readTokens(&o)
}

// fillIn chooses the format by the extension of the file, and a file by the format.
func (f *reportFlags) fillIn() {
	free := -1
	for i, spec := range f.formats {
		if !strings.Contains(spec, "=") {
			free = i
		}
	}
	if free < 0 && (len(f.formats) == 0 || f.file != "") {
		if f.file != "" && !isStream(f.file) {
			return // parse goes by the extension
		}
		f.formats = append(f.formats, "html")
		free = len(f.formats) - 1
	}
	if free >= 0 && f.file == "" {
		f.file = "report." + f.formats[free]
	}
}

// refusedFigures returns why the figures of Markdown could not be written, or nil.
func refusedFigures(out output) error {
	if out.format != "md" {
		return nil
	}
	if isStream(out.file) {
		return usage("pass -o FILE, or use analyze --format md",
			"Markdown with figures needs a file to put the figures beside")
	}
	for _, name := range render.FigureFiles(out.file) {
		if err := refused(name, out.force); err != nil {
			return err
		}
	}
	return nil
}

// read makes a report of each run of some traces, or reads those made earlier.
func (f *reportFlags) read(
	s streams, paths []string, m ingest.Limits, o analyze.Options, list outputs,
) ([]render.Run, error) {
	files, err := tracefile.Expand(paths)
	if err != nil {
		return nil, err
	}
	made, err := f.made(s, files, newReportReader(m))
	if err != nil || len(made) > 0 {
		return made, err
	}
	accept := oneRun
	switch {
	case f.eachRun:
		accept = list.apart
	case f.history:
		accept = func([]analyze.TracedRun) error { return nil }
	}
	runs, err := runsOf(s, paths, f.inputFlags, m, o, accept)
	if err != nil {
		return nil, err
	}
	reports, err := reportsOf(runs, f.selectFlags)
	for _, r := range reports {
		made = append(made, render.Run{Report: r})
	}
	return made, err
}

// made reads reports that were made earlier; none where the files are traces.
func (f *reportFlags) made(s streams, files []string, reader *reportReader) ([]render.Run, error) {
	var runs []render.Run
	for i, file := range files {
		r, err := reader.open(s, file)
		switch {
		case err != nil:
			return nil, err
		case r == nil && len(runs) > 0, r != nil && len(runs) < i:
			return nil, usage("pass reports alone, or the traces of one run",
				"%s and %s: a page is made of reports or of traces, not of both", files[max(0, i-1)], file)
		case r == nil:
		case f.needTraces():
			return nil, usage("pass the traces that it was made of",
				"--steps, --ranks and --communication cannot be applied to the report %s", file)
		default:
			runs = append(runs, render.Run{Name: nameOf(file), Report: r})
		}
	}
	return runs, nil
}

// nameOf is what a history calls a report: its file without folders and extension, or its
// folder, where that alone says of which run it is.
func nameOf(file string) string {
	name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	if folder := filepath.Base(filepath.Dir(file)); name == "report" && folder != "." && folder != "/" {
		return folder
	}
	return name
}

// writeReport draws one output and, of Markdown, the files of its figures first, so that
// what a page shows is there.
func writeReport(s streams, out output, r *report.Report, o render.Options) error {
	var b strings.Builder
	switch out.format {
	case "md":
		for _, file := range render.MarkdownFigures(r, out.file) {
			if err := deliverText(s, output{file: file.Name, force: out.force}, file.Text); err != nil {
				return err
			}
		}
		b.WriteString(render.MarkdownPage(r, out.file, o))
	default:
		if err := render.HTML(&b, r, o); err != nil {
			return fmt.Errorf("%s: %w", out.format, err)
		}
	}
	return deliverText(s, out, b.String())
}

func deliverText(s streams, out output, text string) error {
	return deliver(s, out.file, out.force, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
