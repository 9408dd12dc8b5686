package facts

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

var unknownSite = LaunchSite{Site: SiteUnknown}

// siteOf finds the launch site of a host call from all spans around it. The first
// class that occurs anywhere in the stack decides, not the innermost span.
func (c *computer) siteOf(launch int32) LaunchSite {
	site := unknownSite
	rank := 0
	better := func(r int, s LaunchSite) {
		if rank == 0 || r < rank {
			rank, site = r, s
		}
	}
	c.stack(launch, func(span int32) bool {
		r, s := c.siteOfSpan(span)
		if r > 0 {
			better(r, s)
		}
		return rank != 1
	})
	if rank != 1 && c.autogradThread[c.col.Track[launch]] {
		return LaunchSite{Site: SiteBackwardHook}
	}
	return site
}

// siteOfSpan is what one span says of the launches in it, and with what priority
// (1 is the strongest, 0 says nothing).
func (c *computer) siteOfSpan(span int32) (int, LaunchSite) {
	id := c.col.Name[span]
	class := c.names.class[id]
	switch {
	case class&(accumulate|evaluate) != 0:
		return 1, LaunchSite{Site: SiteBackwardHook}
	case class&optimizerStep != 0:
		return 2, LaunchSite{SiteOptimizerStep, optimizerName(c.t.String(id))}
	case class&framework != 0:
		return 3, LaunchSite{SiteFrameworkHook, c.t.String(id)}
	case c.col.Cat[span] == trace.CatUserAnnotation && class&(profilerStep|collectiveSpan|compiled) == 0:
		return 4, LaunchSite{SiteAnnotation, strings.TrimSpace(c.t.String(id))}
	}
	return 0, unknownSite
}

// findAutogradThreads marks the tracks that carry backward spans and no optimizer
// step: whatever is launched there is launched by a hook in backward.
func (c *computer) findAutogradThreads() {
	c.autogradThread = make([]bool, len(c.t.Tracks()))
	for id, class := range c.trackClass {
		c.autogradThread[id] = class&(accumulate|evaluate) != 0 && class&optimizerStep == 0
	}
}
