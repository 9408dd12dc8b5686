package optable

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Type is what an operation is. Types are in the order of their names.
type Type uint8

// The types of operations.
const (
	BackwardCompute Type = iota
	BackwardRecv
	BackwardSend
	EmbeddingGrads // all-reduce between the first and the last stage
	ForwardCompute
	ForwardRecv
	ForwardSend
	GC // of Python
	ReduceScatter
	LayerNormGrads // all-reduce within a tensor parallel group
	Optimizer
	Clip         // of gradients, with the all-reduce of their norm
	AllGather    // of parameters
	SeparateGrad // all-reduce of gradients that no reduce-scatter holds
	NumTypes
)

var typeNames = [NumTypes]string{
	BackwardCompute: "backward-compute", BackwardRecv: "backward-recv", BackwardSend: "backward-send",
	EmbeddingGrads: "embedding-grads-all-reduce", ForwardCompute: "forward-compute", ForwardRecv: "forward-recv",
	ForwardSend: "forward-send", GC: "gc", ReduceScatter: "grads-reduce-scatter",
	LayerNormGrads: "layernorm-grads-all-reduce", Optimizer: "optimizer", Clip: "optimizer-clip-main-grad",
	AllGather: "params-all-gather", SeparateGrad: "separate-grads-all-reduce",
}

// String is the name of a type as tables have it.
func (t Type) String() string { return typeNames[t] }

// Types lists the names of all types.
func Types() []string { return typeNames[:] }

// Table is the rows of a table as columns of equal length. Its rows are in the order of the file.
type Table struct {
	Step       []int64
	DP         []int32 // data parallel rank
	Stage      []int32 // pipeline stage
	Rank       []int32 // global rank that names the worker
	Seq        []int32 // number among the operations of the type
	Chunk      []int32 // model chunk within the stage, -1 for none
	ModelChunk []int32 // model chunk within the model, -1 for none
	Type       []Type
	Start      []int64 // ns after the earliest start of the step
	Duration   []int64 // ns
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.Type) }

// column is one column of a table, as readers fill it.
type column struct {
	name  string
	whole func(t *Table, v int64) error   // takes a whole number
	real  func(t *Table, v float64) error // takes seconds
	text  func(t *Table, v string) error
}

// columns are those that a table must have.
var columns = []column{
	{name: "step", whole: func(t *Table, v int64) error { t.Step = append(t.Step, v); return nil }},
	{name: "dp_rank", whole: func(t *Table, v int64) error { return number(&t.DP, v, 0) }},
	{name: "stage", whole: func(t *Table, v int64) error { return number(&t.Stage, v, 0) }},
	{name: "rank", whole: func(t *Table, v int64) error { return number(&t.Rank, v, 0) }},
	{name: "seq_id", whole: func(t *Table, v int64) error { return number(&t.Seq, v, 0) }},
	{name: "mc", whole: func(t *Table, v int64) error { return number(&t.Chunk, v, -1) }},
	{name: "gmc", whole: func(t *Table, v int64) error { return number(&t.ModelChunk, v, -1) }},
	{name: "optype", text: func(t *Table, v string) error { return typed(&t.Type, v) }},
	{name: "start_ts", real: func(t *Table, v float64) error { return seconds(&t.Start, v) }},
	{name: "duration", real: func(t *Table, v float64) error { return seconds(&t.Duration, v) }},
}

// mostNumber bounds ranks, stages and the like: none is as large, and sums of them fit.
const mostNumber = 1 << 24

func number(to *[]int32, v, least int64) error {
	if v < least || v > mostNumber {
		return fmt.Errorf("%d is not between %d and %d", v, least, mostNumber)
	}
	*to = append(*to, int32(v))
	return nil
}

func typed(to *[]Type, name string) error {
	t, found := slices.BinarySearch(typeNames[:], name)
	if !found {
		return fmt.Errorf("%q is no type of operation; they are %s", short(name), strings.Join(Types(), ", "))
	}
	*to = append(*to, Type(t))
	return nil
}

// mostSeconds bounds times: no step takes so long, and sums of all rows of a table fit int64.
const mostSeconds = 1e6

func seconds(to *[]int64, v float64) error {
	if !(v >= 0 && v <= mostSeconds) { // also NaN
		return fmt.Errorf("%v is not between 0 and %.0f seconds", v, mostSeconds)
	}
	*to = append(*to, int64(math.Round(v*1e9)))
	return nil
}

// short is the beginning of a text from a file, for messages.
func short(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}
