package kineto

import (
	"strconv"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/record"
)

// callbackIDs are CUPTI's ids of runtime calls, which Kineto records with their names.
var callbackIDs = map[string]int64{
	"cudaLaunchKernel": 211, "cudaMemcpyAsync": 41, "cudaMemsetAsync": 51,
	"cudaEventRecord": 135, "cudaStreamWaitEvent": 147,
	"cudaMalloc": 20, "cudaFree": 22,
	"cudaStreamSynchronize": 131, "cudaEventSynchronize": 137, "cudaDeviceSynchronize": 165,
}

// callArgs is the callback id of a runtime call; 0 for none.
type callArgs int64

func (a callArgs) Write(w *record.ArgWriter) {
	if a != 0 {
		w.Int("cbid", int64(a))
	}
}

// spanArgs are the inputs of an operator and, for record_param_comms, the message.
type spanArgs struct {
	operands []device.Operand
	message  *device.Message
}

func (a *spanArgs) Write(w *record.ArgWriter) {
	if a.message != nil {
		messageArgs(w, a.message)
		if a.message.Rank != device.UnknownRank {
			w.Int("Rank", int64(a.message.Rank))
		}
	}
	if len(a.operands) == 0 {
		return
	}
	var room [3][128]byte
	dims, types, values := room[0][:0], room[1][:0], room[2][:0] // each item ends in a comma
	given := false
	for _, o := range a.operands {
		dims = append(appendDims(dims, o), ',')
		types = append(strconv.AppendQuote(types, o.Type), ',')
		values = append(strconv.AppendQuote(values, o.Value), ',')
		given = given || o.Value != ""
	}
	w.List("Input Dims", dims)
	w.List("Input type", types)
	if given {
		w.List("Concrete Inputs", values)
	}
}

func appendDims(out []byte, o device.Operand) []byte {
	if o.List == nil {
		return appendShape(out, o.Shape, ",")
	}
	out = append(out, '[')
	for i, shape := range o.List {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendShape(out, shape, ",")
	}
	return append(out, ']')
}

func appendShape(out []byte, shape []int, comma string) []byte {
	out = append(out, '[')
	for i, n := range shape {
		if i > 0 {
			out = append(out, comma...)
		}
		out = strconv.AppendInt(out, int64(n), 10)
	}
	return append(out, ']')
}

// messageArgs writes a message as record_param_comms does.
func messageArgs(w *record.ArgWriter, m *device.Message) {
	w.Text("Collective name", m.Name)
	w.Int("In msg nelems", int64(m.In))
	w.Int("Out msg nelems", int64(m.Out))
	w.Int("Group size", int64(m.GroupSize))
	w.Text("dtype", m.DType)
	w.Text("Process Group Name", m.Group)
	w.Text("Process Group Description", m.GroupComment)
	w.Text("Process Group Ranks", string(appendShape(nil, m.Ranks, ", ")))
	w.Int("Seq", m.Seq)
}

// deviceArgs are the arguments of an operation on a stream. There is one for every kernel
// in a recording, so it keeps no more of the event than it writes.
type deviceArgs struct {
	device   int
	kind     trace.Cat
	stream   int
	bytes    int64
	flops    int64
	duration int64 // ns
	message  *device.Message
}

func (a *deviceArgs) Write(w *record.ArgWriter) {
	if a.kind == trace.CatKernel {
		w.Int("queued", 0)
	}
	w.Int("device", int64(a.device))
	w.Int("context", 1)
	w.Int("stream", int64(a.stream))
	switch {
	case a.kind != trace.CatKernel:
		w.Int("bytes", a.bytes)
		if a.duration > 0 { // bytes/ns are GB/s
			w.JSON("memory bandwidth (GB/s)", strconv.FormatFloat(float64(a.bytes)/float64(a.duration), 'f', 3, 64))
		}
	case a.message != nil:
		messageArgs(w, a.message)
	default:
		w.Int("flops", a.flops)
		w.Int("bytes", a.bytes)
	}
}

// syncArgs are the arguments of a wait.
type syncArgs struct {
	device int
	e      device.SyncEvent
}

func (a *syncArgs) Write(w *record.ArgWriter) {
	w.Text("cuda_sync_kind", a.e.Kind)
	if a.e.WaitStream >= 0 {
		w.Int("wait_on_stream", int64(a.e.WaitStream))
		w.Int("wait_on_cuda_event_record_corr_id", a.e.EventRecord)
		w.Int("wait_on_cuda_event_id", a.e.EventRecord)
	}
	w.Int("stream", int64(a.e.Stream))
	w.Int("device", int64(a.device))
	w.Int("context", 1)
	if a.e.Kind == device.StreamWait { // the event itself has no duration
		w.Int("waited (ns)", a.e.End-a.e.Start)
	}
}

// memoryArgs are the arguments of an allocation or a release.
type memoryArgs struct {
	device int
	e      device.MemoryEvent
}

func (a *memoryArgs) Write(w *record.ArgWriter) {
	w.Int("Total Reserved", a.e.Reserved)
	w.Int("Total Allocated", a.e.Allocated)
	w.Int("Bytes", a.e.Bytes)
	w.Int("Addr", a.e.Addr)
	w.Int("Device Id", int64(a.device))
	w.Int("Device Type", 1) // CUDA
}
