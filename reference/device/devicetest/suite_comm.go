package devicetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
)

// A collective ends on no rank before it has begun on all of them, and says what it was.
func testCollectives(t *testing.T, s Suite) {
	const world = 3
	tapes, err := s.ranks(t, world, nil, func(d *device.Rank) {
		small, large := d.Zeros(4), d.Zeros(4*world)
		d.Collective(func() {
			d.Comm.AllReduce(d.Comms, small, device.Avg)
			d.Comm.ReduceScatter(d.Comms, large, small, device.Sum)
			d.Comm.AllGather(d.Comms, small, large)
			d.Comm.Broadcast(d.Comms, small, 1)
			d.Comm.AllToAll(d.Comms, large, d.Zeros(4*world))
			d.Comm.Shift(d.Comms, small, d.Zeros(4), 1)
		})
		d.DeviceSynchronize()
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "allreduce 4 4, _reduce_scatter_base 12 4, _allgather_base 4 12, broadcast 4 4, " +
		"all_to_all 12 12, send_recv 4 4"
	for i := range 6 {
		begun, ended := int64(0), int64(1)<<62
		for _, tape := range tapes {
			e := tape.on(d20)[i]
			begun, ended = max(begun, e.Start), min(ended, e.End)
		}
		if ended < begun {
			t.Errorf("collective %d ends at %d, begins at %d", i, ended, begun)
		}
	}
	for rank, tape := range tapes {
		var got []string
		for i, e := range tape.on(d20) {
			m := e.Message
			got = append(got, fmt.Sprint(m.Name, " ", m.In, " ", m.Out))
			if m.Rank != rank || m.GroupSize != world || m.Seq != int64(i+1) || m.DType != "Float" ||
				!strings.Contains(e.Name, "nccl") {
				t.Errorf("%s: %+v", e.Name, m)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("rank %d: %q, want %q", rank, got, want)
		}
	}
}

// Groups of ranks have collectives of their own.
func testGroups(t *testing.T, s Suite) {
	groups := []device.Group{{Name: "1", Comment: "even", Ranks: []int{0, 2}},
		{Name: "2", Comment: "odd", Ranks: []int{1, 3}}}
	tapes, err := s.ranks(t, 4, groups, func(d *device.Rank) {
		b := d.Zeros(8)
		mine := d.In([]string{"even", "odd"}[d.Index%2])
		d.Collective(func() { mine.AllReduce(d.Comms, b, device.Sum) })
		d.DeviceSynchronize()
	})
	if err != nil {
		t.Fatal(err)
	}
	for rank, tape := range tapes {
		m := tape.on(d20)[0].Message
		if got := fmt.Sprint(m.Group, m.GroupComment, m.Ranks, m.Rank, m.GroupSize); got !=
			[]string{"1even[0 2] 0 2", "2odd[1 3] 0 2", "1even[0 2] 1 2", "2odd[1 3] 1 2"}[rank] {
			t.Errorf("rank %d: %s", rank, got)
		}
	}
}

// Ranks that call different collectives are told so.
func testMismatch(t *testing.T, s Suite) {
	_, err := s.ranks(t, 2, nil, func(d *device.Rank) {
		b := d.Zeros(4 + d.Index)
		d.Comm.AllReduce(d.Comms, b, device.Sum)
		d.DeviceSynchronize()
	})
	if err == nil || !strings.Contains(err.Error(), "collective 1 of group 0 is allreduce of ") {
		t.Error(err)
	}
}
