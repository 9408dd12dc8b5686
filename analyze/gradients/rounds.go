package gradients

import (
	"sort"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// fewRounds is the least number of all-reduces of one number after the norms that counts as
// one per gradient: fewer may be norms of groups, losses, counts, flags for the log.
const fewRounds = 8

// rounds looks at what follows each operation of a norm pass up to limit (ns), where its
// norms are used.
func (f *passFinder) rounds(p *Pass, norms []operation, limit int64) (r Rounds) {
	from := sort.Search(len(f.collectives), func(i int) bool { return f.collectives[i].Event.Start >= p.HostStart })
	var starts []int64
	var sums []int32 // rows
	for i := from; i < len(f.collectives) && f.collectives[i].Event.Start < limit; i++ {
		if c := &f.collectives[i]; c.Kind == timeline.AllReduce && c.Elems == 1 {
			r.Collectives, starts = append(r.Collectives, int32(i)), append(starts, c.Event.Start)
			sums = append(sums, f.rows[i])
		}
	}
	if !p.oneEach(norms, starts) {
		r.Collectives, sums = nil, nil
	}
	reads := readsAfter(f.x, norms[0].row, limit)
	if !p.OnDevice || !p.oneEach(norms, reads) {
		reads = nil
	}
	if r.Reads = len(reads); r.Reads+len(sums) > 0 {
		r.Wait = waitBetween(f.x, p, norms, sums)
	}
	return r
}

// oneEach reports whether there is one of some events for each gradient of a norm pass:
// each in a gap between two norms, or all of them after the last one and too many to be for
// anything else.
func (p *Pass) oneEach(norms []operation, starts []int64) bool {
	gaps, last := 0, -1
	for _, at := range starts {
		gap := sort.Search(len(norms), func(i int) bool { return norms[i].start > at })
		if gap != last {
			gaps, last = gaps+1, gap
		}
	}
	enough := func(n int) bool { return p.Parameters > 1 && float64(n) >= coverage*float64(p.Parameters) }
	return enough(gaps) || enough(len(starts)) && len(starts) >= fewRounds
}

// readsAfter returns the starts (ns) of aten::item of real numbers between a row and limit, on the
// thread of the row.
func readsAfter(x *timeline.Rank, row int32, limit int64) (starts []int64) {
	item, ok := x.Trace.Find("aten::item")
	if !ok {
		return nil
	}
	in, end := x.Inputs(), x.TrackEnd(row)
	for i := row + 1; i < end && x.Col.Start[i] < limit; i++ {
		if x.Col.Name[i] != item {
			continue
		}
		if ops := in.Of(i); len(ops) == 0 || ops[0].Dtype != "long int" && ops[0].Dtype != "bool" {
			starts = append(starts, x.Col.Start[i])
		}
	}
	return starts
}

// waitBetween is Rounds.Wait of norms and the collectives of some rows.
func waitBetween(x *timeline.Rank, p *Pass, norms []operation, rows []int32) int64 {
	if !p.OnDevice {
		end, busy := p.HostEnd, int64(0)
		for _, row := range rows {
			end = max(end, x.End(row))
		}
		for i := range norms {
			busy += norms[i].end - norms[i].start
		}
		return max(0, end-p.HostStart-busy)
	}
	start, end := p.First.Start, p.First.Start+p.Span
	for _, row := range rows {
		for _, l := range x.LaunchedBy(row) {
			end = max(end, x.End(l.Event()))
		}
	}
	for _, d := range x.Devices {
		if first := x.LaunchedBy(norms[0].row); len(first) > 0 && ofDevice(x, d, first[0].Event()) {
			return d.Busy.Ledger(start, end)[timeline.IdleBucket]
		}
	}
	return 0
}

// ofDevice reports whether a row is an event of a device, whose rows are in order of start.
func ofDevice(x *timeline.Rank, d *timeline.Device, row int32) bool {
	at := x.Col.Start[row]
	for i := sort.Search(len(d.Rows), func(i int) bool { return x.Col.Start[d.Rows[i]] >= at }); i < len(d.Rows); i++ {
		if d.Rows[i] == row {
			return true
		} else if x.Col.Start[d.Rows[i]] > at {
			return false
		}
	}
	return false
}
