package facts

import (
	"slices"
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// Message is one collective on a device: a communication kernel and what the
// record_param_comms around its launch says of it.
type Message struct {
	Row               int32
	Device            int
	Kind              Collective
	Start             int64 // ns
	End               int64
	Described         int32 // row of the record_param_comms around its launch, -1 none
	Launch            int32 // row of the host call, -1 unlinked
	Step              int   // index of the step of its launch, -1 unknown
	Site              LaunchSite
	Bytes             int64 // the larger side of the message, as nccl-tests counts; -1 unknown
	InElems, OutElems int64 // 0 unknown
	Dtype             string
	Group             string // process group name
	Size              int64  // ranks in the group, 0 unknown
	Seq               int64  // sequence number in the group, -1 unknown
	Members           string // "Process Group Ranks" as written, shortened by PyTorch above 30; "" unknown
}

// isCompute tells kernels from copies and sets; communication is neither.
func (c *computer) isCompute(row int32) bool { return c.col.Cat[row] == trace.CatKernel }

// collectiveOf is the kind of the i-th event of d. The kernel's name decides; where
// it does not tell (Generic) or only tells the transport (SendRecv), the message does.
func (c *computer) collectiveOf(d *Device, i int) Collective {
	row := d.Rows[i]
	id := c.col.Name[row]
	if c.col.Cat[row] != trace.CatKernel || !c.names.is(id, communication) {
		return NotCommunication
	}
	kind := c.names.kind[id]
	if kind != UnknownCollective && kind != SendRecv {
		return kind
	}
	if m, ok := c.message(row, d.Launch[i]); ok {
		if k := kindOf(c.t.Event(int(m)).ArgText(trace.KeyCollective)); k != NotCommunication {
			return k
		}
	}
	return kind
}

// message is the row that describes the message of a kernel: the kernel itself in
// recent versions, else the record_param_comms around its launch.
func (c *computer) message(kernel, launch int32) (int32, bool) {
	if _, ok := c.t.Event(int(kernel)).Arg(trace.KeyCollective); ok {
		return kernel, true
	}
	found := int32(-1)
	if launch >= 0 {
		c.stack(launch, func(span int32) bool {
			if c.names.is(c.col.Name[span], collectiveSpan) {
				if _, ok := c.t.Event(int(span)).Arg(trace.KeyCollective); ok {
					found = span
					return false
				}
			}
			return true
		})
	}
	return found, found >= 0
}

// spanAround is the record_param_comms around a launch, or -1.
func (c *computer) spanAround(launch int32) int32 {
	found := int32(-1)
	c.stack(launch, func(span int32) bool {
		if c.names.is(c.col.Name[span], collectiveSpan) && c.t.String(c.col.Name[span]) == "record_param_comms" {
			found = span
			return false
		}
		return true
	})
	return found
}

// collect lists the collectives of a rank in order of start on each device.
func (c *computer) collect(r *Rank) {
	n := 0
	for _, d := range r.Devices {
		for _, kind := range d.kind {
			n += oneIf(kind != NotCommunication)
		}
	}
	r.Messages = make([]Message, 0, n)
	sites := make(map[int32]LaunchSite, n)
	for dev, d := range r.Devices {
		for i, kind := range d.kind {
			if kind != NotCommunication {
				r.Messages = append(r.Messages, c.collective(r, dev, i, sites))
			}
		}
	}
}

// collective is the collective that the i-th event of a device is; sites are those of
// launches that were asked for before.
func (c *computer) collective(r *Rank, dev, i int, sites map[int32]LaunchSite) Message {
	d := r.Devices[dev]
	row := d.Rows[i]
	m := Message{Row: row, Device: dev, Kind: d.kind[i], Start: c.col.Start[row], End: c.col.Start[row] + c.col.Dur[row],
		Launch: d.Launch[i], Step: -1, Site: unknownSite, Bytes: -1, Seq: -1, Described: -1}
	if m.Launch >= 0 {
		m.Step = r.StepAt(c.col.Start[m.Launch])
		site, known := sites[m.Launch]
		if !known {
			site = c.siteOf(m.Launch)
			sites[m.Launch] = site
		}
		m.Site = site
		m.Described = c.spanAround(m.Launch)
	}
	if described, ok := c.message(row, m.Launch); ok {
		m.describe(c.t.Event(int(described)))
	}
	return m
}

// describe copies what an event says of a message.
func (m *Message) describe(e trace.Event) {
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
			m.Size = a.Num
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
