package timeline

import (
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// Device is one accelerator of a rank. Its slices are parallel, but for the last: entry i of each
// is about the same device event.
type Device struct {
	PID    string           // process row in viewers: the device ordinal
	Rows   []int32          // rows of its activity (kernels, copies, sets), in order of start
	Launch []int32          // row of the launch call, -1 where it is not in the recording
	Kind   []CollectiveKind // NotCommunication for compute kernels, copies and memsets
	Bucket []Bucket         // the bucket of its time while nothing of an earlier bucket runs
	Busy   Busy             // when the device is busy, by bucket

	// Overlong is entries whose recorded duration cannot be true, ascending. They are in no
	// set, and last 0 ns in Rows.Col; the trace itself still has what was recorded.
	Overlong []int32
}

// build classifies the rows of a device, which must be sorted by start and joined to their
// launch calls, and builds its interval sets. Sorted rows make each set one linear pass.
func (d *Device) build(x *Rows) {
	var count [IdleBucket]int
	d.Kind, d.Bucket = make([]CollectiveKind, len(d.Rows)), make([]Bucket, len(d.Rows))
	for i, row := range d.Rows {
		d.Kind[i] = kindOfRow(x, row, d.Launch[i])
		d.Bucket[i] = bucketOfRow(x, row, d.Kind[i])
		count[d.Bucket[i]]++
	}
	d.findOverlong(x)
	busy := &d.Busy
	for b := range busy.Each {
		busy.Each[b] = NewSet(count[b])
	}
	left := d.Overlong
	for i, row := range d.Rows {
		if len(left) > 0 && left[0] == int32(i) {
			left = left[1:]
			continue
		}
		busy.Each[d.Bucket[i]].Add(x.Col.Start[row], x.Col.Start[row]+x.Col.Dur[row])
	}
	for b := range busy.Each {
		busy.Each[b].clip()
	}
	for b := range busy.Alone {
		busy.Alone[b] = busy.Without(busy.Each[b], Bucket(b))
		busy.Alone[b].clip()
	}
}

// bucketOfRow is the bucket of a device event on its own. What is no kernel moves or sets
// memory: processes keeps nothing else of a device.
func bucketOfRow(x *Rows, row int32, kind CollectiveKind) Bucket {
	switch {
	case kind != NotCommunication:
		return BucketOf(kind)
	case x.Col.Cat[row] == trace.CatKernel:
		return ComputeBucket
	}
	return MemoryBucket
}

// kindOfRow returns the collective kind of a device event. What the user declares of its
// name decides, for copies too; then the kernel's name; where that says nothing (Generic) or
// only names the transport (all-to-all runs as SendRecv), the recorded "Collective name" or
// else the annotation around the launch.
func kindOfRow(x *Rows, row, launch int32) CollectiveKind {
	name := x.names.kernel[x.Col.Name[row]]
	if name.declared {
		return name.kind
	}
	if x.Col.Cat[row] != trace.CatKernel {
		return NotCommunication
	}
	if name.kind != UnknownCollective && name.kind != SendRecv {
		return name.kind
	}
	if m, ok := x.messageRow(row, launch); ok {
		if k := kindOfMessage(x.Trace.Event(int(m)).ArgText(trace.KeyCollective)); k != NotCommunication {
			return k
		}
	}
	if k := kindAround(x, launch); k != NotCommunication {
		return k
	}
	return name.kind
}

// kindAround returns the kind that the innermost span around a launch call names, such as
// nccl:all_reduce or c10d::allreduce_; -1 is no launch call.
func kindAround(x *Rows, launch int32) CollectiveKind {
	kind := NotCommunication
	if launch < 0 {
		return kind
	}
	x.Stack(launch, func(span int32) bool {
		if x.Is(span, CollectiveSpan) {
			_, name, _ := strings.Cut(x.Name(span), ":")
			name, _, _ = strings.Cut(name, " ") // nccl:send 0->1
			kind = kindOfMessage(strings.Trim(name, ":"))
		}
		return kind == NotCommunication
	})
	return kind
}

// kindOfMessage is KindOf with the collective that moves nothing.
func kindOfMessage(name string) CollectiveKind {
	if name == "barrier" {
		return Barrier
	}
	return KindOf(name)
}
