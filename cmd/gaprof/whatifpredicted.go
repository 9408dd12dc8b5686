package main

import (
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/whatif"
	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// checkPredicted refuses, before anything is read, a file that cannot be written to.
func checkPredicted(file string, combination [][]whatif.Use, force bool) error {
	switch {
	case file == "":
		return nil
	case len(combination) != 1:
		return usage("name what to predict: --edit E", "-o writes the trace of one prediction")
	case isStream(file):
		return usage("", "-o wants a file for the predicted trace")
	case strings.Contains(file, "{}"):
		return nil // the names are known when the ranks are
	}
	return refused(file, force)
}

// writePredicted writes the predicted timeline of each rank as a trace.
func writePredicted(s streams, file string, result *analyze.Result, p *whatif.Prediction, f whatIfFlags) error {
	w := result.World
	if len(w.Ranks) > 1 && !strings.Contains(file, "{}") {
		return usage("put {} in it, which becomes the number of the rank",
			"%d ranks and one file for the predicted trace", len(w.Ranks))
	}
	read := make(map[string][]*trace.Trace)
	o := f.inputFlags.options(s, nil, f.machine)
	o.KeepArgs, o.Progress = true, nil
	for rank, at := range result.Places {
		if read[at.File] == nil {
			traces, err := ingest.ReadFile(at.File, o)
			if err != nil {
				return err
			}
			read[at.File] = traces
		}
		t := w.Predicted(read[at.File][at.Trace], rank, p)
		name := strings.ReplaceAll(file, "{}", strconv.FormatInt(at.Rank, 10))
		if err := tracefile.Write(name, t, tracefile.WriteOptions{Force: f.force}); err != nil {
			return err
		}
	}
	return nil
}
