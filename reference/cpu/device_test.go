package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/ops"
)

// onRanks runs f as the dispatch thread of every rank.
func onRanks(t *testing.T, c device.Config, f func(m device.Member, s device.Stream)) []device.Member {
	t.Helper()
	members, err := Backend{Poison: true}.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, m := range members {
		all.Go(func() {
			f(m, m.Device.StreamCreateWithPriority(0))
			m.Device.DeviceSynchronize()
		})
	}
	all.Wait()
	t.Cleanup(func() {
		for _, m := range members {
			m.Device.Close()
		}
	})
	return members
}

func floats(d device.Device, s device.Stream, dt device.DType, values ...float64) *device.Buffer {
	b := d.Malloc(dt, len(values))
	d.MemcpyHtoDAsync(s, b, device.Host{Floats: values})
	return b
}

func host(d device.Device, s device.Stream, b *device.Buffer) []float64 {
	values := make([]float64, b.N)
	d.MemcpyDtoHAsync(s, device.Host{Floats: values}, b)
	d.StreamSynchronize(s)
	return values
}

// Every collective on every number of ranks, with lengths that the ranks do not divide,
// in place and not, against sums on the host.
func TestCollectives(t *testing.T) {
	for _, world := range []int{1, 2, 3, 5} {
		for _, n := range []int{1, 2, 7, 64} {
			for _, dt := range []device.DType{device.F32, device.F64} {
				var mu sync.Mutex
				onRanks(t, device.Config{World: world}, func(m device.Member, s device.Stream) {
					for _, problem := range checkCollectives(m, s, world, n, dt) {
						mu.Lock()
						t.Errorf("%d ranks, %d %s: rank %d: %s", world, n, dt, m.Comm.Rank(), problem)
						mu.Unlock()
					}
				})
			}
		}
	}
}

// of is what rank has at place i.
func of(rank, i int) float64 { return float64((rank+1)*1000 + i) }

func checkCollectives(m device.Member, s device.Stream, world, n int, dt device.DType) (problems []string) {
	d, c, rank := m.Device, m.Comm, m.Comm.Rank()
	own, whole := make([]float64, n), make([]float64, n*world)
	for i := range whole {
		whole[i] = of(rank, i)
	}
	copy(own, whole)
	check := func(what string, b *device.Buffer, want func(i int) float64) {
		for i, got := range host(d, s, b) {
			if got != want(i) {
				problems = append(problems, fmt.Sprintf("%s[%d] = %v, want %v", what, i, got, want(i)))
				return
			}
		}
	}
	sum := func(i int) float64 {
		total := 0.0
		for r := range world {
			total += of(r, i)
		}
		return total
	}
	buf := floats(d, s, dt, own...)
	c.AllReduce(s, buf, device.Sum)
	check("all-reduce", buf, sum)
	if dt == device.F64 { // 1/3 is not the same in both
		buf = floats(d, s, dt, own...)
		c.AllReduce(s, buf, device.Avg)
		check("mean", buf, func(i int) float64 { return sum(i) / float64(world) })
	}
	send, recv := floats(d, s, dt, whole...), d.Malloc(dt, n)
	c.ReduceScatter(s, send, recv, device.Sum)
	check("reduce-scatter", recv, func(i int) float64 { return sum(rank*n + i) })
	check("what was sent", send, func(i int) float64 { return of(rank, i) })
	part := send.View(rank*n, n)
	c.ReduceScatter(s, send, part, device.Sum)
	check("reduce-scatter in place", part, func(i int) float64 { return sum(rank*n + i) })
	all := d.Malloc(dt, n*world)
	c.AllGather(s, floats(d, s, dt, own...), all)
	check("all-gather", all, func(i int) float64 { return of(i/n, i%n) })
	d.MemsetAsync(s, all)
	d.MemcpyHtoDAsync(s, all.View(rank*n, n), device.Host{Floats: own})
	c.AllGather(s, all.View(rank*n, n), all)
	check("all-gather in place", all, func(i int) float64 { return of(i/n, i%n) })
	buf = floats(d, s, dt, own...)
	c.Broadcast(s, buf, world-1)
	check("broadcast", buf, func(i int) float64 { return of(world-1, i) })
	return problems
}

// Sums are taken in the order of ranks, whoever comes first: bits repeat.
func TestSumsInRankOrder(t *testing.T) {
	values := []float64{1, 1e-8, -1, 3e-8, 1e8}
	want := float32(0)
	for _, v := range values {
		want += float32(v)
	}
	for range 20 {
		order := rand.Perm(len(values)) // in which ranks come
		come := make([]chan struct{}, len(values)+1)
		for i := range come {
			come[i] = make(chan struct{})
		}
		close(come[0])
		onRanks(t, device.Config{World: len(values)}, func(m device.Member, s device.Stream) {
			place := slices.Index(order, m.Comm.Rank())
			<-come[place]
			b := floats(m.Device, s, device.F32, values[m.Comm.Rank()])
			m.Comm.AllReduce(s, b, device.Sum)
			close(come[place+1])
			if got := host(m.Device, s, b)[0]; float32(got) != want {
				t.Errorf("rank %d: %v, want %v", m.Comm.Rank(), got, want)
			}
		})
	}
}

