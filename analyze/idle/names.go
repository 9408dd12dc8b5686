package idle

import (
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// meaning is one thing that a name says of a row of some category.
type meaning uint8

const (
	known       meaning = iota // the name was looked at
	loadsData                  // fetches a batch, whatever runs inside
	mayLoadData                // does so unless a step begins inside
	compiles                   // compiles or loads code
	manages                    // allocates or frees memory
	waits                      // waits for the device
	optimizes                  // a part of the optimizer
	works                      // any other operator or call
	waitsOnHost                // a collective of the host
	profiles                   // overhead of the profiler
	numMeanings
)

// mask is several meanings, one bit each.
type mask uint16

// kind is what a category of rows is to the causes of idle time.
type kind uint8

const (
	noKind   kind = iota
	operator      // cpu_op
	note          // user_annotation
	call          // of the runtime or the driver
	overhead      // of the profiler
	numKinds
)

func kindOf(cat trace.Cat) kind {
	switch {
	case cat == trace.CatCPUOp:
		return operator
	case cat == trace.CatUserAnnotation:
		return note
	case cat.IsRuntime():
		return call
	case cat == trace.CatOverhead:
		return overhead
	}
	return noKind
}

// meanings looks at each distinct name once for each kind of row that carries it.
type meanings struct {
	t     *trace.Trace
	names [numKinds][]mask // by id; 0 where the name was not asked for yet
}

func newMeanings(t *trace.Trace) *meanings {
	m := &meanings{t: t}
	for k := range m.names {
		m.names[k] = make([]mask, t.NumStrings())
	}
	return m
}

func (m *meanings) of(k kind, id trace.StringID) mask {
	slot := &m.names[k][id]
	if *slot == 0 {
		*slot = 1<<known | meaningOf(k, m.t.String(id))
	}
	return *slot
}

func meaningOf(k kind, name string) mask {
	switch k {
	case operator, note:
		return meaningOfSpan(k, name)
	case call:
		return meaningOfCall(name)
	case overhead:
		switch {
		case slices.Contains(compilingOverheads, name):
			return 1 << compiles
		case name != "Command Buffer Full": // the launch queue is full: the host is far ahead
			return 1 << profiles
		}
	}
	return 0
}

// compilingOverheads are what the profiler notes as overhead and is the program's own.
var compilingOverheads = []string{"Driver Compiler", "Runtime Triggered Module Loading", "Lazy Function Loading"}

func meaningOfSpan(k kind, name string) (m mask) {
	if k == operator && strings.HasPrefix(name, "aten::") { // most names: none of what follows begins so
		return 1 << works
	}
	switch {
	case hasAnyPrefix(name, loaderSpans...):
		m |= 1 << loadsData
	case fetches(name):
		m |= 1 << mayLoadData
	}
	if compilesCode(name) {
		m |= 1 << compiles
	}
	if name == "c10d::barrier" || name == "c10d::monitored_barrier_" {
		m |= 1 << waits
	}
	if strings.HasPrefix(name, "Optimizer.") {
		m |= 1 << optimizes
	}
	if hostCollective(name) {
		m |= 1 << waitsOnHost
	}
	if k == operator && !hasAnyPrefix(name, "ProfilerStep", "##") {
		m |= 1 << works
	}
	return m
}

// compilingSpans are parts of the names of spans in which code is compiled.
var compilingSpans = []string{
	"(dynamo_timed)", "_compile.compile_inner", "compile_fx", "OutputGraph.call_user_compiler",
	"create_aot_dispatcher_function", "backend_compile", "inductor_compile", "CachingAutotuner.benchmark_all_configs",
	"compile_file", "async_compile.wait", "entire_frame_compile",
}

func compilesCode(name string) bool {
	has := func(part string) bool { return strings.Contains(name, part) }
	switch {
	case has("compile"), has("dynamo_timed"), has("dispatcher"), has("Autotuner"):
		return slices.ContainsFunc(compilingSpans, has)
	}
	return false // each of compilingSpans has one of these in it
}

// fetches reports whether a program's own span is named after the fetching of a batch.
func fetches(name string) bool {
	if strings.Contains(name, "::") || !timeline.HasFold(name, "load") && !timeline.HasFold(name, "batch") {
		return false
	}
	name = strings.ReplaceAll(strings.ToLower(name), "_", " ")
	if strings.Contains(name, "data load") || strings.Contains(name, "dataload") {
		return true
	}
	for {
		before, after, found := strings.Cut(name, " batch")
		switch {
		case !found:
			return false
		case hasAnySuffix(before, "load", "fetch", "fetching", "next", "get"):
			return true
		}
		name = after
	}
}

// waitOnHost reports whether any name of the trace is that of a collective of the host.
func (m *meanings) waitOnHost() bool {
	for id := range m.t.NumStrings() {
		if hostCollective(m.t.String(trace.StringID(id))) {
			return true
		}
	}
	return false
}

func hostCollective(name string) bool {
	if name == "" || name[0] != 'g' && name[0] != 'm' && name[0] != 'u' {
		return false // nearly all names
	}
	return hasAnyPrefix(name, "gloo:", "mpi:", "ucc:")
}

// platforms begin the names of the calls of a device's runtime and driver.
var platforms = []string{"cuda", "cu", "hip"}

func meaningOfCall(name string) mask {
	m := mask(1 << works)
	rest, ofDevice := cutPlatform(name)
	switch {
	case ofDevice && hasAnyPrefix(rest, "ModuleLoad", "ModuleUnload", "LibraryLoad", "LibraryUnload", "Link"):
		m |= 1 << compiles
	case ofDevice && managesMemory(strings.TrimPrefix(rest, "Ext")):
		m |= 1 << manages
	case strings.Contains(name, "Synchronize"):
		m |= 1 << waits
	case ofDevice && strings.HasPrefix(rest, "Memcpy") && !strings.Contains(rest, "Async"):
		m |= 1 << waits
	}
	return m
}

func cutPlatform(name string) (rest string, ok bool) {
	for _, platform := range platforms {
		if rest, ok = strings.CutPrefix(name, platform); ok {
			return rest, true
		}
	}
	return name, false
}

func managesMemory(name string) bool {
	if hasAnyPrefix(name, "Malloc", "Free", "HostAlloc", "HostMalloc", "HostFree", "HostRegister", "HostUnregister") {
		return true
	}
	rest, ok := strings.CutPrefix(name, "Mem")
	return ok && hasAnyPrefix(rest,
		"Alloc", "Free", "Host", "Create", "Release", "Map", "Unmap", "SetAccess", "Address", "Pool")
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

func hasAnySuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(p string) bool { return strings.HasSuffix(s, p) })
}
