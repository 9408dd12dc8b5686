package kineto

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome"
)

// step tells a rank of a training step as a device does: an operator that launches a
// kernel, which runs after the host has gone on to the next step.
func step(r *Rank, n int) {
	at, corr := int64(1000*n), int64(n+1)
	r.Begin(n)
	r.Host(device.HostEvent{Name: "cudaLaunchKernel", Start: at + 2, End: at + 5, Correlation: corr, External: corr})
	r.Span(device.Span{Cat: "cpu_op", Name: "aten::mm", Start: at + 1, End: at + 6, External: corr})
	r.Memory(device.MemoryEvent{Time: at + 3, Bytes: 512})
	if n > 0 {
		r.Device(device.DeviceEvent{Kind: device.KindKernel, Name: "k", Stream: 7, Start: at + 100, End: at + 200,
			Correlation: corr - 1})
	}
}

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		window Window
		want   string // correlations of kernels, and memory events
	}{
		{All, "1 2 3 4 | 5"},
		{Window{From: 1, To: 3}, "2 3 | 2"},
		{Window{From: 4, To: 5}, "| 1"},
		{Window{From: 9, To: 12}, "| 0"},
		{Window{To: All.To, Last: 2}, "4 | 2"},
		{Window{To: All.To, Last: 1}, "| 1"},
		{Window{To: All.To, Last: 9}, "1 2 3 4 | 5"},
	} {
		r := New(0, c.window)
		r.Device(device.DeviceEvent{Kind: device.KindKernel, Name: "before", Stream: 7, Correlation: 1})
		for n := range 5 {
			step(r, n)
		}
		tr := r.Trace(Run{World: 1, Devices: []device.Properties{{}}})
		var kernels []string
		memory := 0
		for i := range tr.Len() {
			switch e := tr.Event(i); {
			case e.Cat() == trace.CatKernel && e.Name() == "k":
				kernels = append(kernels, fmt.Sprint(e.Corr()))
			case e.Cat() == trace.CatCPUInstant:
				memory++
			}
		}
		if got := strings.TrimSpace(fmt.Sprintf("%s | %d", strings.Join(kernels, " "), memory)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.window, got, c.want)
		}
	}
}

