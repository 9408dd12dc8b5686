package timeline

import (
	"cmp"
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// Replayed reports whether the replay of a CUDA or HIP graph launched a device event, given
// the row of its launch call, -1 for none. One call replays all of a graph, so whatever
// spans are around the call are around every part of it, and the graph's edges, not its
// streams, say what waits for what. Where the call is not in the recording the number of
// the graph tells, which Kineto writes with every kernel: 0 for no graph.
func (x *Rows) Replayed(row, launch int32) bool {
	if launch >= 0 {
		return x.Is(launch, GraphLaunch)
	}
	id, ok := x.Trace.Event(int(row)).ArgInt(trace.KeyGraphID)
	return ok && id != 0
}

// GraphSite returns the launch site of a part of a graph, given the row of its event and the
// launch site of the call that replays the graph: the place from which it was captured, where annotations
// of the capture say that (torch.cuda.graph_annotations; they are merged into the arguments
// of its kernel), else the graph, with its own launch site for a name.
//
// The name of an annotation counts as a span of that name would. autograd_phase is set while
// a node of autograd runs, so what it marks was launched in backward. The module that a
// kernel belongs to, and any other name, is the program's own annotation.
func (x *Rows) GraphSite(row int32, around LaunchSite) LaunchSite {
	e := x.Trace.Event(int(row))
	name := strings.TrimSpace(e.ArgText(trace.KeyName))
	if site, ok := siteOfName(name); ok {
		return site
	}
	if e.ArgText(trace.KeyAutogradPhase) == "backward" {
		return LaunchSite{Site: SiteBackwardHook}
	}
	if name = cmp.Or(strings.TrimSpace(e.ArgText(trace.KeyModule)), name); name != "" {
		return LaunchSite{SiteAnnotation, name}
	}
	if around.Site == SiteUnknown {
		return LaunchSite{Site: SiteGraph}
	}
	return LaunchSite{SiteGraph, strings.TrimSpace(string(around.Site) + " " + around.Name)}
}

// siteOfName returns the site that a span implies by its name alone; ok is false for a name
// that could be of anything.
func siteOfName(name string) (site LaunchSite, ok bool) {
	switch class := classOf(name); {
	case class&(AccumulateGrad|EvaluateFunction) != 0:
		return LaunchSite{Site: SiteBackwardHook}, true
	case class&OptimizerStep != 0:
		return LaunchSite{SiteOptimizerStep, OptimizerName(name)}, true
	case class&Framework != 0:
		return LaunchSite{SiteFrameworkHook, name}, true
	}
	return UnknownSite, false
}
