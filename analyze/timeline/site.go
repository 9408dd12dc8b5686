package timeline

import (
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// Site tells where on the host a collective is launched.
type Site string

// The launch sites, in the order in which they are looked for; SiteUnknown also
// stands for collectives whose launch lies outside the recording.
const (
	SiteBackwardHook  Site = "backward_hook"
	SiteOptimizerStep Site = "optimizer_step"
	SiteFrameworkHook Site = "framework_hook"
	SiteAnnotation    Site = "annotation"
	SiteUnknown       Site = "unknown"
)

// LaunchSite is a Site and the name of the span that decided it: the optimizer,
// the framework's span, the annotation. Backward hooks have no name.
type LaunchSite struct {
	Site Site
	Name string
}

// UnknownSite is the launch site of what is launched nobody knows where.
var UnknownSite = LaunchSite{Site: SiteUnknown}

// SiteOf finds the launch site of a host call from all spans around it. The first
// class that occurs anywhere in the stack decides, not the innermost span.
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

// siteOfSpan is what one span says of the launches in it, and with what priority
// (1 is the strongest, 0 says nothing).
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
