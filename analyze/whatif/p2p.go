package whatif

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/graph"
)

// Message is one send, or one receive. A kernel may have several: those of a batch.
type Message struct {
	Kernel graph.Node
	Peer   int64 // number of the other rank in the run
	Sends  bool
	Group  string // process group
	Bytes  int64  // -1 unknown
}

// findMessages lists the sends and receives of a rank, in the order in which the host asks for them.
// PyTorch describes each in a record_param_comms. The kernel of a single one is launched inside
// of it; that of a batch after all of its own (ncclGroupEnd).
func findMessages(b *builder) {
	f := messageFinder{builder: b, asked: make(map[trace.TrackID][]int32), taken: make(map[trace.TrackID]int)}
	for _, kernel := range f.kernels() {
		f.add(kernel)
	}
}

// messageFinder goes over the kernels of sends and receives in the order in which they are launched.
type messageFinder struct {
	*builder
	asked map[trace.TrackID][]int32 // rows that describe sends and receives, by thread
	taken map[trace.TrackID]int     // how many of those have a kernel
}

// kernels lists the kernels of sends and receives that were launched in the recording.
func (f *messageFinder) kernels() []graph.Node {
	var list []graph.Node
	for i := range f.f.Collectives {
		n := f.r.Kernel[i]
		if f.f.Collectives[i].Kind == timeline.SendRecv && f.r.Before[n] != graph.None {
			list = append(list, n)
		}
	}
	if len(list) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b graph.Node) int { return cmp.Compare(f.calledAt(a), f.calledAt(b)) })
	for _, id := range f.x.Host {
		track := f.x.Trace.Tracks()[id]
		for row := int32(track.First); row < int32(track.First+track.N); row++ {
			if !f.x.Is(row, timeline.CollectiveSpan) || f.x.Name(row) != timeline.RecordParamComms {
				continue
			}
			if direction(f.x, row) != "" {
				f.asked[id] = append(f.asked[id], row)
			}
		}
	}
	return list
}

// direction is send or recv, "" for what is neither.
func direction(x *timeline.Rank, row int32) string {
	switch name := x.Trace.Event(int(row)).ArgText(trace.KeyCollective); name {
	case "send", "recv":
		return name
	}
	return ""
}

// add finds what a kernel sends and receives.
func (f *messageFinder) add(kernel graph.Node) {
	call := f.r.Row[f.r.Before[kernel]]
	track := f.x.Col.Track[call]
	rows, from := f.asked[track], f.taken[track]
	to := from
	for to < len(rows) && f.x.Col.Start[rows[to]] <= f.x.Col.Start[call] {
		to++
	}
	f.taken[track] = to
	if own := f.r.Row[kernel]; direction(f.x, own) != "" {
		if _, ok := f.peer(own); ok && to-from < 2 {
			f.message(kernel, own)
			return
		}
	}
	for _, row := range rows[from:to] {
		f.message(kernel, row)
	}
}

// message adds what a row describes.
func (f *messageFinder) message(kernel graph.Node, row int32) {
	peer, ok := f.peer(row)
	if !ok {
		return
	}
	m, sends := f.x.MessageAt(row), direction(f.x, row) == "send"
	f.r.Messages = append(f.r.Messages, Message{kernel, peer, sends, strings.Clone(m.Group), m.Bytes})
}

// peer is the number of the other rank of a send or receive, false where nothing says so: an argument of its
// own in recent versions, before that the name of the span around it, whose ranks are those of the group.
func (f *messageFinder) peer(row int32) (int64, bool) {
	e := f.x.Trace.Event(int(row))
	key := trace.KeySrcRank
	if direction(f.x, row) == "send" {
		key = trace.KeyDstRank
	}
	if peer, ok := e.ArgInt(key); ok && peer >= 0 {
		return peer, true
	}
	peer, found := int64(0), false
	f.x.Stack(row, func(span int32) bool {
		peer, found = peerOf(f.x.Name(span))
		return !found
	})
	var members []int64
	if found && json.Unmarshal([]byte(f.x.MessageAt(row).Members), &members) == nil && peer < int64(len(members)) {
		peer = members[peer]
	}
	return peer, found
}

// peerOf reads the peer of a name such as "nccl:send 0->1" or "nccl:recv 1<-0".
func peerOf(name string) (int64, bool) {
	_, of, found := strings.Cut(name, "->")
	if !found {
		_, of, found = strings.Cut(name, "<-")
	}
	if !found || !strings.Contains(name, ":send ") && !strings.Contains(name, ":recv ") {
		return 0, false
	}
	peer, err := strconv.ParseInt(strings.TrimSpace(of), 10, 64)
	return peer, err == nil && peer >= 0
}
