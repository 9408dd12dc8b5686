package text

import "github.com/gaprof/gaprof/trace"

// aliases are the short names of the arguments that analyses ask for.
var aliases = []struct {
	name string
	key  trace.Key
}{
	{"device", trace.KeyDevice},
	{"stream", trace.KeyStream},
	{"bytes", trace.KeyBytes},
	{"dims", trace.KeyInputDims},
	{"type", trace.KeyInputType},
	{"concrete", trace.KeyConcreteInputs},
	{"coll", trace.KeyCollective},
	{"in", trace.KeyInElems},
	{"out", trace.KeyOutElems},
	{"dtype", trace.KeyDtype},
	{"gsize", trace.KeyGroupSize},
	{"group", trace.KeyGroupName},
	{"gdesc", trace.KeyGroupDesc},
	{"granks", trace.KeyGroupRanks},
	{"rank", trace.KeyRank},
	{"seq", trace.KeySeq},
	{"size", trace.KeyMemoryBytes},
	{"addr", trace.KeyAddress},
	{"devid", trace.KeyMemoryDevice},
	{"devtype", trace.KeyMemoryDeviceType},
	{"allocated", trace.KeyTotalAllocated},
	{"reserved", trace.KeyTotalReserved},
	{"comms", trace.KeyCommsID},
	{"graph", trace.KeyGraphID},
	{"node", trace.KeyGraphNode},
	{"module", trace.KeyModule},
	{"phase", trace.KeyAutogradPhase},
	{"grid", trace.KeyGrid},
	{"src", trace.KeySrcRank},
	{"dst", trace.KeyDstRank},
}

var aliasKeys, keyAliases = func() (map[string]trace.Key, map[trace.Key]string) {
	keys, names := make(map[string]trace.Key), make(map[trace.Key]string)
	for _, a := range aliases {
		keys[a.name], names[a.key] = a.key, a.name
	}
	return keys, names
}()
