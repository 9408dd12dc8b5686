package cpu

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
)

// mesh is four ranks as two replicas of two shards.
var mesh = device.Config{World: 4, Groups: []device.Group{
	{Name: "1", Comment: "replicate", Ranks: []int{0, 2}}, {Name: "2", Comment: "replicate", Ranks: []int{1, 3}},
	{Name: "3", Comment: "shard", Ranks: []int{0, 1}}, {Name: "4", Comment: "shard", Ranks: []int{2, 3}}}}

// Groups meet by themselves: each counts its own collectives, and ranks are positions in them.
func TestGroups(t *testing.T) {
	c := mesh
	var tapes []*tape
	for range c.World {
		tapes = append(tapes, &tape{})
		c.Record = append(c.Record, tapes[len(tapes)-1])
	}
	var mu sync.Mutex
	got := make([]string, c.World)
	onRanks(t, c, func(m device.Member, s device.Stream) {
		other := m.Device.StreamCreateWithPriority(0)
		shard, replicate := m.In("shard"), m.In("replicate")
		whole := floats(m.Device, s, device.F64, 1, 2, 3, 4)
		mine := m.Device.MallocOn(other, device.F64, 2)
		m.Device.StreamWaitEvent(other, m.Device.EventRecord(s))
		for range 1 + shard.Group().Ranks[0] { // groups need not do the same
			shard.ReduceScatter(other, whole, mine, device.Sum)
		}
		replicate.AllReduce(other, mine, device.Sum)
		mu.Lock()
		defer mu.Unlock()
		got[m.Comm.Rank()] = fmt.Sprintln(host(m.Device, other, mine), shard.Group().Name, shard.Rank(), shard.Size(),
			replicate.Group().Name, replicate.Rank(), m.In("nothing").Size())
	})
	want := []string{"[4 8] 3 0 2 1 0 4\n", "[12 16] 3 1 2 2 0 4\n", "[4 8] 4 0 2 1 1 4\n", "[12 16] 4 1 2 2 1 4\n"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for rank, tape := range tapes {
		last := tape.devices[len(tape.devices)-2].Message // before the copy to the host
		if last.Seq != 1 || last.Rank != rank/2 || last.GroupSize != 2 ||
			!slices.Equal(last.Ranks, []int{rank % 2, rank%2 + 2}) || last.GroupComment != "replicate" {
			t.Errorf("rank %d: %+v", rank, last)
		}
	}
}

// Freed memory goes back to the stream for which it was allocated.
func TestPools(t *testing.T) {
	members, err := Backend{}.Open(device.Config{World: 1})
	if err != nil {
		t.Fatal(err)
	}
	d := members[0].Device
	defer d.Close()
	one, two := d.StreamCreateWithPriority(0), d.StreamCreateWithPriority(0)
	first := d.MallocOn(one, device.F32, 9)
	d.Free(first)
	if d.Malloc(device.F32, 9).Block == first.Block || d.MallocOn(two, device.F32, 9).Block == first.Block {
		t.Error("reused for another stream")
	}
	if d.MallocOn(one, device.F32, 9).Block != first.Block {
		t.Error("not reused for its own stream")
	}
}
