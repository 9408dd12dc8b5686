package devicetest

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
)

// Suite is what every backend has to pass.
type Suite struct {
	Open func(c device.Config) ([]device.Member, error)
	// Kernel is some operation that writes y.
	Kernel func(y *device.Buffer) device.Kernel
}

// Run runs the suite.
func (s Suite) Run(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, s Suite)
	}{
		{"order", testOrder}, {"events", testEvents}, {"waits", testWaits}, {"copies", testCopies},
		{"copies of other sizes", testWrongCopy}, {"failure", testFailure}, {"streams", testStreams},
		{"ranges", testRanges}, {"time", testTime}, {"memory", testMemory}, {"memory by stream", testMemoryOn},
		{"freed twice", testFreedTwice}, {"types", testTypes}, {"collectives", testCollectives},
		{"groups", testGroups}, {"collectives that differ", testMismatch},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, s) })
	}
}

// one opens a device, lets a program run on it, closes it and returns what was recorded.
func (s Suite) one(t *testing.T, program func(d *device.Rank)) *Tape {
	t.Helper()
	tapes, err := s.ranks(t, 1, nil, program)
	if err != nil {
		t.Fatal(err)
	}
	return tapes[0]
}

// ranks does that with several, and returns the failure.
func (s Suite) ranks(t *testing.T, world int, groups []device.Group, program func(d *device.Rank)) ([]*Tape, error) {
	t.Helper()
	c := device.Config{World: world, Groups: groups}
	var tapes []*Tape
	for range world {
		tapes = append(tapes, &Tape{})
		c.Record = append(c.Record, tapes[len(tapes)-1])
	}
	members, err := s.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(members) != world {
		t.Fatalf("%d ranks that may differ have %d devices", world, len(members))
	}
	var all sync.WaitGroup
	for _, m := range members {
		all.Go(func() {
			defer m.Device.Close()
			program(device.NewRank(m, device.F32))
		})
	}
	all.Wait()
	return tapes, members[0].Device.Err()
}

// launch launches a kernel.
func (s Suite) launch(d *device.Rank, on device.Stream, b *device.Buffer) { d.Launch(on, s.Kernel(b)) }

// A stream runs one operation after the other, in the order of their launches, none before it
// is launched; the host does one thing after the other.
func testOrder(t *testing.T, s Suite) {
	tape := s.one(t, func(d *device.Rank) {
		b := d.Alloc(1000)
		for range 50 {
			s.launch(d, d.Compute, b)
			d.MemsetAsync(d.Compute, b)
		}
	})
	list, calls := tape.on(d7), tape.calls()
	if len(list) != 100 {
		t.Fatalf("%d operations ran, of 100", len(list))
	}
	for i, e := range list {
		call, ok := calls[e.Correlation]
		if !ok || e.Start < call.Start || e.End < e.Start || e.External != call.External {
			t.Errorf("%+v was launched by %+v", e, call)
		}
		if i > 0 && e.Start < list[i-1].End {
			t.Errorf("%+v runs beside %+v", e, list[i-1])
		}
		if want := []string{"cudaLaunchKernel", "cudaMemsetAsync"}[i%2]; call.Name != want {
			t.Errorf("call %d is %s", i, call.Name)
		}
	}
	for i, e := range tape.Hosts[1:] {
		if e.Start < tape.Hosts[i].End || e.Correlation <= tape.Hosts[i].Correlation {
			t.Errorf("the host calls %+v after %+v", e, tape.Hosts[i])
		}
	}
}

// The numbers of the first two streams, in every trace.
const d7, d20 = 7, 20

// A stream that waits for an event goes on when that has happened, and not before.
func testEvents(t *testing.T, s Suite) {
	tape := s.one(t, func(d *device.Rank) {
		other := d.StreamCreateWithPriority(-1)
		a, b := d.Alloc(1<<20), d.Alloc(4)
		for range 5 {
			s.launch(d, d.Compute, a)
			e := d.EventRecord(d.Compute)
			d.StreamWaitEvent(other, e)
			s.launch(d, other, b)
			d.StreamWaitEvent(d.Compute, d.EventRecord(other))
		}
		d.StreamWaitEvent(other, d.EventRecord(other)) // for itself: nothing
		never := d.EventRecord(other)
		d.EventSynchronize(never)
	})
	first, second := tape.on(d7), tape.on(d20)
	if len(first) != 5 || len(second) != 5 {
		t.Fatalf("%d and %d operations", len(first), len(second))
	}
	for i := range first {
		if second[i].Start < first[i].End || i > 0 && first[i].Start < second[i-1].End {
			t.Errorf("turn %d: %+v and %+v", i, first[i], second[i])
		}
	}
	waits, records := 0, tape.calls()
	for _, e := range tape.Syncs {
		if e.Kind != device.StreamWait {
			continue
		}
		waits++
		if records[e.EventRecord].Name != "cudaEventRecord" || records[e.Correlation].Name != "cudaStreamWaitEvent" ||
			e.End < e.Start {
			t.Errorf("%+v waits for %+v", e, records[e.EventRecord])
		}
	}
	if waits != 11 {
		t.Errorf("%d waits of streams are told, of 11", waits)
	}
}

