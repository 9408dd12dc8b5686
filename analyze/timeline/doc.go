// Package timeline says what ran where in a trace: which ranks it holds, the
// threads and devices of each, what the names on them mean, which host call
// launched which device event, and when each device was busy with what. Facts,
// profiles, drawings and execution graphs are computed from its Index.
//
// [New] is the only way to an Index, and an Index is complete before anyone sees
// it: nothing here is filled in later. It points into the trace and is let go
// together with it. All times are integer nanoseconds on the trace's clock,
// intervals are half-open, row numbers are those of [trace.Columns].
//
// The files, from the bottom up; none knows of those below it in this list:
//
//	collectivekind.go  kinds of collectives, from the names of kernels and messages
//	names.go           classes of names, each distinct name looked at once
//	set.go             sets of instants: union, intersection, difference
//	operands.go        inputs of operators: shapes, dtypes, recorded values
//	rows.go            Rows: a trace with the classes of its names; spans around a row
//	site.go            the launch site of a host call
//	message.go         what a trace says of the message of a collective
//	launch.go          host calls by correlation id; device events joined to them
//	device.go          the activity of one device by bucket, its interval sets
//	ledger.go          buckets, and the ledger of a stretch of time
//	process.go         processes and devices become ranks
//	index.go           Index and Rank: all of this together
package timeline
