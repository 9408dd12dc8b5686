package straggler

import (
	"cmp"
	"slices"

	"github.com/gaprof/gaprof/analyze/straggler/optable"
)

// op numbers an operation of a job, in the order of its rows.
type op = int32

// none is no operation.
const none op = -1

// job is a table in order: by step, worker, then as the operations start.
type job struct {
	optable.Table
	worker  []int32 // by operation: index into workers
	workers []Worker
	shares  []share // what one worker does in one step
	steps   []int64 // numbers, ascending
	first   []op    // by step: its first operation, and at the end their number

	stages, chunks int32 // pipeline stages, model chunks in a stage
}

// share is the operations of one worker in one step, [from, to).
type share struct {
	step, worker int32 // indexes
	from, to     op
}

// newJob orders a table. Rows that start at the same time are ordered by their number in the
// step, and then by the name of their type.
func newJob(t *optable.Table) *job {
	order := make([]int32, t.Len())
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(
			cmp.Compare(t.Step[a], t.Step[b]), cmp.Compare(t.Stage[a], t.Stage[b]), cmp.Compare(t.DP[a], t.DP[b]),
			cmp.Compare(t.Start[a], t.Start[b]), cmp.Compare(t.Seq[a], t.Seq[b]), cmp.Compare(t.Type[a], t.Type[b]),
			cmp.Compare(a, b))
	})
	j := &job{chunks: 1, Table: optable.Table{
		Step: pick(t.Step, order), DP: pick(t.DP, order), Stage: pick(t.Stage, order), Rank: pick(t.Rank, order),
		Seq: pick(t.Seq, order), Chunk: pick(t.Chunk, order), ModelChunk: pick(t.ModelChunk, order),
		Type: pick(t.Type, order), Start: pick(t.Start, order), Duration: pick(t.Duration, order),
	}}
	j.number()
	j.share()
	return j
}

func pick[T any](column []T, order []int32) []T {
	out := make([]T, len(order))
	for i, from := range order {
		out[i] = column[from]
	}
	return out
}

// number finds the workers, in the order of their ranks, and the size of the job.
func (j *job) number() {
	index := make(map[[2]int32]int32)
	for i := range j.Type {
		key := [2]int32{j.DP[i], j.Stage[i]}
		if _, known := index[key]; !known {
			index[key] = int32(len(j.workers))
			j.workers = append(j.workers, Worker{Rank: j.Rank[i], DP: j.DP[i], Stage: j.Stage[i]})
		}
		j.stages = max(j.stages, j.Stage[i]+1)
		j.chunks = max(j.chunks, j.Chunk[i]+1)
	}
	slices.SortFunc(j.workers, func(a, b Worker) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.DP, b.DP))
	})
	for i, w := range j.workers {
		index[[2]int32{w.DP, w.Stage}] = int32(i)
	}
	j.worker = make([]int32, j.Len())
	for i := range j.worker {
		j.worker[i] = index[[2]int32{j.DP[i], j.Stage[i]}]
	}
}

// share cuts the operations into steps and workers.
func (j *job) share() {
	for i := range op(j.Len()) {
		newStep := i == 0 || j.Step[i] != j.Step[i-1]
		if newStep {
			j.steps = append(j.steps, j.Step[i])
			j.first = append(j.first, i)
		}
		if newStep || j.worker[i] != j.worker[i-1] {
			j.shares = append(j.shares, share{step: int32(len(j.steps) - 1), worker: j.worker[i], from: i})
		}
		j.shares[len(j.shares)-1].to = i + 1
	}
	j.first = append(j.first, op(j.Len()))
}

// of lists the operations of some types, in order.
func (j *job) of(s share, types ...optable.Type) (list []op) {
	for i := s.from; i < s.to; i++ {
		if slices.Contains(types, j.Type[i]) {
			list = append(list, i)
		}
	}
	return list
}

// end is when an operation ended, in ns after the start of its step.
func (j *job) end(i op) int64 { return j.Start[i] + j.Duration[i] }