// The host goes on when what it waits for has ended, and says what it was.
func testWaits(t *testing.T, s Suite) {
	var ends []func() int64
	tape := s.one(t, func(d *device.Rank) {
		other := d.StreamCreateWithPriority(0)
		b, c := d.Alloc(1<<18), d.Alloc(1<<18)
		for _, wait := range []func(e device.Event){
			func(device.Event) { d.StreamSynchronize(d.Compute) },
			func(e device.Event) { d.EventSynchronize(e) },
			func(device.Event) { d.DeviceSynchronize() },
		} {
			s.launch(d, d.Compute, b)
			s.launch(d, other, c)
			wait(d.EventRecord(d.Compute))
			ends = append(ends, d.Now())
		}
	})
	list, second := tape.on(d7), tape.on(d20)
	for i, end := range ends {
		if end() < list[i].End || i == 2 && end() < second[i].End {
			t.Errorf("wait %d: the host goes on at %d, before %d", i, end(), list[i].End)
		}
	}
	var kinds []string
	for _, e := range tape.Syncs {
		kinds = append(kinds, e.Kind)
		if call := tape.calls()[e.Correlation]; call.Start > e.Start || call.End < e.End {
			t.Errorf("%+v, and its call %+v", e, call)
		}
	}
	if want := []string{device.StreamSync, device.EventSync, device.ContextSync}; !slices.Equal(kinds, want) {
		t.Errorf("waits %q, want %q", kinds, want)
	}
}

func testCopies(t *testing.T, s Suite) {
	tape := s.one(t, func(d *device.Rank) {
		a, b := d.Alloc(1000), d.Alloc(1000)
		d.Upload(a, device.Host{Floats: make([]float64, 1000)})
		d.MemcpyDtoDAsync(d.Compute, b, a)
		d.MemsetAsync(d.Compute, a)
		d.Download(device.Host{Floats: make([]float64, 1000)}, b)
		d.StreamSynchronize(d.Compute)
	})
	want := []string{"Memcpy HtoD (Pinned -> Device)", "Memcpy DtoD (Device -> Device)", "Memset (Device)",
		"Memcpy DtoH (Device -> Pinned)"}
	for i, e := range tape.on(d7) {
		kind := device.KindMemcpy
		if i == 2 {
			kind = device.KindMemset
		}
		if e.Name != want[i] || e.Kind != kind || e.Bytes != 4000 {
			t.Errorf("%+v, want %s of 4000 bytes", e, want[i])
		}
	}
	if len(tape.Devices) != len(want) {
		t.Errorf("%d copies, want %d", len(tape.Devices), len(want))
	}
}

func testWrongCopy(t *testing.T, s Suite) {
	_, err := s.ranks(t, 1, nil, func(d *device.Rank) {
		d.Upload(d.Alloc(10), device.Host{Floats: make([]float64, 9)})
		d.DeviceSynchronize()
	})
	if err == nil || !strings.Contains(err.Error(), "9 elements of the host, 10 of the device") {
		t.Error(err)
	}
}

// The first failure is that of all ranks, and nobody waits for one that has failed.
func testFailure(t *testing.T, s Suite) {
	broken := errors.New("broken")
	_, err := s.ranks(t, 2, nil, func(d *device.Rank) {
		if d.Index == 1 {
			d.Fail(broken)
			d.Fail(errors.New("later"))
			return
		}
		b := d.Alloc(4)
		d.Comm.AllReduce(d.Comms, b, device.Sum)
		d.DeviceSynchronize()
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

// Streams have numbers of their own, the first two those of PyTorch's traces.
func testStreams(t *testing.T, s Suite) {
	var ids []int
	s.one(t, func(d *device.Rank) {
		ids = append(ids, d.Compute.ID())
		for i := range 6 {
			ids = append(ids, d.StreamCreateWithPriority(-i).ID())
		}
	})
	if ids[0] != d7 || ids[1] != d20 {
		t.Errorf("streams %v", ids)
	}
	slices.Sort(ids)
	if ids[0] < 1 || len(slices.Compact(ids)) != 7 {
		t.Errorf("streams %v", ids)
	}
}

// Ranges nest, and what is called in one belongs to it.
func testRanges(t *testing.T, s Suite) {
	tape := s.one(t, func(d *device.Rank) {
		outer := d.Range("user_annotation", "outer")
		d.BeginStep(3)
		inner := d.Range("cpu_op", "inner", device.Operand{Type: "Scalar", Value: "1"})
		s.launch(d, d.Compute, d.Alloc(4))
		inner()
		outer()
	})
	byID := make(map[int64]device.Span)
	for _, e := range tape.Spans {
		byID[e.External] = e
	}
	if outer, inner := byID[1], byID[2]; outer.Name != "outer" || inner.Name != "inner" || len(inner.Operands) != 1 ||
		inner.Start < outer.Start || inner.End > outer.End || inner.Start > inner.End {
		t.Errorf("%+v in %+v", inner, outer)
	}
	launch := tape.Hosts[len(tape.Hosts)-1]
	if op := byID[launch.External]; op.Start > launch.Start || op.End < launch.End || op.Cat != "cpu_op" {
		t.Errorf("%+v in %+v", launch, op)
	}
	if !slices.Equal(tape.Steps, []int{3}) {
		t.Errorf("steps %v", tape.Steps)
	}
}

// Time does not go back, and passes while the host sleeps.
func testTime(t *testing.T, s Suite) {
	var times []func() int64
	s.one(t, func(d *device.Rank) {
		for range 4 {
			times = append(times, d.Now())
			d.Sleep(1000)
			s.launch(d, d.Compute, d.Alloc(4))
		}
	})
	for i := range times[1:] {
		if times[i+1]()-times[i]() < 1000 {
			t.Errorf("times %d and %d", times[i](), times[i+1]())
		}
	}
}
