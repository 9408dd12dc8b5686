package trace

import "math"

// Key names an argument of an event. The constants below are the same in every
// Trace; other names get the numbers after them in order of appearance.
type Key uint16

// The arguments that the analysis asks for, by the names that Kineto writes; KeyNone is
// no argument. correlation and External id have columns of their own.
const (
	KeyNone Key = iota
	KeyCorrelation
	KeyExternalID
	KeyDevice
	KeyStream
	KeyBytes
	KeyInputDims
	KeyInputType
	KeyConcreteInputs
	KeyCollective
	KeyInElems
	KeyOutElems
	KeyDtype
	KeyGroupSize
	KeyGroupName
	KeyGroupDesc
	KeyGroupRanks
	KeyRank
	KeySeq
	KeySeqNum
	KeyCommsID
	KeyGraphID
	KeyGraphNode
	KeyModule
	KeyAutogradPhase
	KeyWaitStream
	KeyWaitRecord
	KeyGrid
	KeyName
	KeyLabels
	KeySortIndex
	KeyMemoryBytes
	KeyAddress
	KeyMemoryDevice
	KeyMemoryDeviceType
	KeyTotalAllocated
	KeyTotalReserved
	KeySrcRank
	KeyDstRank
	numFixedKeys
)

// keyNames is what each fixed key is called in files.
var keyNames = [numFixedKeys]string{
	KeyNone:           "",
	KeyCorrelation:    "correlation",
	KeyExternalID:     "External id",
	KeyDevice:         "device",
	KeyStream:         "stream",
	KeyBytes:          "bytes",
	KeyInputDims:      "Input Dims",
	KeyInputType:      "Input type",
	KeyConcreteInputs: "Concrete Inputs",
	KeyCollective:     "Collective name",
	KeyInElems:        "In msg nelems",
	KeyOutElems:       "Out msg nelems",
	KeyDtype:          "dtype",
	KeyGroupSize:      "Group size",
	KeyGroupName:      "Process Group Name",
	KeyGroupDesc:      "Process Group Description",
	KeyGroupRanks:     "Process Group Ranks",
	KeyRank:           "Rank",
	KeySeq:            "Seq",
	KeySeqNum:         "seq_num",
	KeyCommsID:        "Comms Id",
	KeyGraphID:        "graph id",
	KeyGraphNode:      "graph node id",
	KeyModule:         "module_fqn",
	KeyAutogradPhase:  "autograd_phase",
	KeyWaitStream:     "wait_on_stream",
	KeyWaitRecord:     "wait_on_cuda_event_record_corr_id",
	KeyGrid:           "grid",
	KeyName:           "name",
	KeyLabels:         "labels",
	KeySortIndex:      "sort_index",

	KeyMemoryBytes:      "Bytes",
	KeyAddress:          "Addr",
	KeyMemoryDevice:     "Device Id",
	KeyMemoryDeviceType: "Device Type",
	KeyTotalAllocated:   "Total Allocated",
	KeyTotalReserved:    "Total Reserved",
	KeySrcRank:          "Src Rank",
	KeyDstRank:          "Dst Rank",
}

// FixedKey returns the key called name; ok is false where it is not one of the constants
// above.
func FixedKey(name []byte) (k Key, ok bool) {
	k, ok = fixedKeys[string(name)]
	return k, ok
}

var fixedKeys = func() map[string]Key {
	m := make(map[string]Key, numFixedKeys)
	for k := KeyNone + 1; k < numFixedKeys; k++ {
		m[keyNames[k]] = k
	}
	return m
}()

// keyTable interns the keys of one Builder; the fixed ones come first.
type keyTable struct {
	names []string       // by Key
	index map[string]Key // of those that are not fixed; nil without any
}

func newKeyTable() keyTable { return keyTable{names: keyNames[:numFixedKeys:numFixedKeys]} }

// intern returns the key called name, KeyNone where there are too many of them.
func (t *keyTable) intern(name []byte) Key {
	if k, ok := fixedKeys[string(name)]; ok {
		return k
	}
	if k, ok := t.index[string(name)]; ok || len(name) == 0 || t.full() {
		return k
	}
	if t.index == nil {
		t.index = make(map[string]Key)
	}
	k := Key(len(t.names))
	t.names = append(t.names, string(name))
	t.index[t.names[k]] = k
	return k
}

// full reports whether there is no number left for another key.
func (t *keyTable) full() bool { return len(t.names) > math.MaxUint16 }
