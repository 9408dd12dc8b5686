package timeline

import (
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// Site is the part of the program that launches a collective. Reports print its text.
type Site string

// The launch sites, strongest first.
const (
	SiteBackwardHook  Site = "backward_hook"  // a hook of a gradient, or anything else in backward
	SiteOptimizerStep Site = "optimizer_step" // inside Optimizer.step, step hooks included
	SiteFrameworkHook Site = "framework_hook" // a span of FSDP or DDP
	SiteAnnotation    Site = "annotation"     // a span that the program annotated itself
	SiteUnknown       Site = "unknown"        // none of these, or launched outside the recording

	// SiteGraph is the replay of a CUDA graph that no annotation describes: where the graph
	// is launched is known, from where its parts were captured is not.
	SiteGraph Site = "cuda_graph"
)

// LaunchSite is a Site with the name of the span that decided it.
type LaunchSite struct {
	Site Site
	Name string // the optimizer, the framework's span or the annotation; of a graph its own site; else ""
}

// Known reports whether the site is a place of the program: neither unknown nor a graph,
// which may hold anything from one operator to a whole step.
func (s LaunchSite) Known() bool { return s.Site != SiteUnknown && s.Site != SiteGraph }

// UnknownSite is the launch site of collectives for which none can be determined.
var UnknownSite = LaunchSite{Site: SiteUnknown}

// SiteOf determines the launch site of a launch call from all spans around it. The
// strongest site in the whole stack decides, not the innermost span: a hook that fires in
// the backward pass of an optimizer's closure is still a hook. Of several spans for the
// same site the innermost gives the name.
//
// A launch call without any such span around it, on a thread that runs nothing but
// backward, is a hook as well: the autograd engine runs callbacks without a span of their
// own.
func (x *Rows) SiteOf(launch int32) LaunchSite {
	site := UnknownSite
	rank := 0
	better := func(r int, s LaunchSite) {
		if rank == 0 || r < rank {
			rank, site = r, s
		}
	}
	x.Stack(launch, func(span int32) bool {
		r, s := x.siteOfSpan(span)
		if r > 0 {
			better(r, s)
		}
		return rank != 1
	})
	if rank != 1 && x.autograd[x.Col.Track[launch]] {
		return LaunchSite{Site: SiteBackwardHook}
	}
	return site
}

// siteOfSpan returns the site that one span implies and its strength: 1 is the
// strongest, 0 means that the span says nothing. Spans of the profiler, of collectives and
// of compiled code say nothing, since they surround launches wherever those come from.
func (x *Rows) siteOfSpan(span int32) (int, LaunchSite) {
	class := x.Class(span)
	switch {
	case class&(AccumulateGrad|EvaluateFunction) != 0:
		return 1, LaunchSite{Site: SiteBackwardHook}
	case class&OptimizerStep != 0:
		return 2, LaunchSite{SiteOptimizerStep, OptimizerName(x.Name(span))}
	case class&Framework != 0:
		return 3, LaunchSite{SiteFrameworkHook, x.Name(span)}
	case x.Col.Cat[span] == trace.CatUserAnnotation && class&(ProfilerStep|CollectiveSpan|Compiled) == 0:
		return 4, LaunchSite{SiteAnnotation, strings.TrimSpace(x.Name(span))}
	}
	return 0, UnknownSite
}

// Code is the line of the program that does what a row of the host is: the innermost frame
// of Python around it in a file of the program, such as "train.py(57): step". The row counts
// if it is such a frame itself. It is "" where there is none, as where stacks were not
// recorded, and on threads of the autograd engine but in hooks. It is a piece of the trace's
// memory.
func (x *Rows) Code(row int32) string {
	if row < 0 || x.AnyName()&ProgramLine == 0 {
		return ""
	}
	if x.Is(row, ProgramLine) {
		return x.Name(row)
	}
	line := ""
	x.Stack(row, func(span int32) bool {
		if x.Is(span, ProgramLine) {
			line = x.Name(span)
		}
		return line == ""
	})
	return line
}

// libraries are pieces of the paths of frames that are not the program's own.
var libraries = []string{
	"/torch/", "-packages/", "/lib/python3", "/threading.py(", "/contextlib.py(", "/functools.py(", "<frozen",
}

// isProgramLine reports whether a name is that of a frame in a file of the program,
// "train.py(57): log_loss", and not a built-in, "nn.Module: Linear_0" or a line of a library.
func isProgramLine(name string) bool {
	if strings.HasPrefix(name, "<built-in") || !strings.Contains(name, ".py(") {
		return false
	}
	path := "/" + strings.ReplaceAll(name, `\`, "/")
	for _, library := range libraries {
		if strings.Contains(path, library) {
			return false
		}
	}
	return true
}
