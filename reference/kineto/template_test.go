package kineto

import (
	"bytes"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace/chrome"
)

// The text of a template is that of the trace, byte for byte, whatever digits a rank has.
func TestTemplate(t *testing.T) {
	const world = 1200
	run := Run{World: world, Devices: []device.Properties{{Backend: "sim", Name: "NVIDIA H200", Capability: 9}}}
	r := NewIn(1, 0, All)
	step(r, 0)
	group := device.Everyone(world)
	message := &device.Message{Name: "allreduce", In: 8, Out: 8, DType: "Float", GroupSize: world, Ranks: group.Ranks,
		Seq: 1, Group: group.Name, GroupComment: group.Comment}
	r.Span(device.Span{Cat: "cpu_op", Name: "record_param_comms", Start: 20, End: 30, External: 9, Message: message})
	r.Host(device.HostEvent{Name: "cudaLaunchKernel", Start: 22, End: 25, Correlation: 9, External: 9})
	r.Device(device.DeviceEvent{Kind: device.KindKernel, Name: "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", Stream: 20,
		Start: 40, End: 50, Correlation: 9, External: 9, Message: message})
	template, err := r.Template(run)
	if err != nil || template == nil {
		t.Fatal(template, err)
	}
	for _, rank := range []int{1, 7, 10, 99, 1000, world - 1} {
		var want bytes.Buffer
		if err := chrome.Write(&want, r.TraceAs(rank, run)); err != nil {
			t.Fatal(err)
		}
		if got := template.Append(nil, rank); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("rank %d:\n%s\nwant\n%s", rank, got, want.Bytes())
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
	run.Groups = []device.Group{{Name: "1", Comment: "mesh", Ranks: []int{0, 1}}}
	if template, err := New(0, All).Template(run); template != nil || err != nil {
		t.Error(template, err)
	}
}
