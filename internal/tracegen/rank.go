package tracegen

import (
	"fmt"
	"strings"
)

// The ranks of one run do the same in the same order and share one schedule, which
// is that of the slowest at every place. A rank by itself differs from it in this:
//
//   - a compute kernel begins up to computeJitter later;
//   - it arrives at a collective up to mostLate later than the schedule has it. One
//     rank, another one each time, is that late, so that the transfer begins mostLate
//     behind the schedule on all ranks, whoever is asked;
//   - a collective ends up to endSkew later than where it ends first.
//
// So waiting, transfer and skew of every collective are known without making the
// traces of the other ranks, and each trace takes time linear in its size.
const (
	computeJitter = 250    // ns
	mostLate      = 20_000 // ns
	endSkew       = 1_500  // ns
	rankGap       = 3_000  // ns between what follows on a stream of a rank
)

// runOf is what a trace shows of a run of several ranks.
type runOf struct {
	rank, world int    // world is 0 for a trace by itself
	named       int    // ranks of the process group; more than were recorded where world is 0
	pid, device int    // of the process and its device
	gap         int64  // ns between two events of a stream
	seed        uint64 // the same for all ranks
	noSeq       bool   // collectives carry no sequence number
	members     string // ranks of the process group as JSON
}

func newRunOf(o Options) runOf {
	r := runOf{rank: o.Rank, world: o.WorldSize, named: 8, pid: firstPID, gap: 300, seed: o.Seed, noSeq: o.NoSeq}
	if o.WorldSize > 0 {
		r.named, r.gap = o.WorldSize, rankGap
		r.pid, r.device = firstPID+o.Rank, o.Rank%8
	}
	r.members = r.list(r.named)
	return r
}

// list is the ranks from 0 as JSON; limit is how many are written out.
func (r *runOf) list(limit int) string {
	var b strings.Builder
	for i := range r.named {
		switch {
		case i > 0 && i == limit-1 && limit < r.named:
			fmt.Fprintf(&b, ", ..., %d]", r.named-1)
			return "[" + b.String()
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, i)
	}
	return "[" + b.String() + "]"
}

// header is the text before the first event.
func (r *runOf) header() string {
	return fmt.Sprintf(`{
  "schemaVersion": 1,
  "deviceProperties": [{"id": %d, "name": "SYNTHETIC H100", "totalGlobalMem": 85028634624, "numSms": 132}],
  "distributedInfo": {"backend": "nccl", "rank": %d, "world_size": %d, "pg_count": 1, "pg_config": [`+
		`{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "pg_size": %d, "ranks": %s}]},
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1759300074000000000,
  "traceEvents": [`, r.device, r.rank, r.named, r.named, r.members)
}

// collective is one kind of collective: what the host calls it, its kernel and how many
// elements each rank gives and gets.
type collective struct {
	name, kernel string
	in, out      int
}

// reduceScatter is the reduction of a layer's gradient; layers differ in size where
// ranks are to be matched.
func (r *runOf) reduceScatter(layer int) collective {
	const kernel = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	c := collective{"_reduce_scatter_base", kernel, 8388608, 1048576}
	if r.world > 0 {
		c.out = 65536 * (layer + 1)
		c.in = c.out * r.world
	}
	return c
}

// behindOptimizer are the collectives that follow the optimizer of a step.
func (r *runOf) behindOptimizer() []collective {
	if r.world == 0 {
		return nil
	}
	return []collective{
		{
			"_allgather_base", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
			131072, 131072 * r.world,
		},
		{"allreduce", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 64, 64},
	}
}

// membersShown is how many ranks of a group PyTorch writes beside each collective.
const membersShown = 30

// describe is what kernel and record_param_comms say of a collective.
func (r *runOf) describe(c collective, seq int) []field {
	dtype := `"BFloat16"`
	if c.name == "allreduce" {
		dtype = `"Float"`
	}
	comm := []field{
		{"Collective name", quote(c.name)}, {"In msg nelems", num(c.in)}, {"Out msg nelems", num(c.out)},
		{"Group size", num(r.named)}, {"dtype", dtype}, {"Process Group Name", `"0"`},
		{"Process Group Description", `"default_pg"`}, {"Process Group Ranks", quote(r.list(membersShown))},
	}
	if !r.noSeq {
		comm = append(comm, field{"Seq", num(seq)})
	}
	return comm
}

// shift is when the corr-th device event runs on this rank, in ns. start and end are when
// the schedule has it, and communicates says that it is the kernel of a collective.
func (r *runOf) shift(corr uint64, communicates bool, start, end int64) (int64, int64) {
	switch {
	case r.world == 0:
		return start, end
	case !communicates:
		return start + r.draw(corr, uint64(r.rank), computeJitter), end
	}
	return start + r.late(corr), end + r.draw(corr, uint64(r.rank)+1<<32, endSkew)
}

// late is how much later than the schedule this rank arrives at a collective, in ns.
func (r *runOf) late(corr uint64) int64 {
	if r.draw(corr, 1<<40, int64(r.world)) == int64(r.rank) {
		return mostLate
	}
	return r.draw(corr, uint64(r.rank)+1<<33, mostLate)
}

// draw is a number from 0 to below n that only depends on the run and its arguments: a
// rank can ask for what another one draws without going through that one's trace.
func (r *runOf) draw(corr, what uint64, n int64) int64 {
	h := (r.seed ^ corr*0x9e3779b97f4a7c15 ^ what*0xbf58476d1ce4e5b9) * 0x94d049bb133111eb
	h = (h ^ h>>31) * 0x9e3779b97f4a7c15
	return int64((h ^ h>>29) % uint64(n))
}