// Ranks that call different collectives are told so; they do not wait for ever.
func TestUnlikeCollectives(t *testing.T) {
	members := onRanks(t, device.Config{World: 2}, func(m device.Member, s device.Stream) {
		b := floats(m.Device, s, device.F32, make([]float64, 4+4*m.Comm.Rank())...)
		m.Comm.AllReduce(s, b, device.Sum)
	})
	for _, m := range members {
		const want = "collective 1 of group 0 is allreduce of"
		if err := m.Device.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
}

// A rank that fails before a collective lets the others go.
func TestFailureEndsWaiting(t *testing.T) {
	members := onRanks(t, device.Config{World: 3}, func(m device.Member, s device.Stream) {
		b := floats(m.Device, s, device.F32, 1, 2)
		if m.Comm.Rank() == 1 {
			m.Device.Fail(fmt.Errorf("gone"))
			return
		}
		m.Comm.AllReduce(s, b, device.Sum)
	})
	for _, m := range members {
		if err := m.Device.Err(); err == nil || err.Error() != "gone" {
			t.Error(err)
		}
	}
}

// A stream that waits for an event sees what was written before it, and only that far.
func TestEventsOrderStreams(t *testing.T) {
	onRanks(t, device.Config{World: 1}, func(m device.Member, s device.Stream) {
		d := m.Device
		other := d.StreamCreateWithPriority(0)
		x, y := floats(d, s, device.F64, 1), d.Malloc(device.F64, 1)
		for i := range 200 {
			d.Launch(s, ops.Accumulate{Y: x, X: x}) // doubles
			if i%50 == 49 {
				d.Launch(s, ops.MulScalar{Y: x, X: x, Value: math.Ldexp(1, -50)})
			}
			d.StreamWaitEvent(other, d.EventRecord(s))
			d.MemcpyDtoDAsync(other, y, x)
			d.StreamWaitEvent(s, d.EventRecord(other))
		}
		if got := host(d, other, y)[0]; got != 1 {
			t.Errorf("%v, want 1", got)
		}
	})
}

// tape keeps what it is told.
type tape struct {
	mu      sync.Mutex
	hosts   []device.HostEvent
	spans   []device.Span
	devices []device.DeviceEvent
	syncs   []device.SyncEvent
	memory  []device.MemoryEvent
}

func (r *tape) Begin(int) {}

func (r *tape) Host(e device.HostEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts = append(r.hosts, e)
}
func (r *tape) Span(e device.Span) { r.mu.Lock(); defer r.mu.Unlock(); r.spans = append(r.spans, e) }
func (r *tape) Device(e device.DeviceEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.devices = append(r.devices, e)
}
func (r *tape) Sync(e device.SyncEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.syncs = append(r.syncs, e)
}
func (r *tape) Memory(e device.MemoryEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.memory = append(r.memory, e)
}

// What runs is told once, by the correlation of the call that enqueued it and the
// operator around that; operations of one stream do not overlap.
func TestRecorder(t *testing.T) {
	tapes := []*tape{{}, {}}
	onRanks(t, device.Config{World: 2, Record: []device.Recorder{tapes[0], tapes[1]}},
		func(m device.Member, s device.Stream) {
			d := m.Device
			comms := d.StreamCreateWithPriority(0)
			end := d.Range("user_annotation", "ProfilerStep#0")
			x := floats(d, s, device.F32, 1, 2, 3)
			d.Launch(s, ops.Accumulate{Y: x, X: x})
			d.StreamWaitEvent(comms, d.EventRecord(s))
			m.Comm.AllReduce(comms, x, device.Sum)
			d.EventSynchronize(d.EventRecord(comms))
			d.MemsetAsync(s, x)
			d.Free(x)
			d.EmptyCache()
			end()
		})
	for rank, r := range tapes {
		calls := make(map[int64]device.HostEvent)
		for _, h := range r.hosts {
			if calls[h.Correlation].Name != "" || h.End < h.Start {
				t.Errorf("rank %d: %+v", rank, h)
			}
			calls[h.Correlation] = h
		}
		var kinds []string
		ends := make(map[int]int64)
		slices.SortFunc(r.devices, func(a, b device.DeviceEvent) int { return int(a.Correlation - b.Correlation) })
		for _, e := range r.devices {
			call := calls[e.Correlation]
			if kinds = append(kinds, e.Kind); call.Name == "" || call.External != e.External ||
				e.Start < call.Start || e.End < e.Start || e.Start < ends[e.Stream] {
				t.Errorf("rank %d: %+v of %+v", rank, e, call)
			}
			ends[e.Stream] = e.End
		}
		if text := strings.Join(kinds, " "); text != "gpu_memcpy kernel kernel gpu_memset" {
			t.Errorf("rank %d: %s", rank, text)
		}
		if last := r.devices[2]; last.Name != "ncclKernel_AllReduce_Sum_f32_gaprof_pull" || last.Message == nil ||
			last.Message.In != 3 || last.Message.Rank != rank || last.Stream != 20 {
			t.Errorf("rank %d: %+v", rank, last)
		}
		var names []string
		for _, s := range r.spans {
			names = append(names, s.Name)
		}
		if text := strings.Join(names,
			" "); text != "aten::copy_ aten::add_ nccl:allreduce record_param_comms c10d::allreduce_ aten::zero_ "+
			"ProfilerStep#0" {
			t.Errorf("rank %d: %s", rank, text)
		}
		names = nil
		for _, h := range r.hosts {
			names = append(names, h.Name)
		}
		if names[0] != "cudaMalloc" || !slices.Contains(names, "cudaFree") {
			t.Errorf("rank %d: %s", rank, names)
		}
		waits := slices.ContainsFunc(r.syncs, func(e device.SyncEvent) bool {
			return e.Kind == device.StreamWait && e.Stream == 20 && e.WaitStream == 7 &&
				calls[e.EventRecord].Name == "cudaEventRecord" &&
				calls[e.Correlation].Name == "cudaStreamWaitEvent"
		})
		if !waits || len(r.memory) != 2 || r.memory[0].Allocated != 512 || r.memory[1].Allocated != 0 ||
			r.memory[1].Bytes != -512 {
			t.Errorf("rank %d: %+v %+v", rank, r.syncs, r.memory)
		}
	}
}

// ticks is a clock that advances by 1 ns when it is read, and by the duration of a sleep.
type ticks struct {
	at    atomic.Int64
	slept atomic.Int64
}

func (c *ticks) now() int64 { return c.at.Add(1) }

func (c *ticks) sleep(d time.Duration) {
	c.at.Add(int64(d))
	c.slept.Add(int64(d))
}

// A slow rank's kernels take as many times as long, and only its own.
func TestSlowdown(t *testing.T) {
	for rank, factor := range []float64{1, 8} {
		record := &tape{}
		c := device.Config{World: 2, Slowdown: []float64{1, 8}, Record: make([]device.Recorder, 2)}
		c.Record[rank] = record
		members, err := Backend{}.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		clock, d := &ticks{}, members[rank].Device
		d.(*dev).now, d.(*dev).sleep = clock.now, clock.sleep
		s := d.StreamCreateWithPriority(0)
		x := d.Malloc(device.F32, 16)
		d.MemsetAsync(s, x)
		for range 5 {
			d.Launch(s, ops.Gelu{Y: x, X: x})
		}
		d.Close()
		kernels := 0
		for _, e := range record.devices {
			if e.Kind != device.KindKernel {
				continue
			}
			if kernels++; float64(e.End-e.Start) < factor {
				t.Errorf("rank %d: a kernel takes %d ns, want %v times 1 ns or more", rank, e.End-e.Start, factor)
			}
		}
		if slept := clock.slept.Load(); kernels != 5 || slept%7 != 0 || (slept > 0) != (factor > 1) {
			t.Errorf("rank %d: %d kernels, slept for %d ns", rank, kernels, slept)
		}
		members[1-rank].Device.Close()
	}
}

// Kernels of all ranks together never hold more cores than there are.
func TestCores(t *testing.T) {
	tapes := []*tape{{}, {}, {}}
	members, err := Backend{Cores: 1}.Open(device.Config{World: 3,
		Record: []device.Recorder{tapes[0], tapes[1], tapes[2]}})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range members {
		s := m.Device.StreamCreateWithPriority(0)
		x := m.Device.Malloc(device.F32, 1<<14)
		for range 20 {
			m.Device.Launch(s, ops.Gelu{Y: x, X: x})
		}
	}
	var all []device.DeviceEvent
	for i, m := range members {
		m.Device.Close()
		all = append(all, tapes[i].devices...)
	}
	slices.SortFunc(all, func(a, b device.DeviceEvent) int { return int(a.Start - b.Start) })
	for i := range len(all) - 1 {
		if all[i].End > all[i+1].Start {
			t.Fatalf("two kernels at once: %+v %+v", all[i], all[i+1])
		}
	}
}

// Freed memory is given out again; what is freed twice is a bug of the program.
func TestMemory(t *testing.T) {
	members, _ := Backend{}.Open(device.Config{World: 1})
	d := members[0].Device
	a := d.Malloc(device.F32, 100)
	d.Free(a)
	if b := d.Malloc(device.F32, 7); b.Block != a.Block {
		t.Error("another block of 512 bytes")
	}
	if c := d.Malloc(device.F64, 7); c.Block == a.Block || c.Block.Addr == a.Block.Addr {
		t.Error("the same block twice")
	}
	d.Free(d.Malloc(device.F32, 1))
	d.EmptyCache()
	if b := d.Malloc(device.F32, 7); b.Block == a.Block {
		t.Error("a block that was given back")
	}
	defer func() {
		if recover() == nil {
			t.Error("freed twice")
		}
	}()
	d.Free(a)
	d.Free(a)
}
