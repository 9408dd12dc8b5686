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
//  3. A file that turns out larger than expected takes more memory where there is
//     some, else it gives up, and is read again by itself behind all others. So is one
//     for which the system has no handle left.
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
	text   int64 // bytes of text that memory is reserved for
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
		if j.text = j.size.Text; j.size.Stored == 0 { // a stream: it cannot be read again
			j.text, j.places = unknownText, in.m.jobs
		}
		total += j.text
		jobs[i] = j
	}
	for _, j := range jobs {
		if j.text > total/2 {
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
	if !in.budget.take(j.places, needOf(j.text)) {
		j.err = in.tooLarge(j, "needs about "+bytesText(ownMemory+needOf(j.text))+" of memory for "+bytesText(j.text)+" of text")
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
		in.budget.give(j.places, needOf(j.text), kept)
	}()
	o := in.f.options(in.s, in.progress, j.file, false)
	o.Alone, o.Reach = j.places == 1, reachIn(in.m.memory)
	o.Grow = func(text int64) error { return in.grow(j, text) }
	traces, err := tracefile.Read(j.file, o)
	if j.places < in.m.jobs && (errors.Is(err, errOutgrown) || errors.Is(err, syscall.EMFILE)) {
		in.mu.Lock()
		in.again = append(in.again, j)
		in.mu.Unlock()
		return
	}
	if errors.Is(err, errOutgrown) {
		err = in.tooLarge(j, "has more than "+bytesText(j.text)+" of text, which needs more than "+bytesText(ownMemory+needOf(j.text))+" of memory")
	}
	if j.err = err; err != nil {
		if isReport(j.file) {
			j.err = &tracefile.Error{File: j.file, Reason: "is a report, not a trace", Hint: "gaprof report, check and diff take reports"}
		}
		in.progress.leaveOut(j.file)
		return
	}
	j.traces, kept = len(traces), j.text/keptPart
	for i, t := range traces {
		input := analyze.Input{File: j.file, Trace: t}
		if i == 0 {
			input.Bytes = j.size.Stored
		}
		traces[i] = nil
		in.analysis.Add(j.place, input)
	}
}

// errOutgrown ends the reading of a text for which there is not enough memory.
var errOutgrown = errors.New("outgrown")

// grow reserves memory for a text that has become longer than expected.
func (in *intake) grow(j *job, text int64) error {
	if text <= j.text {
		return nil
	}
	longer := text + text/4
	if !in.budget.grow(needOf(longer) - needOf(j.text)) {
		if longer = textIn(needOf(j.text) + in.budget.left()); longer <= text {
			return errOutgrown
		}
		if !in.budget.grow(needOf(longer) - needOf(j.text)) {
			return errOutgrown
		}
	}
	j.text = longer
	return nil
}

// tooLarge says why a file is left out, and what can be done about it.
func (in *intake) tooLarge(j *job, what string) error {
	reason := what + "; the limit is " + bytesText(in.m.memory)
	if facts := in.budget.kept(); facts > in.m.memory/4 {
		reason += ", of which the facts of other files hold " + bytesText(facts)
	}
	return &tracefile.Error{File: j.file, Reason: reason, Hint: "raise --mem-limit, or record fewer steps, without stacks and shapes"}
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
