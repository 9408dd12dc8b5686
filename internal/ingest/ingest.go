package ingest

import (
	"errors"
	"io"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// Options say how to read. The zero value reads on all cores, within DefaultMemory.
type Options struct {
	Limits   Limits    // cores and memory to stay within; the zero value as above
	Strict   bool      // damage is an error
	KeepArgs bool      // keep every argument, for writing; else those that analyses ask for
	Stdin    io.Reader // what tracefile.Stdin names; nil: there is none
	Progress Progress  // nil: none is reported

	// Waiting is called, from another goroutine, when opening a named pipe waits for
	// a writer. It may be nil.
	Waiting func(file string)
	// Panicked is called for goroutines that read a file ahead and panicked, as
	// tracefile.Options.Panicked is; by several goroutines at a time. It may be nil.
	Panicked func(file string, workers int64, first string)
}

// Progress is notified of how far reading has come, by several goroutines at a time.
type Progress interface {
	// Read is called when done bytes of total have been read of a file as it is stored;
	// total is 0 where that is not known.
	Read(file string, done, total int64)
	// LeaveOut is called when nothing more will be read of a file.
	LeaveOut(file string)
}

// Sink takes the traces of files in as they are read, from several goroutines and in any
// order; place is the index of the file. *analyze.Analysis implements it.
type Sink interface {
	Add(place int, in analyze.Input)
}

// Result says how reading the files went.
type Result struct {
	Traces   int       // traces given to the sink
	Failures []Failure // in the order of the files
}

// Failure is a file that could not be read.
type Failure struct {
	File string // as the caller named it
	Err  error  // *TooLarge, *tracefile.Error or *trace.FormatError
}

// TooLarge is the error of a file for which there is not enough memory.
type TooLarge struct {
	File   string // as the caller named it
	Reason string // what the file has and needs, and what the limit is
}

func (e *TooLarge) Error() string { return e.File + ": " + e.Reason }

// Read reads files and gives their traces to a sink. It returns when all are done.
func Read(files []string, sink Sink, o Options) Result {
	o.Limits = o.Limits.orDefault()
	s := newScheduler(sink, o)
	jobs := s.jobs(files)
	tuneCollector(jobs)
	s.read(jobs)
	if s.bug != nil {
		panic(s.bug)
	}
	var r Result
	for _, j := range jobs {
		r.Traces += j.traces
		if j.err != nil {
			r.Failures = append(r.Failures, Failure{j.file, j.err})
		}
	}
	return r
}

// ReadFile reads one file by itself, for those who need its traces as a whole. Errors are
// those of a Failure.
func ReadFile(file string, o Options) ([]*trace.Trace, error) {
	size, err := tracefile.Measure(file)
	if err != nil {
		return nil, err
	}
	b := newBudget(o.Limits.orDefault())
	r := b.reserve(size)
	if !b.take(b.all, r.bytes) {
		return nil, b.tooLarge(file, r.refusal())
	}
	to := o.of(file)
	to.Reach = reachIn(b.limit)
	r.watch(&to)
	traces, err := tracefile.Read(file, to)
	if errors.Is(err, errOutgrown) {
		err = b.tooLarge(file, r.outgrown())
	}
	return traces, err
}

// of returns the options to read a file with.
func (o *Options) of(file string) tracefile.Options {
	to := tracefile.Options{KeepArgs: o.KeepArgs, Strict: o.Strict, Stdin: o.Stdin}
	if o.Progress != nil {
		to.Progress = func(done, total int64) { o.Progress.Read(file, done, total) }
	}
	if o.Waiting != nil {
		to.Waiting = func() { o.Waiting(file) }
	}
	if o.Panicked != nil {
		to.Panicked = func(workers int64, first string) { o.Panicked(file, workers, first) }
	}
	return to
}
