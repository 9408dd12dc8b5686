package kineto

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/trace"
)

// Run describes a run for the header of the traces of its ranks.
type Run struct {
	World    int                 // ranks
	Devices  []device.Properties // by rank
	BaseTime int64               // ns since the Unix epoch; times in the trace are relative to it
	Options  any                 // of the run, encoded as JSON under the key "gaprof"
	Groups   []device.Group      // besides that of all ranks

	Unnumbered bool // traces do not say whose they are
}

// deviceProperties is an entry of the header. Properties that only GPUs have are set to
// values for a device that does one thing at a time.
type deviceProperties struct {
	ID                          int    `json:"id"`
	Name                        string `json:"name"`
	TotalGlobalMem              int64  `json:"totalGlobalMem"`
	ComputeMajor                int    `json:"computeMajor"`
	ComputeMinor                int    `json:"computeMinor"`
	MaxThreadsPerBlock          int    `json:"maxThreadsPerBlock"`
	MaxThreadsPerMultiprocessor int    `json:"maxThreadsPerMultiprocessor"`
	RegsPerBlock                int    `json:"regsPerBlock"`
	WarpSize                    int    `json:"warpSize"`
	SharedMemPerBlock           int    `json:"sharedMemPerBlock"`
	NumSMs                      int    `json:"numSms"`
}

type distributedInfo struct {
	Backend   string       `json:"backend"`
	Rank      int          `json:"rank"`
	WorldSize int          `json:"world_size"`
	Count     int          `json:"pg_count"`
	Groups    []groupEntry `json:"pg_config"`
}

type groupEntry struct {
	Name    string  `json:"pg_name"`
	Desc    string  `json:"pg_desc"`
	Backend string  `json:"backend_config"`
	Size    int     `json:"pg_size"`
	Ranks   []int64 `json:"ranks"`
}

// Trace returns the trace of the rank. Recording must be over.
func (r *Rank) Trace(run Run) *trace.Trace { return r.log.Trace(r.meta(run)) }

// meta is the header of the trace.
func (r *Rank) meta(run Run) trace.Meta {
	groups := r.groups(run)
	meta := trace.Meta{Format: "kineto", BaseTime: run.BaseTime}
	for _, rank := range r.visible(run) {
		p := run.Devices[min(rank, len(run.Devices)-1)]
		meta.Devices = append(meta.Devices, trace.Device{ID: int64(rank), Name: p.Name, MemoryBytes: p.Memory})
	}
	meta.Extra = []trace.Extra{entry("deviceProperties", r.properties(run))}
	if !run.Unnumbered {
		info := r.distributed(run, groups)
		meta.Distributed = &trace.Distributed{Backend: info.Backend, Rank: int64(r.rank), WorldSize: int64(run.World),
			Groups: groups}
		meta.Extra = append(meta.Extra, entry("distributedInfo", info))
	}
	meta.Extra = append(meta.Extra, trace.Extra{Key: "record_shapes", JSON: "1"},
		trace.Extra{Key: "profile_memory", JSON: "1"}, entry("gaprof", run.Options))
	return meta
}

// visible are the devices that the rank sees: all on one host, and its own of a simulation,
// where there may be very many.
func (r *Rank) visible(run Run) []int {
	if gpu(run) {
		return []int{r.rank}
	}
	list := make([]int, run.World)
	for rank := range list {
		list[rank] = rank
	}
	return list
}

// gpu reports whether the devices are GPUs.
func gpu(run Run) bool { return run.Devices[0].Capability > 0 }

func (r *Rank) properties(run Run) []deviceProperties {
	var list []deviceProperties
	for _, rank := range r.visible(run) {
		p := run.Devices[min(rank, len(run.Devices)-1)]
		d := deviceProperties{ID: rank, Name: p.Name, TotalGlobalMem: p.Memory, MaxThreadsPerBlock: 1,
			MaxThreadsPerMultiprocessor: 1, WarpSize: 1, NumSMs: p.SMs}
		if gpu(run) {
			d.ComputeMajor, d.ComputeMinor = int(p.Capability), int(math.Round(p.Capability*10))%10
			d.MaxThreadsPerBlock, d.MaxThreadsPerMultiprocessor, d.WarpSize = 1024, 2048, 32
			d.RegsPerBlock, d.SharedMemPerBlock = 65536, 49152
		}
		list = append(list, d)
	}
	return list
}

// groups returns the process groups that the rank is in, that of all ranks first.
func (r *Rank) groups(run Run) []trace.ProcessGroup {
	var list []trace.ProcessGroup
	for _, g := range append([]device.Group{device.Everyone(run.World)}, run.Groups...) {
		if g.Index(r.rank) < 0 && r.rank != noRank {
			continue
		}
		group := trace.ProcessGroup{Name: g.Name, Desc: g.Comment, Size: int64(len(g.Ranks))}
		for _, rank := range g.Ranks {
			group.Ranks = append(group.Ranks, int64(rank))
		}
		list = append(list, group)
	}
	return list
}

// distributed describes the process groups of the rank.
func (r *Rank) distributed(run Run, groups []trace.ProcessGroup) distributedInfo {
	name, config := "gaprof", run.Devices[0].Backend+":gaprof"
	if gpu(run) {
		name, config = "nccl", "cuda:nccl"
	}
	info := distributedInfo{Backend: name, Rank: r.rank, WorldSize: run.World, Count: len(groups)}
	for _, g := range groups {
		info.Groups = append(info.Groups, groupEntry{Name: g.Name, Desc: g.Desc, Backend: config, Size: int(g.Size),
			Ranks: g.Ranks})
	}
	return info
}

// entry encodes a value for the header.
func entry(key string, value any) trace.Extra {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic("kineto: " + err.Error()) // cannot happen: values are of plain types
	}
	return trace.Extra{Key: key, JSON: string(bytes.TrimSpace(b.Bytes()))}
}
