package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gaprof/gaprof/trace/chrome"
)

// scaled are simulated runs of many ranks: equal ones, equal ones that are in groups, and ones that differ by chance.
var scaled = []struct{ name, figures, options string }{
	{"equal", "", ""},
	{"groups", "", "sharding=full replicas=8"},
	{"different", "jitter=2%", ""},
}

// BenchmarkSimulatedFiles writes the traces of 64 simulated ranks into a folder: text, before it is compressed, per
// second of the clock and of processor time.
func BenchmarkSimulatedFiles(b *testing.B) {
	for _, c := range scaled {
		b.Run(c.name, func(b *testing.B) {
			run := simulated(b, "h100x8", c.figures, gpt2+"world-size=64 max-steps=3 "+c.options)
			var text bytes.Buffer
			if err := chrome.Write(&text, run.trace(1)); err != nil {
				b.Fatal(err)
			}
			begin, n := cpuTime(b), 0
			for b.Loop() {
				folder, err := openFolder(filepath.Join(b.TempDir(), fmt.Sprint(n)), false)
				if err == nil {
					err = folder.writeTraces(run)
				}
				if err != nil {
					b.Fatal(err)
				}
				_ = folder.Close()
				n++
			}
			b.SetBytes(int64(text.Len()) * 64)
			b.ReportMetric(float64(text.Len())*64*float64(n)*1e3/float64(cpuTime(b)-begin), "MB/cpu-s")
		})
	}
}

// BenchmarkSimulatedAnalysis analyzes the folders that BenchmarkSimulatedFiles writes.
func BenchmarkSimulatedAnalysis(b *testing.B) {
	for _, c := range scaled {
		b.Run(c.name, func(b *testing.B) {
			run := simulated(b, "h100x8", c.figures, gpt2+"world-size=64 max-steps=3 "+c.options)
			var text bytes.Buffer
			dir := filepath.Join(b.TempDir(), "run")
			folder, err := openFolder(dir, false)
			if err == nil {
				err = errors.Join(folder.writeTraces(run), chrome.Write(&text, run.trace(1)), folder.Close())
			}
			if err != nil {
				b.Fatal(err)
			}
			begin, n := cpuTime(b), 0
			for b.Loop() {
				if code, _, stderr := runWith("", "analyze", dir); code != 0 {
					b.Fatal(stderr)
				}
				n++
			}
			b.SetBytes(int64(text.Len()) * 64)
			b.ReportMetric(float64(text.Len())*64*float64(n)*1e3/float64(cpuTime(b)-begin), "MB/cpu-s")
		})
	}
}
