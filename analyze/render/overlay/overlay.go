// Package overlay puts the findings of a report into a Chrome trace, as a process of their own
// whose slices are the evidence, for viewers of traces. The trace is copied as it is, byte by
// byte while it is read, whatever its size.
package overlay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
)

// Process is the number of the process that the findings are. Linux numbers processes up to 2^22.
const Process = 1_900_000_000

// slice is a complete event.
type slice struct {
	name       string
	start, end int64 // ns
	args       map[string]any
}

// Events are the findings with evidence on a rank, and the steps of its first device, as
// events of a Chrome trace with commas between them; nil where there is nothing to show.
func Events(r *report.Report, rank int64) []byte {
	var w writer
	w.steps(r, rank)
	for i := range r.Findings {
		w.finding(&r.Findings[i], rank)
	}
	if w.tracks == 0 {
		return nil
	}
	w.event(map[string]any{"ph": "M", "name": "process_name", "pid": Process, "tid": 0,
		"args": map[string]any{"name": "gaprof: findings"}})
	w.event(map[string]any{"ph": "M", "name": "process_sort_index", "pid": Process, "tid": 0,
		"args": map[string]any{"sort_index": -1}})
	return w.text.Bytes()
}

// writer writes events.
type writer struct {
	text   bytes.Buffer
	tracks int // written so far
}

func (w *writer) event(e map[string]any) {
	if w.text.Len() > 0 {
		w.text.WriteString(",\n")
	}
	text, err := json.Marshal(e) // sorted keys, and no value in it that has no JSON form
	if err != nil {
		panic(err)
	}
	w.text.Write(escape.JSON(text))
}

// track writes slices as threads of one name: as many as have to stand beside each other, because
// slices of a thread may not overlap.
func (w *writer) track(name string, list []slice) {
	slices.SortStableFunc(list, func(a, b slice) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	var ends []int64
	for _, s := range list {
		lane := slices.IndexFunc(ends, func(end int64) bool { return end <= s.start })
		if lane < 0 {
			lane = len(ends)
			ends = append(ends, 0)
			tid := w.tracks + lane + 1
			w.event(map[string]any{"ph": "M", "name": "thread_name", "pid": Process, "tid": tid,
				"args": map[string]any{"name": name}})
			w.event(map[string]any{"ph": "M", "name": "thread_sort_index", "pid": Process, "tid": tid,
				"args": map[string]any{"sort_index": tid}})
		}
		ends[lane] = max(s.end, s.start+1)
		w.event(map[string]any{"ph": "X", "cat": "gaprof", "name": s.name, "pid": Process, "tid": w.tracks + lane + 1,
			"ts": micros(s.start), "dur": micros(max(0, s.end-s.start)), "args": s.args})
	}
	w.tracks += len(ends)
}

// micros are ns as the unit of Chrome traces, without a float in between.
func micros(ns int64) json.RawMessage {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	return json.RawMessage(fmt.Sprintf("%s%d.%03d", sign, ns/1000, ns%1000))
}

func (w *writer) steps(r *report.Report, rank int64) {
	var list []slice
	device := ""
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Rank != rank || s.Start == nil || s.Duration == nil || device != "" && s.Device != device {
			continue
		}
		device = s.Device
		args := map[string]any{"kind": s.Kind, "complete": s.Complete, "device": s.Device}
		if l := s.Ledger; l != nil {
			args["ledger_ns"] = l
		}
		list = append(list, slice{fmt.Sprintf("step %d (%s)", s.Index, s.Kind), *s.Start, *s.Start + *s.Duration, args})
	}
	w.track("steps of the device", list)
}

func (w *writer) finding(f *report.Finding, rank int64) {
	args := map[string]any{"rule": f.Rule, "severity": f.Severity, "message": f.Message, "fix": f.Fix}
	if f.Why != "" {
		args["why"] = f.Why
	}
	if f.Cost != nil {
		args["cost_ns_per_step"] = *f.Cost
	}
	if f.Saving != nil {
		args["saving_ns_per_step"] = f.Saving
	}
	if f.Change != nil {
		args["before"], args["after"] = f.Change.Before, f.Change.After
	}
	var list []slice
	for _, e := range f.Evidence {
		if e.Rank != rank {
			continue
		}
		own := map[string]any{"event": e.Name, "track": e.Track}
		for k, v := range args {
			own[k] = v
		}
		list = append(list, slice{f.Rule + " " + e.Name, e.Start, e.Start + e.Duration, own})
	}
	w.track(f.Rule+" "+string(f.Severity)+": "+f.Message, list)
}

// Merge copies a Chrome trace and puts events at the beginning of its list. ok is false, and
// nothing was written, where its first megabytes do not look like a list of events: it then needs
// to be converted.
func Merge(w io.Writer, r io.Reader, events []byte) (ok bool, err error) {
	head := make([]byte, mostHead)
	n, err := io.ReadFull(r, head)
	head = head[:n]
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	at := listAt(head)
	if at < 0 {
		return false, nil
	}
	parts := []io.Reader{bytes.NewReader(head[:at]), bytes.NewReader(events)}
	if rest := bytes.TrimLeft(head[at:], " \t\r\n"); len(events) > 0 && (len(rest) == 0 || rest[0] != ']') {
		parts = append(parts, bytes.NewReader([]byte(",\n")))
	}
	_, err = io.Copy(w, io.MultiReader(append(parts, bytes.NewReader(head[at:]), r)...))
	return true, err
}

// mostHead is how far the list of events may lie from the beginning of a trace.
const mostHead = 4 << 20

// listAt returns where the elements of the list of events begin, -1 where there is none: the text
// is a list itself, or an object with the key traceEvents.
func listAt(head []byte) int {
	text := bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	d := json.NewDecoder(bytes.NewReader(text))
	skipped := len(head) - len(text)
	open, err := d.Token()
	if err != nil {
		return -1
	}
	if open == json.Delim('[') {
		return skipped + int(d.InputOffset())
	}
	if open != json.Delim('{') {
		return -1
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return -1
		}
		if key == "traceEvents" {
			if value, err := d.Token(); err != nil || value != json.Delim('[') {
				return -1
			}
			return skipped + int(d.InputOffset())
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return -1
		}
	}
	return -1
}
