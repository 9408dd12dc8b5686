package timeline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// Message describes the data that a collective moves and the ranks it moves them between.
// PyTorch records it in a record_param_comms span around the launch call and, in recent
// versions, with the kernel itself. A kernel's own arguments (grid, registers) say nothing
// of the sort, so without either nothing is known.
type Message struct {
	Bytes     int64  // size of the larger side, as nccl-tests counts it; -1 unknown
	InElems   int64  // elements that this rank sends, 0 unknown
	OutElems  int64  // elements that it receives, 0 unknown
	Dtype     string // element type as PyTorch prints it, "" unknown
	Group     string // name of the process group, "" unknown
	Desc      string // description of the process group, such as default_pg or mesh_dp; "" unknown
	GroupSize int64  // ranks in the process group, 0 unknown
	Seq       int64  // sequence number within the process group, -1 unknown
	Comms     uint64 // Comms Id, which the same operation has on all ranks, 0 unknown
	Members   string // "Process Group Ranks" as written; PyTorch abbreviates lists of more than 30; "" unknown
}

// UnknownMessage is a message of which nothing was recorded.
var UnknownMessage = Message{Bytes: -1, Seq: -1}

// MessageOf reads the message of a communication kernel, given the row of its launch call,
// -1 for none. Texts are pieces of the trace's memory.
func (x *Rows) MessageOf(kernel, launch int32) Message {
	if row, ok := x.messageRow(kernel, launch); ok {
		return x.MessageAt(row)
	}
	return UnknownMessage
}

// messageRow returns the row that describes the message of a kernel: the kernel itself in
// recent versions, else the innermost record_param_comms around its launch call.
func (x *Rows) messageRow(kernel, launch int32) (int32, bool) {
	if _, ok := x.Trace.Event(int(kernel)).Arg(trace.KeyCollective); ok {
		return kernel, true
	}
	found := int32(-1)
	if launch >= 0 {
		x.Stack(launch, func(span int32) bool {
			if x.Is(span, CollectiveSpan) {
				if _, ok := x.Trace.Event(int(span)).Arg(trace.KeyCollective); ok {
					found = span
					return false
				}
			}
			return true
		})
	}
	return found, found >= 0
}

// RecordParamComms is the name of the spans in which PyTorch describes collectives.
const RecordParamComms = "record_param_comms"

// RecordAround returns the row of the innermost record_param_comms around a launch call,
// -1 without one.
func (x *Rows) RecordAround(launch int32) int32 {
	found := int32(-1)
	x.Stack(launch, func(span int32) bool {
		if x.Is(span, CollectiveSpan) && x.Name(span) == RecordParamComms {
			found = span
			return false
		}
		return true
	})
	return found
}

// MessageAt reads the message that a row describes. Sizes are known only where both sides
// and the dtype are: a side of zero elements is a size like any other.
func (x *Rows) MessageAt(row int32) Message {
	m := UnknownMessage
	e := x.Trace.Event(int(row))
	var buffer [24]trace.Arg // on the stack: this is called for every collective
	var okIn, okOut bool
	args := e.AppendArgs(buffer[:0])
	for _, a := range slices.Backward(args) { // if a key occurs twice, the first one counts
		if text := m.text(trace.Key(a.Key)); text != nil {
			*text = e.TextOf(a)
			continue
		}
		switch a.Key {
		case trace.KeyInElems:
			m.InElems, okIn = a.Num, a.Kind == trace.Int
		case trace.KeyOutElems:
			m.OutElems, okOut = a.Num, a.Kind == trace.Int
		case trace.KeyGroupSize:
			m.GroupSize = a.Num
		case trace.KeySeq, trace.KeySeqNum:
			if a.Kind == trace.Int {
				m.Seq = max(a.Num, UnknownMessage.Seq)
			}
		case trace.KeyCommsID:
			m.Comms = commsID(e, a)
		}
	}
	if min(m.InElems, m.OutElems) < 0 || max(m.InElems, m.OutElems) > MostElements {
		m.InElems, m.OutElems, okIn = 0, 0, false
	}
	if size := DtypeBytes(m.Dtype); size > 0 && okIn && okOut {
		m.Bytes = max(m.InElems, m.OutElems) * size
	}
	return m
}

// text is the part of a message that a text argument says, nil for other arguments.
func (m *Message) text(key trace.Key) *string {
	switch key {
	case trace.KeyDtype:
		return &m.Dtype
	case trace.KeyGroupName:
		return &m.Group
	case trace.KeyGroupDesc:
		return &m.Desc
	case trace.KeyGroupRanks:
		return &m.Members
	}
	return nil
}

// commsID reads a Comms Id: the hash that PyTorch makes of what identifies an operation
// (group, sequence number, ranks), a number of 64 bits without a sign. The upper half of
// them are beyond int64 and kept as text. Whatever else stands there is unknown.
func commsID(e trace.Event, a trace.Arg) uint64 {
	if a.Kind == trace.Int {
		return uint64(a.Num)
	}
	id, err := strconv.ParseUint(e.TextOf(a), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// dtypeBytes gives the size of an element in bytes by the names that PyTorch prints for its
// types: c10::ScalarType in record_param_comms, TypeMeta in Input type, torch.dtype in
// annotations. All differ.
var dtypeBytes = map[string]int64{
	"Float": 4, "BFloat16": 2, "Half": 2, // the most frequent, found without lower-casing
	"byte": 1, "char": 1, "bool": 1, "int8": 1, "uint8": 1, "unsigned char": 1, "signed char": 1,
	"float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1,
	"short": 2, "half": 2, "bfloat16": 2, "c10::half": 2, "c10::bfloat16": 2, "short int": 2, "uint16": 2,
	"int": 4, "float": 4, "uint32": 4, "unsigned int": 4,
	"long": 8, "double": 8, "long int": 8, "uint64": 8, "complexfloat": 8, "c10::complex<float>": 8,
	"complexdouble": 16, "c10::complex<double>": 16,
	// torch.dtype, as annotations of CUDA graphs have it
	"float16": 2, "int16": 2, "float32": 4, "int32": 4, "float64": 8, "int64": 8, "complex64": 8, "complex128": 16,
}

// DtypeBytes returns the size of one element in bytes, 0 if the name is not known.
func DtypeBytes(name string) int64 {
	if size, ok := dtypeBytes[name]; ok {
		return size
	}
	return dtypeBytes[strings.ToLower(name)]
}
