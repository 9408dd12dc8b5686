package ingest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"syscall"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// scheduler reads files as the package comment says.
type scheduler struct {
	sink    Sink
	options Options
	budget  *budget
	lean    bool // traces cannot be kept for replays: the memory is not enough for all at a time
	readers sync.WaitGroup

	mu    sync.Mutex
	again []*job // that need to be by themselves
	bug   error  // a panic of a reader
}

// job is a file to be read. Its worker owns it while it reads; the scheduler looks at it
// before and afterwards.
type job struct {
	index   int  // among the files
	alone   bool // there is no other
	file    string
	size    tracefile.Size
	workers int // that it takes of the budget
	memory  *reservation
	err     error
	traces  int // that were read
}

func newScheduler(sink Sink, o Options) *scheduler {
	return &scheduler{sink: sink, options: o, budget: newBudget(o.Limits)}
}

// workers is the number of all workers.
func (s *scheduler) workers() int { return s.options.Limits.Workers }

// jobs measures the files.
func (s *scheduler) jobs(files []string) []*job {
	jobs := make([]*job, len(files))
	total := int64(0)
	for i, file := range files {
		j := &job{index: i, alone: len(files) == 1, file: file, workers: 1}
		j.size, j.err = tracefile.Measure(file)
		if j.size.Stored == 0 { // a stream: it cannot be read again
			j.workers = s.workers()
		}
		j.memory = s.budget.reserve(j.size)
		total += j.memory.text
		jobs[i] = j
	}
	whole := int64(0)
	for _, j := range jobs {
		whole += j.memory.whole()
	}
	s.lean = whole > s.budget.limit/shareOfReplays
	for _, j := range jobs {
		if j.memory.text > total/2 {
			j.workers = s.workers()
		}
	}
	return jobs
}

// read reads all files.
func (s *scheduler) read(jobs []*job) {
	for _, j := range jobs {
		s.start(j)
	}
	s.readers.Wait()
	slices.SortFunc(s.again, func(x, y *job) int { return x.index - y.index })
	for _, j := range s.again {
		j.workers = s.workers()
		s.start(j)
		s.readers.Wait()
	}
}

// start waits until a file may be read and has it read.
func (s *scheduler) start(j *job) {
	if j.err == nil && !s.budget.take(j.workers, j.memory.bytes) {
		j.err = s.budget.tooLarge(j.file, j.memory.refusal())
	}
	if j.err != nil {
		s.leaveOut(j)
		return
	}
	s.readers.Go(func() { s.work(j) })
}

func (s *scheduler) leaveOut(j *job) {
	if s.options.Progress != nil {
		s.options.Progress.LeaveOut(j.file)
	}
}

// work reads a file, hands its traces over and keeps, of the memory reserved for it,
// what its facts take.
func (s *scheduler) work(j *job) {
	kept := int64(0)
	defer func() {
		if bug := recover(); bug != nil {
			s.mu.Lock()
			s.bug = fmt.Errorf("%v, while reading %s\n%s", bug, j.file, debug.Stack())
			s.mu.Unlock()
		}
		s.budget.give(j.workers, j.memory.bytes, kept)
	}()
	o := s.options.of(j.file)
	o.Alone, o.Reach = j.workers == 1, reachIn(s.budget.limit)
	j.memory.watch(&o)
	traces, err := tracefile.Read(j.file, o)
	switch {
	case err == nil:
		j.traces = len(traces)
		if j.workers == s.workers() {
			collectAsReached()
		}
		kept = s.handOver(j, traces)
	case j.workers < s.workers() && (errors.Is(err, errOutgrown) || errors.Is(err, syscall.EMFILE)):
		s.mu.Lock()
		s.again = append(s.again, j)
		s.mu.Unlock()
	case errors.Is(err, errOutgrown):
		j.err = s.budget.tooLarge(j.file, j.memory.outgrown())
		s.leaveOut(j)
	default:
		j.err = err
		s.leaveOut(j)
	}
}

// handOver gives the traces of a file to the sink, keeping no reference to them, and
// returns how many bytes are kept of them: the sink may keep small ones as they are. The bytes
// of the file count for the first.
func (s *scheduler) handOver(j *job, traces []*trace.Trace) (kept int64) {
	kept = j.memory.facts()
	if !s.lean {
		kept = j.memory.whole()
	}
	for i, t := range traces {
		input := analyze.Input{File: j.file, Trace: t, Lean: s.lean}
		input.Alone = j.alone && len(traces) == 1
		if i == 0 {
			input.Bytes = j.size.Stored
		}
		kept += keptOf(t.Tracks())
		traces[i] = nil
		s.sink.Add(j.index, input)
	}
	return kept
}
