package main

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// intake reads files, several at a time, and gives their traces to an analysis.
//
//  1. Each file is measured, and starts when there is a place for a reader and memory
//     for what it is expected to hold, in the order of the files.
//  2. A file that is more than half of all takes all places: its reader forms a team
//     where it is large. Of several files each has one reader.
//  3. A file whose text turns out longer than expected, or whose tables larger than such
//     a text's, takes more memory where there is some, else it gives up, and is read
//     again by itself behind all others. So is one for which the system has no handle
//     left.
//  4. Errors are told in the order of the files.
type intake struct {
	s        streams
	f        inputFlags
	m        machine
	analysis *analyze.Analysis
	progress *progress
	budget   *budget
	readers  sync.WaitGroup

	mu    sync.Mutex
	again []*job // that need to be by themselves
	bug   error  // a panic of a reader
}

// job is a file to be read.
type job struct {
	place  int
	file   string
	size   tracefile.Size
	places int
	memory *reservation
	err    error
	traces int
}

// analyzePaths reads the traces that paths name and returns their report. What cannot
// be read is named on stderr and left out as long as anything can be, unless damage is
// refused.
func analyzePaths(s streams, paths []string, f inputFlags, m machine, o analyze.Options) (*analyze.Report, error) {
	files, again, err := tracefile.ExpandOnce(paths)
	if err != nil {
		return nil, err
	}
	if !f.quiet {
		sayAgain(s, again)
	}
	readLogs(s, files, &o)
	defer m.apply()()
	in := &intake{s: s, f: f, m: m, analysis: analyze.New(o), progress: startProgress(s.err, f, files), budget: newBudget(m)}
	jobs := in.jobs(files)
	tuneCollector(jobs)
	in.read(jobs)
	in.progress.done()
	if in.bug != nil {
		panic(in.bug)
	}
	if err := in.tell(jobs); err != nil {
		return nil, err
	}
	return in.analysis.Report(), nil
}

// sayAgain tells of files that were named more than once, the first few one by one.
func sayAgain(s streams, again []tracefile.Again) {
	for i, a := range again {
		if i == mostAgain {
			s.say("%d more files were named again; each is read once", len(again)-i)
			return
		}
		if a.File == a.Known {
			s.say("%s was named more than once; it is read once", a.File)
		} else {
			s.say("%s is the same file as %s; it is read once", a.File, a.Known)
		}
	}
}

// mostAgain is how many such files are named.
const mostAgain = 5

// jobs measures the files.
func (in *intake) jobs(files []string) []*job {
	jobs := make([]*job, len(files))
	total := int64(0)
	for i, file := range files {
		j := &job{place: i, file: file, places: 1}
		j.size, j.err = tracefile.Measure(file)
		text := j.size.Text
		if j.size.Stored == 0 { // a stream: it cannot be read again
			text, j.places = unknownText, in.m.jobs
		}
		j.memory = in.budget.reserve(text)
		total += text
		jobs[i] = j
	}
	for _, j := range jobs {
		if j.memory.text > total/2 {
			j.places = in.m.jobs
		}
	}
	return jobs
}

// read reads all files.
func (in *intake) read(jobs []*job) {
	for _, j := range jobs {
		in.start(j)
	}
	in.readers.Wait()
	slices.SortFunc(in.again, func(x, y *job) int { return x.place - y.place })
	for _, j := range in.again {
		j.places = in.m.jobs
		in.start(j)
		in.readers.Wait()
	}
}

// start waits until a file may be read and has it read.
func (in *intake) start(j *job) {
	if j.err != nil {
		in.progress.leaveOut(j.file)
		return
	}
	if !in.budget.take(j.places, j.memory.bytes) {
		j.err = in.budget.tooLarge(j.file, j.memory.refusal())
		in.progress.leaveOut(j.file)
		return
	}
	in.readers.Go(func() { in.work(j) })
}

// work reads a file, hands its traces over and keeps, of the memory reserved for it,
// what its facts take.
func (in *intake) work(j *job) {
	kept := int64(0)
	defer func() {
		if bug := recover(); bug != nil {
			in.mu.Lock()
			in.bug = fmt.Errorf("%v, while reading %s\n%s", bug, j.file, debug.Stack())
			in.mu.Unlock()
		}
		in.budget.give(j.places, j.memory.bytes, kept)
	}()
	o := in.f.options(in.s, in.progress, j.file, false)
	o.Alone, o.Reach = j.places == 1, reachIn(in.m.memory)
	j.memory.watch(&o)
	traces, err := tracefile.Read(j.file, o)
	if j.places < in.m.jobs && (errors.Is(err, errOutgrown) || errors.Is(err, syscall.EMFILE)) {
		in.mu.Lock()
		in.again = append(in.again, j)
		in.mu.Unlock()
		return
	}
	if errors.Is(err, errOutgrown) {
		err = in.budget.tooLarge(j.file, j.memory.outgrown())
	}
	if j.err = err; err != nil {
		if isReport(j.file) {
			j.err = &tracefile.Error{File: j.file, Reason: "is a report, not a trace", Hint: "gaprof report, check and diff take reports"}
		}
		in.progress.leaveOut(j.file)
		return
	}
	j.traces, kept = len(traces), j.memory.text/keptPart
	for i, t := range traces {
		input := analyze.Input{File: j.file, Trace: t}
		if i == 0 {
			input.Bytes = j.size.Stored
		}
		kept += keptOf(t.Tracks())
		traces[i] = nil
		in.analysis.Add(j.place, input)
	}
}

// tell names what could not be read, in the order of the files, or returns it as an
// error where nothing could be or damage is refused.
func (in *intake) tell(jobs []*job) error {
	var failures []error
	read := 0
	for _, j := range jobs {
		read += j.traces
		if j.err != nil {
			failures = append(failures, j.err)
		}
	}
	if len(failures) > 0 && (read == 0 || in.f.strict) {
		return errors.Join(failures...)
	}
	var hints []string
	for _, err := range failures {
		in.s.say("%v; left out", err)
		if hint := hintOf(err); hint != "" && !slices.Contains(hints, hint) {
			hints = append(hints, hint)
			in.s.say("hint: %s", hint)
		}
	}
	return nil
}
