package chrome

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// maxExtra is the length in bytes beyond which a header entry is not kept.
const maxExtra = 16 << 20

// header takes over one entry of the header. Entries of which the model holds
// only a part are kept as a whole as well.
func (d *reader) header(key string, t token.Token) {
	m := d.b.Meta()
	switch key {
	case "baseTimeNanoseconds":
		d.kineto = true
		if v, ok := d.wholeNumber(t); ok {
			m.BaseTime = v
			return
		}
	case "schemaVersion":
		d.kineto = true
		return
	case "traceName":
		if t.Kind == token.Text {
			m.TraceName = string(d.Text(t))
			return
		}
	case "displayTimeUnit":
		return
	}
	if t.Kind == token.Deep {
		return
	}
	text := d.jsonText(t)
	switch key {
	case "deviceProperties":
		d.kineto = true
		m.Devices = devices(text)
	case "distributedInfo":
		d.kineto = true
		m.Distributed = distributed(text)
	case "INFO", "WARNING", "ERROR":
		d.profilerLog(text, t.Start)
	}
	if len(text) > maxExtra {
		d.Note(trace.LongString, t.Start)
		return
	}
	if json.Valid(text) {
		m.Extra = append(m.Extra, trace.Extra{Key: key, JSON: string(text)})
	}
}

func (d *reader) wholeNumber(t token.Token) (int64, bool) {
	s, ok := d.Digits(t)
	if !ok {
		return 0, false
	}
	return scan.Whole(s)
}

// jsonText returns a token as compact JSON.
func (d *reader) jsonText(t token.Token) []byte {
	start, end := t.Start, t.End
	switch t.Kind {
	case token.Text:
		start, end = start-1, end+1
	case token.Null:
		return []byte("null")
	}
	return scan.Compact(nil, d.Buf[start:end])
}

// profilerLog reads what Kineto's own log says of device events that it lost.
func (d *reader) profilerLog(text []byte, at int) {
	var lines []string
	if json.Unmarshal(text, &lines) != nil {
		return
	}
	for _, line := range lines {
		_, rest, found := strings.Cut(line, "Dropped ")
		var n int64
		if k, _ := fmt.Sscanf(rest, "%d activity records", &n); found && k == 1 && n > 0 {
			d.b.Meta().Dropped += n
			d.Note(trace.DroppedDevice, at)
		} else if strings.Contains(line, "Exceeded max GPU buffer count") {
			d.Note(trace.DroppedDevice, at)
		}
	}
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
