package main

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/render"
)

// outputFlags say in which formats a report is written, and where.
type outputFlags struct {
	formats []string
	file    string
}

func (f *outputFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.formats, "format", nil, "format of the report: "+strings.Join(render.FormatNames(), ", ")+
		"; FORMAT=FILE writes one more to a file")
	flags.StringVarP(&f.file, "output", "o", "", "file for the format without a file of its own, - for stdout")
}

// output is one format and the file it goes to; empty is stdout.
type output struct {
	format render.Format
	file   string
}

type outputs []output

// parse resolves the formats. At most one of them may have no file of its own.
func (f *outputFlags) parse() (outputs, error) {
	var list outputs
	free := 0
	for _, spec := range f.formats {
		name, file, named := strings.Cut(spec, "=")
		format, err := render.ByName(name)
		if err != nil {
			return nil, usage("", "--format: %v", err)
		}
		if named && file == "" {
			return nil, usage("", "--format %s: no file after =", spec)
		}
		if !named {
			file = f.file
			free++
		}
		list = append(list, output{format, file})
	}
	switch {
	case free > 1:
		return nil, usage("write --format FORMAT=FILE for the others", "%d formats want the same output", free)
	case free == 0 && (len(list) == 0 || f.file != ""):
		text, _ := render.ByName("text")
		list = append(list, output{text, f.file})
	}
	return list, nil
}

// write renders the report into every output. Reports are not inputs of anybody
// else, so files are overwritten; each is rendered as a whole first.
func (list outputs) write(s streams, r *analyze.Report, o render.Options) error {
	for _, out := range list {
		var b bytes.Buffer
		if err := out.format.Write(&b, r, o); err != nil {
			return err
		}
		if err := deliver(s.out, out.file, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func deliver(stdout io.Writer, file string, data []byte) error {
	if file == "" || file == "-" {
		_, err := stdout.Write(data)
		return err
	}
	return os.WriteFile(file, data, 0o644)
}