// TestWritten: every kind of event as it stands in a file.
func TestWritten(t *testing.T) {
	r := New(1, All)
	message := &device.Message{Name: "_reduce_scatter_base", In: 8, Out: 4, DType: "Float", GroupSize: 2, Rank: 1,
		Ranks: []int{0, 1}, Seq: 3, Group: "0", GroupComment: "default_pg"}
	const at = 5_000_000_000
	r.Begin(0)
	r.Span(device.Span{Cat: "cpu_op", Name: "record_param_comms", Start: at, End: at + 900, External: 2,
		Message: message, Operands: []device.Operand{{Shape: []int{8}, Type: "float"}}})
	r.Span(device.Span{Cat: "cpu_op", Name: "aten::_foreach_mul_", Start: at + 1000, End: at + 1900, External: 4,
		Operands: []device.Operand{{List: [][]int{{2, 3}, {4}}, Type: "TensorList"}, {Type: "Scalar", Value: "0.5"},
			{}}})
	r.Span(device.Span{Cat: "user_annotation", Name: "nccl:_reduce_scatter_base", Start: at + 10, End: at + 800,
		External: 3})
	r.Host(device.HostEvent{Name: "cudaLaunchKernel", Start: at + 20, End: at + 30, Correlation: 7, External: 3})
	r.Host(device.HostEvent{Name: "cudaMemcpyAsync", Start: at + 1920, End: at + 1930, Correlation: 8})
	r.Host(device.HostEvent{Name: "cudaStreamWaitEvent", Start: at + 1940, End: at + 1950, Correlation: 9})
	r.Host(device.HostEvent{Name: "cudaEventSynchronize", Start: at + 1960, End: at + 1990, Correlation: 10})
	r.Device(device.DeviceEvent{Kind: device.KindKernel, Name: "ncclKernel_ReduceScatter_Sum_f32_gaprof_pull",
		Stream: 20, Start: at + 2000, End: at + 3000, Correlation: 7, External: 3, Message: message})
	r.Device(device.DeviceEvent{Kind: device.KindMemcpy, Name: "Memcpy DtoD (Device -> Device)", Stream: 7,
		Start: at + 2000, End: at + 2010, Correlation: 8, Bytes: 1000})
	r.Sync(device.SyncEvent{Kind: device.StreamWait, Stream: 7, WaitStream: 20, EventRecord: 6, Correlation: 9,
		Start: at + 3000, End: at + 3010})
	r.Sync(device.SyncEvent{Kind: device.EventSync, Stream: -1, WaitStream: 7, EventRecord: 6, Correlation: 10,
		Start: at + 1960, End: at + 1990})
	r.Memory(device.MemoryEvent{Time: at + 40, Addr: 512, Bytes: -512, Allocated: 1024, Reserved: 2048})
	tr := r.Trace(Run{World: 2, Devices: []device.Properties{{Backend: "cpu", Name: "a \"cpu\""}, {Backend: "cpu",
		Name: "b", Memory: 5, SMs: 2}}, BaseTime: at, Options: map[string]int{"seed": 1}})
	var b bytes.Buffer
	if err := chrome.Write(&b, tr); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	coll := `"Collective name": "_reduce_scatter_base", "In msg nelems": 8, "Out msg nelems": 4, "Group size": 2, ` +
		`"dtype": "Float", "Process Group Name": "0", ` +
		`"Process Group Description": "default_pg", "Process Group Ranks": "[0, 1]", "Seq": 3`
	pid := fmt.Sprint(tracks(int64(os.Getpid()), 1)[hostTrack].PID)
	host := `"pid": ` + pid + `, "tid": ` + pid
	for _, want := range []string{
		`"distributedInfo": {"backend": "gaprof", "rank": 1, "world_size": 2, "pg_count": 1, ` +
			`"pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cpu:gaprof", ` +
			`"pg_size": 2, "ranks": [0, 1]}]}`,
		`{"id": 0, "name": "a \"cpu\"", "totalGlobalMem": 0`, `"baseTimeNanoseconds": 5000000000`,
		`"gaprof": {"seed": 1}`,
		`"cat": "cpu_op", "name": "record_param_comms", ` + host + `, "ts": 0.000, "dur": 0.900, ` +
			`"args": {"External id": 2, ` + coll + `, "Rank": 1, "Input Dims": [[8]], "Input type": ["float"]}`,
		`"args": {"External id": 4, "Input Dims": [[[2, 3], [4]], [], []], "Input type": ["TensorList", "Scalar", ` +
			`""], "Concrete Inputs": ["", "0.5", ""]}`,
		`{"ph": "X", "cat": "user_annotation", "name": "nccl:_reduce_scatter_base", ` + host,
		`"name": "cudaLaunchKernel", ` + host + `, "ts": 0.020, "dur": 0.010, "args": {"External id": 3, ` +
			`"correlation": 7, "cbid": 211}`,
		`{"ph": "s", "id": 7, "cat": "ac2g", "name": "ac2g", ` + host + `, "ts": 0.020}`,
		`{"ph": "f", "id": 7, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 20, "ts": 2.000, "bp": "e"}`,
		`"name": "ncclKernel_ReduceScatter_Sum_f32_gaprof_pull", "pid": 1, "tid": 20, "ts": 2.000, "dur": 1.000, ` +
			`"args": {"External id": 3, "correlation": 7, "queued": 0, "device": 1, "context": 1, "stream": 20, ` +
			coll + `}`,
		`{"ph": "X", "cat": "gpu_user_annotation", "name": "nccl:_reduce_scatter_base", "pid": 1, "tid": 20, ` +
			`"ts": 1.999, "dur": 1.002, "args": {"External id": 3}}`,
		`"args": {"correlation": 8, "device": 1, "context": 1, "stream": 7, "bytes": 1000, ` +
			`"memory bandwidth (GB/s)": 100.000}`,
		`"cat": "cuda_sync", "name": "Stream Wait Event", "pid": 1, "tid": 7, "ts": 3.000, "dur": 0.000, ` +
			`"args": {"correlation": 9, "cuda_sync_kind": "Stream Wait Event", "wait_on_stream": 20, ` +
			`"wait_on_cuda_event_record_corr_id": 6, "wait_on_cuda_event_id": 6, "stream": 7, "device": 1, ` +
			`"context": 1, "waited (ns)": 10}`,
		`"cat": "cuda_sync", "name": "Event Sync", "pid": 1, "tid": -1`,
		`{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", ` + host + `, "ts": 0.040, "s": "t", ` +
			`"args": {"Total Reserved": 2048, "Total Allocated": 1024, "Bytes": -512, "Addr": 512, ` +
			`"Device Id": 1, "Device Type": 1}}`,
		`"name": "process_labels", "ts": 0.000, "pid": 1, "tid": -1, "args": {"labels": "GPU 1"}`,
		`"args": {"name": "stream 20 "}`,
		`"name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler"`,
		`{"ph": "i", "name": "Record Window End", "pid": "", "tid": "", "ts": 3.001, "s": "g"}`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("not written: %s", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestMoreStreams: streams beyond the two of the trainer have tracks of their own, and
// the track of the host's waits is left to waits.
func TestMoreStreams(t *testing.T) {
	r := New(0, All)
	r.Begin(0)
	for i, stream := range []int{7, 20, 22, 23, 22} {
		corr, at := int64(i+1), int64(100*i)
		r.Host(device.HostEvent{Name: "cudaLaunchKernel", Start: at, End: at + 5, Correlation: corr})
		r.Device(device.DeviceEvent{Kind: device.KindKernel, Name: "k", Stream: stream, Start: at + 10, End: at + 90,
			Correlation: corr})
	}
	r.Host(device.HostEvent{Name: "cudaStreamWaitEvent", Start: 500, End: 505, Correlation: 9})
	r.Sync(device.SyncEvent{Kind: device.StreamWait, Stream: 23, WaitStream: 22, Correlation: 9, Start: 510, End: 520})
	tr := r.Trace(Run{World: 1, Devices: []device.Properties{{}}})
	on := make(map[string][]string)
	for i := range tr.Len() {
		if e := tr.Event(i); e.Cat() == trace.CatKernel || e.Cat() == trace.CatCUDASync {
			on[e.Track().TID] = append(on[e.Track().TID], e.Name())
		}
	}
	want := map[string][]string{"7": {"k"}, "20": {"k"}, "22": {"k", "k"}, "23": {"k", "Stream Wait Event"}}
	if !maps.EqualFunc(on, want, slices.Equal) {
		t.Errorf("events by stream %v, want %v", on, want)
	}
	var b bytes.Buffer
	if err := chrome.Write(&b, tr); err != nil {
		t.Fatal(err)
	}
	if want := `"args": {"name": "stream 22 "}`; !strings.Contains(b.String(), want) {
		t.Errorf("not written: %s", want)
	}
}

// A trace lists the groups that its rank is in.
func TestGroups(t *testing.T) {
	r := New(2, All)
	step(r, 0)
	tr := r.Trace(Run{World: 4, Devices: make([]device.Properties, 4), Groups: []device.Group{
		{Name: "1", Comment: "mesh_dp_shard", Ranks: []int{0, 1}},
		{Name: "2", Comment: "mesh_dp_shard", Ranks: []int{2, 3}}}})
	want := `[{0 default_pg 4 [0 1 2 3]} {2 mesh_dp_shard 2 [2 3]}]`
	if got := fmt.Sprint(tr.Meta().Distributed.Groups); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
