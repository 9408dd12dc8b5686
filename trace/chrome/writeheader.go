package chrome

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gaprof/gaprof/trace"
)

// extras returns the header entries to write: those of the file, and the devices, the
// distributed information and the host where they did not come from one.
func (w *writer) extras() []trace.Extra {
	m := w.t.Meta()
	out := slices.Clone(m.Extra)
	has := func(key string) bool {
		return slices.ContainsFunc(out, func(e trace.Extra) bool { return e.Key == key })
	}
	if len(m.Devices) > 0 && !has("deviceProperties") {
		out = append(out, trace.Extra{Key: "deviceProperties", JSON: devicesText(m.Devices)})
	}
	if m.Distributed != nil && !has("distributedInfo") {
		out = append(out, trace.Extra{Key: "distributedInfo", JSON: distributedText(m.Distributed)})
	}
	if m.Host != "" && !has("host_name") && !has("hostname") {
		out = append(out, trace.Extra{Key: "host_name", JSON: string(appendQuoted(nil, m.Host))})
	}
	return out
}

func devicesText(devices []trace.Device) string {
	out := []byte("[")
	for i, d := range devices {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(fmt.Appendf(out, `{"id":%d,"name":`, d.ID), appendQuoted(nil, d.Name)...)
		out = fmt.Appendf(out, `,"totalGlobalMem":%d}`, d.MemoryBytes)
	}
	return string(append(out, ']'))
}

func distributedText(d *trace.Distributed) string {
	out := append([]byte(`{"backend":`), appendQuoted(nil, d.Backend)...)
	out = fmt.Appendf(out, `,"rank":%d,"world_size":%d,"pg_count":%d,"pg_config":[`, d.Rank, d.WorldSize, len(d.Groups))
	for i, g := range d.Groups {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, `{"pg_name":`...), appendQuoted(nil, g.Name)...)
		out = append(append(out, `,"pg_desc":`...), appendQuoted(nil, g.Desc)...)
		out = fmt.Appendf(out, `,"pg_size":%d,"ranks":[`, g.Size)
		for k, rank := range g.Ranks {
			if k > 0 {
				out = append(out, ',')
			}
			out = strconv.AppendInt(out, rank, 10)
		}
		out = append(out, "]}"...)
	}
	return string(append(out, "]}"...))
}
