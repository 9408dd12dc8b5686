package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/gaprof/gaprof/reference/kineto"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// rankFile is the name of the trace of a rank.
func rankFile(rank int) string { return fmt.Sprintf("rank%d.json.gz", rank) }

// fileOf is rankFile, or in the plant of traces without a number a name like those of
// tensorboard_trace_handler, which are made of the host and the process.
func (t *trained) fileOf(rank int) string {
	if t.options.Plant == "TH003" {
		return fmt.Sprintf("node_%d.pt.trace.json.gz", 4201+rank)
	}
	return rankFile(rank)
}

// writeTraces writes the traces of all ranks. Those of a simulation, of which there may be very
// many, are written several at a time, and those of ranks for which one stands from one text. Ranks that were simulated
// one by one have been written by then, each when its times were known.
func (f *runFolder) writeTraces(t *trained) error {
	if t.options.Target.Epoch == 0 {
		for rank := range t.options.WorldSize {
			if err := f.writeTrace(t, rank); err != nil {
				return err
			}
		}
		return nil
	}
	var template *kineto.Template
	if t.result.Ranks < t.options.WorldSize && t.job.ranks[0].Len() > 0 && t.options.Plant != "TH001" {
		var err error
		if template, err = t.job.ranks[0].Template(t.job.run); err != nil {
			return err
		}
	}
	errs := make([]error, t.options.WorldSize)
	next := make(chan int)
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), t.options.WorldSize) {
		all.Go(func() {
			for rank := range next {
				if template == nil || rank < t.result.Ranks {
					errs[rank] = f.writeTrace(t, rank)
					continue
				}
				name, encode := rankFile(rank), func(w io.Writer) error { return template.Write(w, rank) }
				errs[rank] = f.create(name, func(w io.Writer) error { return tracefile.EncodeFast(w, name, encode) })
			}
		})
	}
	for rank := range t.options.WorldSize {
		next <- rank
	}
	close(next)
	all.Wait()
	return errors.Join(errs...)
}

// writeTrace writes the trace of a rank, none if nothing of it is recorded.
func (f *runFolder) writeTrace(t *trained, rank int) error {
	if rank < t.result.Ranks && t.job.ranks[rank].Len() == 0 {
		return nil
	}
	return f.writeMade(t, rank, t.trace(rank))
}

// writeMade writes the trace of a rank.
func (f *runFolder) writeMade(t *trained, rank int, made *trace.Trace) error {
	if made.Len() == 0 {
		return nil
	}
	name := t.fileOf(rank)
	if t.options.Plant == "TH001" && rank == t.options.WorldSize-1 {
		return f.create(name, func(w io.Writer) error { return encodeHalf(w, made, name) })
	}
	encode := tracefile.EncodeAs
	if t.options.Target.Epoch != 0 { // there may be very many
		encode = tracefile.EncodeAsFast
	}
	return f.create(name, func(w io.Writer) error { return encode(w, made, name) })
}

// encodeHalf writes the first half of a file: as far as a program got that was killed meanwhile.
func encodeHalf(w io.Writer, made *trace.Trace, name string) error {
	var whole bytes.Buffer
	if err := tracefile.EncodeAs(&whole, made, name); err != nil {
		return err
	}
	_, err := w.Write(whole.Bytes()[:whole.Len()/2])
	return err
}
