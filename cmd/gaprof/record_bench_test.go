package main

import (
	"context"
	"syscall"
	"testing"

	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/reference/kineto"
)

// cpuTime is what this process has computed, in ns.
func cpuTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkRecording trains with and without a recorder: the difference in cpu time of a
// step, which other programs on the machine do not touch, is what tracing costs.
func BenchmarkRecording(b *testing.B) {
	o := reference.Defaults()
	o.MaxSteps = 4
	data, err := reference.NewText(o)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"off", func() error {
			_, err := reference.Run(context.Background(), o, cpu.Backend{}, data, reference.Callbacks{})
			return err
		}},
		{"on", func() error {
			_, err := (&trainJob{options: o, window: kineto.All}).train(context.Background())
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			begin := cpuTime(b)
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpuTime(b)-begin)/float64(b.N*o.MaxSteps)/1e6, "cpu-ms/step")
			b.ReportMetric(0, "ns/op")
		})
	}
}
