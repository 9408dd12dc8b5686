package work

import (
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// Garbage is when Python collects garbage on any thread of the rank, because it lets no other run
// meanwhile, and the longest such span; nil where the trace shows none. Spans of Python functions
// tell it where stacks were recorded, and annotations of the program.
func Garbage(x *timeline.Rank) (when *timeline.Set, longest timeline.Event) {
	names := make(map[trace.StringID]bool)
	for id := range x.Trace.NumStrings() {
		if !x.OnDevice(trace.StringID(id)) && collectsGarbage(x.Trace.String(trace.StringID(id))) {
			names[trace.StringID(id)] = true
		}
	}
	if len(names) == 0 {
		return nil, timeline.Event{}
	}
	var spans []timeline.Span
	for _, id := range x.Host {
		track := x.Trace.Tracks()[id]
		for row := int32(track.First); row < int32(track.First+track.N); row++ {
			if names[x.Col.Name[row]] && x.Col.Phase[row] == trace.Complete && !x.Col.Cat[row].IsRuntime() {
				spans = append(spans, x.Span(row))
			}
		}
	}
	if len(spans) == 0 {
		return nil, timeline.Event{}
	}
	timeline.SortSpans(spans)
	when, best := timeline.NewSet(len(spans)), spans[0]
	for _, s := range spans {
		when.Add(s.Start, s.End)
		if s.End-s.Start > best.End-best.Start {
			best = s
		}
	}
	return when, x.Event(best.Row)
}

// collectsGarbage reports whether a name is that of a collection: gc.collect as the stacks
// of PyTorch call it, "<built-in method collect of module object at 0x...>" and "<built-in
// function collect>", "Python GC" as its profiler calls collections that start by
// themselves, and what programs call theirs.
func collectsGarbage(name string) bool {
	if len(name) > 256 || !strings.Contains(name, "ollect") && !strings.Contains(name, "GC") {
		return false
	}
	switch {
	case strings.Contains(name, "gc.collect"), name == "GC", strings.HasPrefix(name, "Python GC"):
		return true
	case strings.Contains(name, "built-in"):
		return strings.Contains(name, "method collect of module") || strings.Contains(name, "function collect>")
	}
	name = strings.ReplaceAll(strings.ToLower(name), "_", " ")
	return strings.Contains(name, "garbage collect")
}
