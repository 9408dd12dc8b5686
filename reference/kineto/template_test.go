package kineto

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace/chrome"
)

// exchanged are events of a rank in some groups, each of which all-reduces once.
func exchanged(groups ...device.Group) *Rank {
	r := NewIn(1, 0, All)
	step(r, 0)
	for i, g := range groups {
		at, id := int64(100*i), int64(9+i)
		m := &device.Message{Name: "allreduce", In: 8, Out: 8, DType: "Float", GroupSize: len(g.Ranks), Ranks: g.Ranks,
			Seq: 1, Group: g.Name, GroupComment: g.Comment}
		r.Span(device.Span{Cat: "cpu_op", Name: "record_param_comms", Start: at + 20, End: at + 30, External: id,
			Message: m})
		r.Host(device.HostEvent{Name: "cudaLaunchKernel", Start: at + 22, End: at + 25, Correlation: id, External: id})
		r.Device(device.DeviceEvent{Kind: device.KindKernel, Name: "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
			Stream: 20, Start: at + 40, End: at + 50, Correlation: id, External: id, Message: m})
	}
	return r
}

// The text of a template is that of the trace, byte for byte, whatever digits a rank has and whatever groups it is in.
func TestTemplate(t *testing.T) {
	const world = 1200
	run := Run{World: world, Devices: []device.Properties{{Backend: "sim", Name: "NVIDIA H200", Capability: 9}}}
	ranks := func(from, step, n int) (list []int) {
		for i := range n {
			list = append(list, from+i*step)
		}
		return list
	}
	hsdp := run // 150 groups that shard, 8 whose members hold the same shards, and all but the number of a group
	for i := range world / 8 {
		hsdp.Groups = append(hsdp.Groups, device.Group{Name: fmt.Sprint(1 + i), Comment: "mesh_dp_shard",
			Ranks: ranks(8*i, 1, 8)})
	}
	for i := range 8 {
		hsdp.Groups = append(hsdp.Groups, device.Group{Name: fmt.Sprint(151 + i), Comment: "mesh_dp_replicate",
			Ranks: ranks(i, 8, world/8)})
	}
	for _, c := range []struct {
		run Run
		r   *Rank
	}{
		{run, exchanged(device.Everyone(world))},
		{hsdp, exchanged(device.Everyone(world), hsdp.Groups[0], hsdp.Groups[150])},
	} {
		template, err := c.r.Template(c.run)
		if err != nil || template == nil {
			t.Fatal(template, err)
		}
		for _, rank := range []int{0, 1, 7, 8, 10, 99, 1000, world - 1} {
			var want, got bytes.Buffer
			err := errors.Join(chrome.Write(&want, c.r.TraceAs(rank, c.run)), template.Write(&got, rank))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want.Bytes()) {
				t.Errorf("%d groups, rank %d:\n%s\nwant\n%s", len(c.run.Groups), rank, got.Bytes(), want.Bytes())
			}
		}
	}
}

// A text in which the digits of a hole happen to stand is no template.
func TestNoTemplate(t *testing.T) {
	run := Run{World: 4, Devices: []device.Properties{{Backend: "sim", Capability: 9}}}
	r := NewIn(1, 0, All)
	step(r, 0)
	r.Memory(device.MemoryEvent{Time: 8, Bytes: noRank})
	if template, err := r.Template(run); template != nil || err != nil {
		t.Error(template, err)
	}
	half, others, more := []int{0, 1}, []int{2, 3}, []int{1, 2, 3}
	for name, groups := range map[string][]device.Group{
		"of some ranks": {{Name: "1", Comment: "mesh", Ranks: half}},
		"two of a kind": {{Name: "1", Comment: "mesh", Ranks: []int{0, 1, 2, 3}}, {Name: "2", Comment: "mesh",
			Ranks: []int{0, 1, 2, 3}}},
		"of other kinds": {{Name: "1", Comment: "mesh", Ranks: half}, {Name: "2", Comment: "pipe", Ranks: others}},
		"of other sizes": {{Name: "1", Comment: "mesh", Ranks: half[:1]}, {Name: "2", Comment: "mesh", Ranks: more}},
	} {
		run.Groups = groups
		if template, err := New(0, All).Template(run); template != nil || err != nil {
			t.Error(name, template, err)
		}
	}
}
