package chrome

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
)

// droppedBy reads what Kineto's own log says of device events that it lost: how many,
// and in how many lines.
func droppedBy(log []byte) (records int64, lines int) {
	var list []string
	if json.Unmarshal(log, &list) != nil {
		return 0, 0
	}
	for _, line := range list {
		_, rest, _ := strings.Cut(line, "Dropped ")
		var n int64
		if _, err := fmt.Sscanf(rest, "%d activity records", &n); err == nil && n > 0 {
			records += n
			lines++
		} else if strings.Contains(line, "Exceeded max GPU buffer count") {
			lines++
		}
	}
	return records, lines
}

// devices reads deviceProperties; what is not as expected is left empty.
func devices(text []byte) []trace.Device {
	var list []map[string]any
	if decode(text, &list) != nil {
		return nil
	}
	var out []trace.Device
	for _, p := range list {
		name, _ := p["name"].(string)
		out = append(out, trace.Device{ID: integerOf(p["id"]), Name: name, MemoryBytes: integerOf(p["totalGlobalMem"])})
	}
	return out
}

// distributed reads distributedInfo; it is nil where that does not name a rank.
func distributed(text []byte) *trace.Distributed {
	var info map[string]any
	if decode(text, &info) != nil {
		return nil
	}
	if _, ok := info["rank"]; !ok {
		return nil
	}
	backend, _ := info["backend"].(string)
	out := &trace.Distributed{Backend: backend, Rank: integerOf(info["rank"]), WorldSize: integerOf(info["world_size"])}
	groups, _ := info["pg_config"].([]any)
	for _, g := range groups {
		p, _ := g.(map[string]any)
		if p == nil {
			continue
		}
		out.Groups = append(out.Groups, group(p))
	}
	return out
}

func group(p map[string]any) trace.ProcessGroup {
	desc, _ := p["pg_desc"].(string)
	g := trace.ProcessGroup{Name: textOf(p["pg_name"]), Desc: desc, Size: integerOf(p["pg_size"])}
	ranks, ok := p["ranks"].([]any)
	if s, isText := p["ranks"].(string); !ok && isText {
		_ = decode([]byte(s), &ranks) // some writers quote the list
	}
	for _, r := range ranks {
		g.Ranks = append(g.Ranks, integerOf(r))
	}
	return g
}

func decode(text []byte, to any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return dec.Decode(to)
}

// integerOf returns a number or a quoted one, 0 for anything else.
func integerOf(v any) int64 {
	n, _ := scan.Whole([]byte(textOf(v)))
	return n
}

func textOf(v any) string {
	switch v := v.(type) {
	case json.Number:
		return v.String()
	case string:
		return v
	}
	return ""
}
