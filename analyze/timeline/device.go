package timeline

import "github.com/gaprof/gaprof/trace"

// Device is one accelerator of a rank.
type Device struct {
	PID    string           // the row of viewers: the device ordinal
	Rows   []int32          // its activity (kernels, copies, sets), by start
	Launch []int32          // the row of the host call that launched Rows[i], or -1
	Kind   []CollectiveKind // of Rows[i]
	Bucket []Bucket         // of Rows[i] when nothing else runs
	Busy   Busy
}

// build classifies the rows of a device, which are sorted by start and joined to
// their launches, and makes its interval sets.
func (d *Device) build(x *Rows) {
	var count [IdleBucket]int
	d.Kind, d.Bucket = make([]CollectiveKind, len(d.Rows)), make([]Bucket, len(d.Rows))
	for i, row := range d.Rows {
		d.Kind[i] = kindOfRow(x, row, d.Launch[i])
		d.Bucket[i] = bucketOfRow(x, row, d.Kind[i])
		count[d.Bucket[i]]++
	}
	busy := &d.Busy
	for b := range busy.Each {
		busy.Each[b] = NewSet(count[b])
	}
	for i, row := range d.Rows {
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

func bucketOfRow(x *Rows, row int32, kind CollectiveKind) Bucket {
	switch {
	case kind != NotCommunication:
		return BucketOf(kind)
	case x.Col.Cat[row] == trace.CatKernel:
		return ComputeBucket
	}
	return MemoryBucket
}

// kindOfRow is the kind of collective that a device event is. The kernel's name
// decides; where it does not tell (Generic) or only tells the transport (SendRecv),
// the message does.
func kindOfRow(x *Rows, row, launch int32) CollectiveKind {
	id := x.Col.Name[row]
	if x.Col.Cat[row] != trace.CatKernel || x.names.class[id]&Communication == 0 {
		return NotCommunication
	}
	kind := x.names.kind[id]
	if kind != UnknownCollective && kind != SendRecv {
		return kind
	}
	if m, ok := x.messageRow(row, launch); ok {
		if k := KindOf(x.Trace.Event(int(m)).ArgText(trace.KeyCollective)); k != NotCommunication {
			return k
		}
	}
	return kind
}
