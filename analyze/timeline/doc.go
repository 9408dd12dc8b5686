// Package timeline works out what ran where in a trace: which ranks it holds, the host
// threads and devices of each, what the names on them mean, which launch call started
// which device event, and what each device was busy with at any instant.
//
// It is the layer between [trace.Trace], which knows rows and nothing else, and the
// packages that interpret a training run. Steps, gradients, facts, profiles and drawings
// are all computed from an [Index]:
//
//	x := timeline.New(t)
//	for _, r := range x.Ranks {
//		for _, d := range r.Devices {
//			for i, row := range d.Rows {
//				fmt.Println(r.Name(row), d.Bucket[i], d.Launch[i])
//			}
//			fmt.Println(d.Busy.Ledger(start, end)) // each ns of [start, end) in one bucket
//		}
//	}
//
// What holds for every Index:
//
//   - [New] is the only way to get one, and it is complete before anyone sees it:
//     nothing is filled in later, so any number of goroutines may read it.
//   - It points into the trace. Names and other texts it returns are pieces of the
//     trace's memory; whoever keeps one for longer must copy it. Only [Busy] and [Event]
//     (once its texts are cloned) outlive the trace.
//   - Times are integer nanoseconds on the clock of the trace. Intervals are half-open.
//   - Row numbers index [trace.Columns]. A row that does not exist is -1.
//   - Every device event belongs to at most one rank. What no rank or several can claim is
//     counted in Index.Problems.
//
// Building an Index is linear in the rows of the trace but for the sorting of launches,
// and it is on the path of every command, so each distinct name is classified once and
// each row is looked at as few times as possible.
//
// The files, from the bottom up; each uses only those above it in this list:
//
//	collectivekind.go  collective kinds, from names of kernels and host collectives
//	names.go           classes of names
//	set.go             Set: a union of intervals, with intersection and difference
//	operands.go        inputs of operators: shapes, dtypes, recorded values
//	rows.go            Rows: a trace with its names classified; spans around a row
//	site.go            launch sites of collectives
//	message.go         what a trace says of the data a collective moves
//	ledger.go          buckets, and the ledger of a window
//	device.go          the activity of one device by bucket, its interval sets
//	launch.go          launch calls by correlation id; device events joined to them
//	graph.go           replays of CUDA graphs and what annotations say of them
//	lost.go            launches without their events, events that are there twice
//	replays.go         replays whose parts have ids of their own, joined to their calls
//	process.go         processes and devices become ranks
//	index.go           Index and Rank: all of it together
//	waits.go           synchronization records: what waits for what
package timeline
