package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
)

// act is one thing that the program of a rank does. Times are in us.
type act struct {
	kind byte // see simRank.act
	name string
	us   int
	more string // arguments of the event
}

func kernel(name string, us int, grid string) act { return act{'k', name, us, `grid=` + grid} }

// repeat is some acts n times.
func repeat(n int, acts ...act) (list []act) {
	for range n {
		list = append(list, acts...)
	}
	return list
}

// simRank runs a program on one host thread, a compute stream and a stream for collectives.
type simRank struct {
	rank     int
	program  []act
	at       int   // the next act
	host     int   // us
	compute  int   // until when the stream is busy
	comm     int   // likewise; meaningless while last is open
	last     *meet // the collective that was launched last
	corr     int
	out      strings.Builder
	unlinked int // so many kernels have no launch call
	clock    int // us that its clock is ahead
}

// meet is a collective on its ranks.
type meet struct {
	group   string
	us      int
	starts  []int
	ranks   []*simRank
	corrs   []int
	members int
	end     int // 0 while somebody is missing
}

// simulate runs programs until all have ended, and returns what each would have recorded.
// groups lists the ranks of each process group.
func simulate(t *testing.T, list []*simRank, groups map[string][]int) []analyze.Input {
	t.Helper()
	meets := make(map[string][]*meet)
	for moved := true; moved; {
		moved = false
		for _, r := range list {
			for r.at < len(r.program) && r.act(meets, groups) {
				moved = true
				r.at++
			}
		}
	}
	var inputs []analyze.Input
	for _, r := range list {
		if r.at < len(r.program) {
			t.Fatalf("rank %d waits for ever in %v", r.rank, r.program[r.at])
		}
		head := fmt.Sprintf("distributed backend=nccl rank=%d world_size=%d\n", r.rank, len(list))
		for name, members := range groups {
			text := strings.ReplaceAll(strings.Trim(fmt.Sprint(members), "[]"), " ", ",")
			head += fmt.Sprintf("group %q ranks=%s\n", name, text)
		}
		inputs = append(inputs, rankFile(t, fmt.Sprintf("rank%d.txt", r.rank), head+r.out.String()))
	}
	return inputs
}

func (r *simRank) line(track string, from, to int, text string) {
	fmt.Fprintf(&r.out, "%s %dus +%dus %s\n", track, from+r.clock, to-from, text)
}

// act does the next act of the program; it returns false while that has to wait for others.
func (r *simRank) act(meets map[string][]*meet, groups map[string][]int) bool {
	a := r.program[r.at]
	if r.last != nil && r.last.end > 0 {
		r.comm, r.last = r.last.end, nil
	}
	switch a.kind {
	case 'h': // the host is busy for a time, in a span of the category in more
		r.line("100/1", r.host, r.host+a.us, a.more+" "+a.name)
		r.host += a.us
	case 's': // the host waits for its device
		end := max(r.host, r.compute) + 3
		r.line("100/1", r.host, end, "cuda_runtime cudaStreamSynchronize")
		r.host = end
	case 'k', 'm': // a kernel or copy, launched by an operator
		r.launch(a)
	case 'o': // an update
		from := r.host
		r.host += 2
		r.launch(kernel("adam", 40, "[1,1,1]"))
		r.line("100/1", from, r.host+1, "user_annotation Optimizer.step#A.step")
		r.host += 3
	case 'b': // backward
		r.line("100/2", r.host, r.host+2, `cpu_op torch::autograd::AccumulateGrad dims=[[1000,250]] type=["float"]`)
		r.host += 2
	case 'c': // a collective of the group in name
		return r.collective(a, meets, groups)
	case 'w': // compute waits for the last collective
		if r.last != nil {
			return false
		}
		r.compute = max(r.compute, r.comm)
	}
	return true
}

func (r *simRank) launch(a act) {
	r.corr++
	r.line("100/1", r.host, r.host+5, "cpu_op aten::op")
	link := fmt.Sprintf("corr=%d", r.corr)
	if r.unlinked >= r.corr {
		link = ""
	} else {
		r.line("100/1", r.host+1, r.host+4, "cuda_runtime cudaLaunchKernel "+link)
	}
	cat := "kernel"
	if a.kind == 'm' {
		cat = "gpu_memcpy"
	}
	start := max(r.compute+1, r.host+6)
	r.compute = start + a.us
	r.line("0/7", start, r.compute, cat+` "`+a.name+`" `+link+" "+a.more)
	r.host += 6
}

func (r *simRank) collective(a act, meets map[string][]*meet, groups map[string][]int) bool {
	if r.last != nil {
		return false
	}
	r.corr++
	var m *meet
	for _, one := range meets[a.name] {
		if one.end == 0 && !one.has(r) {
			m = one
		}
	}
	if m == nil {
		m = &meet{group: a.name, us: a.us, members: len(groups[a.name])}
		meets[a.name] = append(meets[a.name], m)
	}
	seq := len(meets[a.name])
	r.line("100/2", r.host, r.host+6, fmt.Sprintf("cpu_op record_param_comms coll=_reduce_scatter_base in=250000 "+
		"out=125000 dtype=Float group=%s gsize=%d seq=%d", a.name, m.members, seq))
	r.line("100/2", r.host+1, r.host+4, fmt.Sprintf("cuda_runtime cudaLaunchKernel corr=%d", r.corr))
	m.starts = append(m.starts, max(r.comm, r.compute, r.host+6)+2)
	m.ranks, m.corrs = append(m.ranks, r), append(m.corrs, r.corr)
	r.host += 7
	r.last = m
	if len(m.ranks) == m.members {
		for _, s := range m.starts {
			m.end = max(m.end, s+m.us)
		}
		for i, one := range m.ranks {
			one.line("0/20", m.starts[i], m.end, fmt.Sprintf("kernel ncclDevKernel_ReduceScatter corr=%d", m.corrs[i]))
		}
	}
	return true
}

func (m *meet) has(r *simRank) bool {
	for _, one := range m.ranks {
		if one == r {
			return true
		}
	}
	return false
}
