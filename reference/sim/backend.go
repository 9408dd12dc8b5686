package sim

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/sim/nccl"
)

// Epoch is when every simulation begins, in ns since the Unix epoch: the same run has the same
// times.
const Epoch = 1_767_225_600_000_000_000 // 2026-01-01T00:00:00Z

// Backend opens simulated devices.
type Backend struct {
	Machine *Machine
	Seed    int    // of jitter and skew
	Stats   *Stats // filled in when the run is simulated; nil if nobody wants to know
}

// Stats say how large a simulation was.
type Stats struct {
	Ranks  int   // that were simulated; the first stands for others
	Nodes  int   // of the graph: calls of hosts and operations of devices
	Edges  int   // that say what waits for what
	Memory int64 // bytes that the device of a rank had reserved at a time, at most
}

var _ device.Backend = Backend{}

// Traits implements device.Backend.
func (b Backend) Traits() device.Traits {
	t := device.Traits{Name: "sim", Types: []device.DType{device.F32, device.F64, device.BF16}, Shapes: true,
		Epoch: Epoch}
	if b.Machine != nil {
		t.Node = max(1, int(b.Machine.values[perNode]))
	}
	return t
}

// Open implements device.Backend. Of equal ranks it opens the first one only, unless chance
// makes them differ.
func (b Backend) Open(c device.Config) ([]device.Member, error) {
	r := &run{machine: b.Machine, stats: b.Stats, world: c.World, recorded: c.Recorded,
		groups: append([]device.Group{device.Everyone(c.World)}, c.Groups...)}
	ranks := c.World
	if c.Equal && !b.Machine.noisy() {
		ranks = 1
	}
	members := make([]device.Member, ranks)
	for rank := range members {
		d := r.open(rank, b.Seed)
		if c.Record != nil {
			d.to = c.Record[rank]
		}
		if c.Slowdown != nil {
			d.slow = max(1, c.Slowdown[rank])
		}
		members[rank] = r.member(d)
	}
	r.left = ranks
	return members, nil
}

// noisy reports whether chance makes ranks differ.
func (m *Machine) noisy() bool {
	return m.values[jitter] > 0 || m.values[skew] > 0 || m.values[uneven] > 0
}

// run is what the devices of a run share.
type run struct {
	machine *Machine
	stats   *Stats
	world   int
	groups  []device.Group // all ranks first
	devices []*dev

	recorded func(rank int) // see device.Config
	known    known

	mu   sync.Mutex
	left int // devices that are not closed
	err  error
}

func (r *run) open(rank, seed int) *dev {
	d := &dev{run: r, rank: rank, slow: 1, pace: 1, memory: newAllocator(int64(r.machine.values[memory]))}
	d.base = Epoch
	if r.machine.noisy() {
		d.noise = rand.New(rand.NewPCG(uint64(seed), uint64(rank)))
	}
	d.host = d.g.AddResource()
	d.domain, d.priority = append(d.domain, -1), append(d.priority, 0)
	d.last = noNode
	r.devices = append(r.devices, d)
	return d
}

// member is the device of a rank with its communicators.
func (r *run) member(d *dev) device.Member {
	m := device.Member{Device: d}
	for i, g := range r.groups {
		index := g.Index(d.rank)
		if index < 0 {
			continue
		}
		c := &communicator{d: d, group: &r.groups[i], number: int32(i), index: index, nodes: r.machine.nodesOf(g)}
		if i == 0 {
			m.Comm = c
		} else {
			m.Groups = append(m.Groups, c)
		}
	}
	return m
}

// nodesOf is how many nodes the ranks of a group are on.
func (m *Machine) nodesOf(g device.Group) int {
	each := max(1, int(m.values[perNode]))
	n, last := 0, -1
	for _, rank := range g.Ranks {
		if node := rank / each; node != last {
			n, last = n+1, node
		}
	}
	return n
}

// fabric is what NCCL's model has to know of a machine.
func (m *Machine) fabric() *nccl.Fabric {
	generation := nccl.Volta
	switch c := m.values[capability]; {
	case c >= 10:
		generation = nccl.Blackwell
	case c >= 9:
		generation = nccl.Hopper
	case c >= 8:
		generation = nccl.Ampere
	}
	return &nccl.Fabric{Bus: m.values[bus] / 1e9, Net: m.values[net] / 1e9, PCI: m.values[pci] != 0,
		Generation: generation, Latency: m.values[ncclLatency], Least: m.values[ncclLeast]}
}

// fail keeps the first failure of a run.
func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

func (r *run) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// closed notes that a device is; after the last one, the run is simulated.
func (r *run) closed() {
	r.mu.Lock()
	r.left--
	last := r.left == 0 && r.err == nil
	r.mu.Unlock()
	if !last {
		return
	}
	if err := r.finish(); err != nil {
		r.fail(err)
	}
}

// errorf is an error of a rank.
func (d *dev) errorf(format string, args ...any) error {
	return fmt.Errorf("rank %d: %w", d.rank, fmt.Errorf(format, args...))
}
