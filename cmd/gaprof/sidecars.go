package main

import (
	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/internal/ingest"
)

// readLogs reads the logs beside traces where the options name none. One that
// cannot be read is reported and left out.
func readLogs(s streams, files []string, o *analyze.Options, l ingest.Limits) {
	for _, err := range ingest.ReadLogs(files, o, l) {
		s.say("%v; left out", err)
	}
}
