// Package optable reads operation tables: what is left of the trace of a large job when each
// operation of each step is one row. It is the form in which ByteDance published the jobs of
// "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025).
//
// A table is Parquet or CSV, told by its content. Its columns, in any order; more are ignored:
//
//	step        number of the step
//	dp_rank     data parallel rank of the worker, 0 and up
//	stage       pipeline stage of the worker, 0 and up
//	rank        global rank that names the worker
//	optype      type of operation: see Types
//	start_ts    seconds after the earliest start of the step on any worker
//	duration    seconds
//	seq_id      number of the operation among those of its type, worker and step
//	mc          model chunk within the stage, -1 for none
//	gmc         model chunk within the model, -1 for none
//
// Ranks of one tensor or sequence parallel group are one worker.
package optable
