package main

import (
	"bytes"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gaprof/gaprof/analyze/render"
)

// look is how text is shown, the same for all commands of a run.
type look struct {
	color string // the value of --color
}

const colorHelp = "colors: auto (on a terminal, unless NO_COLOR is set), always or never"

// check rejects other values of --color.
func (l *look) check() error {
	if l.color != "auto" && l.color != "always" && l.color != "never" {
		return usage("", "--color is auto, always or never, not %q", l.color)
	}
	return nil
}

// fitted adds to options what is known of the place that an output goes to: nothing of a file,
// so that files are alike wherever they are made.
func (s streams) fitted(o render.Options, file string) render.Options {
	w := s.out
	switch {
	case file == "/dev/stderr":
		w = s.err
	case !isStream(file):
		return o
	}
	o.Width, o.Height = sizeOf(w)
	o.Color = s.colors(w)
	return o
}

// colors reports whether text that is written to w has colors.
func (s streams) colors(w io.Writer) bool {
	switch {
	case s.look != nil && s.look.color == "always":
		return true
	case s.look != nil && s.look.color == "never", os.Getenv("NO_COLOR") != "":
		return false
	}
	if force := os.Getenv("FORCE_COLOR"); force != "" {
		return force != "0" && force != "false"
	}
	return isTerminal(w)
}

// sizeOf returns the columns and lines of the terminal that w is, zero where it is none. COLUMNS
// and LINES come first, and COLUMNS is obeyed in pipes too.
func sizeOf(w io.Writer) (columns, lines int) {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		columns, lines, _ = term.GetSize(int(f.Fd()))
		if n, err := strconv.Atoi(os.Getenv("LINES")); err == nil && n > 0 {
			lines = n
		}
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		columns = n
	}
	return columns, lines
}

// helpWithin has the help of all commands fit the terminal.
func helpWithin(root *cobra.Command, s streams) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		var b bytes.Buffer
		out := cmd.OutOrStdout()
		cmd.SetOut(&b)
		help(cmd, args)
		cmd.SetOut(out)
		io.WriteString(out, within(s.out, b.String()))
	})
}

// within breaks the lines of a text where w is a terminal that they are too long for.
func within(w io.Writer, text string) string {
	columns, _ := sizeOf(w)
	return render.FitText(text, columns)
}

// print writes text of lines as they are, but for a terminal.
func (s streams) print(text string) error {
	_, err := io.WriteString(s.out, within(s.out, text))
	return err
}
