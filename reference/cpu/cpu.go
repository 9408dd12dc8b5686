package cpu

import (
	"runtime"
	"time"

	"github.com/gaprof/gaprof/reference/device"
)

// Backend opens cpu devices. The zero value is ready to use.
type Backend struct {
	// Cores limits how many kernels run at once over all ranks; 0 means GOMAXPROCS.
	Cores int
	// Poison fills new memory with NaN and never reuses freed memory, so that reads of
	// uninitialized memory show up in results.
	Poison bool
}

var _ device.Backend = Backend{}

// Traits implements device.Backend.
func (b Backend) Traits() device.Traits { return device.Plain() }

// Open implements device.Backend. All ranks share the cores.
func (b Backend) Open(c device.Config) ([]device.Member, error) {
	cores := b.Cores
	if cores <= 0 {
		cores = runtime.GOMAXPROCS(0)
	}
	m := &machine{cores: make(chan struct{}, cores), now: monotonic(), sleep: pause,
		poison: b.Poison, failures: newFailures()}
	world := newGroup(device.Everyone(c.World), m.failures)
	groups := make([]*group, len(c.Groups))
	for i, g := range c.Groups {
		groups[i] = newGroup(g, m.failures)
	}
	members := make([]device.Member, c.World)
	for rank := range members {
		d := &dev{machine: m, rank: rank, slow: 1, pool: make(map[pooled][]*device.Block)}
		d.log.Clock = func() int64 { return m.now() }
		if c.Record != nil {
			d.log.To = c.Record[rank]
		}
		if c.Slowdown != nil {
			d.slow = max(1, c.Slowdown[rank])
		}
		members[rank] = device.Member{Device: d, Comm: world.join(d)}
		for _, g := range groups {
			if g.Index(rank) >= 0 {
				members[rank].Groups = append(members[rank].Groups, g.join(d))
			}
		}
	}
	return members, nil
}

// machine is shared by all ranks.
type machine struct {
	cores  chan struct{}       // a semaphore
	now    func() int64        // monotonic, ns since the Unix epoch; tests replace it
	sleep  func(time.Duration) // time.Sleep; tests replace it
	poison bool
	*failures
}

// monotonic returns a clock that starts at the wall clock and never goes back.
func monotonic() func() int64 {
	base := time.Now()
	return func() int64 { return base.UnixNano() + int64(time.Since(base)) }
}

// wakes is how late a sleeping thread wakes up: Linux lets timers be 50 us late to join them.
const wakes = 60 * time.Microsecond

// pause lets the goroutine sleep for just so long: a kernel that is to take three times its 20 us has 40 more.
func pause(t time.Duration) {
	begin := time.Now()
	switch {
	case t >= longestNap:
		time.Sleep(t)
	case t > wakes:
		nap(t - wakes)
	}
	for time.Since(begin) < t {
		runtime.Gosched()
	}
}

// work calls f while holding a core and returns when f began and ended.
func (m *machine) work(f func()) (start, end int64) {
	m.cores <- struct{}{}
	defer func() { <-m.cores }()
	start = m.now()
	f()
	return start, m.now()
}
