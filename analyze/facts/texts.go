package facts

import "strings"

// texts calls visit for every text in the facts that may be a piece of the trace's memory,
// and so would keep all of it alive. This file knows them all; a test walks over facts by
// reflection to find those it forgot.
func (r *Rank) texts(visit func(*string)) {
	r.Identity.texts(visit)
	r.Activity.texts(visit)
	r.Communication.texts(visit)
	r.Gradients.Texts(visit)
	r.Updates.texts(visit)
	r.Work.Texts(visit)
	for i := range r.Compiled {
		r.Compiled[i].Texts(visit)
	}
	for i := range r.Steps {
		r.Steps[i].texts(visit)
	}
	for i := range r.Memory {
		r.Memory[i].Texts(visit)
	}
	for i := range r.Loaders {
		visit(&r.Loaders[i])
	}
	for i := range r.Problems {
		visit(&r.Problems[i].Detail)
	}
}

func (id *Identity) texts(visit func(*string)) {
	visit(&id.IDSource)
	visit(&id.DeviceName)
	visit(&id.Host)
	if d := id.Distributed; d != nil {
		visit(&d.Backend)
		for i := range d.Groups {
			visit(&d.Groups[i].Name)
			visit(&d.Groups[i].Desc)
		}
	}
}

func (a *Activity) texts(visit func(*string)) {
	for i := range a.Devices {
		visit(&a.Devices[i].PID)
	}
	for i := range a.FirstUnlinked {
		a.FirstUnlinked[i].Texts(visit)
	}
	for i := range a.Impossible {
		a.Impossible[i].Texts(visit)
	}
}

func (c *Communication) texts(visit func(*string)) {
	for i := range c.Collectives {
		one := &c.Collectives[i]
		visit(&one.Dtype)
		visit(&one.Group)
		visit(&one.Desc)
		visit(&one.Members)
		visit(&one.Site.Name)
		visit(&one.Code)
	}
	for i := range c.Kernels {
		visit(&c.Kernels[i])
	}
	for i := range c.Streams {
		visit(&c.Streams[i].Process)
		visit(&c.Streams[i].Thread)
	}
	for i := range c.Groups {
		visit(&c.Groups[i].Site.Name)
	}
	for i := range c.Suspects {
		visit(&c.Suspects[i].Kernel)
	}
}

func (u *Updates) texts(visit func(*string)) {
	for i := range u.OptimizerRuns {
		visit(&u.OptimizerRuns[i].Name)
		u.OptimizerRuns[i].Event.Texts(visit)
	}
	for i := range u.ZeroInside {
		u.ZeroInside[i].Event.Texts(visit)
	}
	for _, list := range [][]Clear{u.Kept, u.Blank} {
		for i := range list {
			list[i].Event.Texts(visit)
		}
	}
}

func (s *Step) texts(visit func(*string)) {
	for i := range s.Idle {
		s.Idle[i].Texts(visit)
	}
	visit(&s.Kind)
	for i := range s.Optimizers {
		visit(&s.Optimizers[i])
	}
	for i := range s.PerOptimizer {
		visit(&s.PerOptimizer[i].Name)
	}
}

// own returns a copy of a text that keeps no larger one in memory. texts holds the copies
// made so far: equal texts share one.
func own(texts map[string]string, text string) string {
	copied, ok := texts[text]
	if !ok {
		copied = strings.Clone(text)
		texts[copied] = copied
	}
	return copied
}
