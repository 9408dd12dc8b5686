package timeline

import (
	"slices"
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// Message is what a trace says of the message of a collective: a record_param_comms
// span, or the kernel itself in recent versions.
type Message struct {
	Bytes     int64  // the larger side of the message, as nccl-tests counts; -1 unknown
	InElems   int64  // elements sent by this rank, 0 unknown
	OutElems  int64  // elements received, 0 unknown
	Dtype     string // "" unknown
	Group     string // process group name, "" unknown
	GroupSize int64  // ranks in the group, 0 unknown
	Seq       int64  // sequence number in the group, -1 unknown
	Members   string // "Process Group Ranks" as written, shortened by PyTorch above 30; "" unknown
}

// UnknownMessage is a message of which nothing was recorded.
var UnknownMessage = Message{Bytes: -1, Seq: -1}

// MessageOf reads the message of a communication kernel with its launch, -1 for none.
// Texts are pieces of the trace's own memory.
func (x *Rows) MessageOf(kernel, launch int32) Message {
	if row, ok := x.messageRow(kernel, launch); ok {
		return x.MessageAt(row)
	}
	return UnknownMessage
}

// messageRow is the row that describes the message of a kernel: the kernel itself in
// recent versions, else the record_param_comms around its launch.
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

// RecordAround is the record_param_comms around a launch, or -1.
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

// MessageAt reads the message that a row describes.
func (x *Rows) MessageAt(row int32) Message {
	m := UnknownMessage
	e := x.Trace.Event(int(row))
	var room [24]trace.Arg
	var okIn, okOut bool
	args := e.AppendArgs(room[:0])
	for _, a := range slices.Backward(args) { // of an argument that stands there twice the first counts
		switch a.Key {
		case trace.KeyInElems:
			m.InElems, okIn = a.Num, a.Kind == trace.Int
		case trace.KeyOutElems:
			m.OutElems, okOut = a.Num, a.Kind == trace.Int
		case trace.KeyGroupSize:
			m.GroupSize = a.Num
		case trace.KeyDtype:
			m.Dtype = e.TextOf(a)
		case trace.KeyGroupName:
			m.Group = e.TextOf(a)
		case trace.KeyGroupRanks:
			m.Members = e.TextOf(a)
		case trace.KeySeq:
			if a.Kind == trace.Int {
				m.Seq = a.Num
			}
		}
	}
	if size := DtypeBytes(m.Dtype); size > 0 && okIn && okOut && m.InElems >= 0 && m.OutElems >= 0 {
		m.Bytes = max(m.InElems, m.OutElems) * size
	}
	return m
}

// dtypeBytes gives the element sizes of PyTorch's scalar types, by the names that
// record_param_comms (c10::ScalarType) and Input type (TypeMeta) print.
var dtypeBytes = map[string]int64{
	"Float": 4, "BFloat16": 2, "Half": 2, // as most messages say
	"byte": 1, "char": 1, "bool": 1, "int8": 1, "uint8": 1, "unsigned char": 1, "signed char": 1,
	"float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1,
	"short": 2, "half": 2, "bfloat16": 2, "c10::half": 2, "c10::bfloat16": 2, "short int": 2, "uint16": 2,
	"int": 4, "float": 4, "uint32": 4, "unsigned int": 4,
	"long": 8, "double": 8, "long int": 8, "uint64": 8, "complexfloat": 8, "c10::complex<float>": 8,
	"complexdouble": 16, "c10::complex<double>": 16,
}

// DtypeBytes is the size of one element in bytes, 0 where the name is not known.
func DtypeBytes(name string) int64 {
	if size, ok := dtypeBytes[name]; ok {
		return size
	}
	return dtypeBytes[strings.ToLower(name)]
}
