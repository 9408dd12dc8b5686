package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
)

// settings lists how accumulation, synchronization and normalization differ. What one
// side does not know is no difference.
func settings(pairs []pair, base, new *side) []Setting {
	list := []Setting{}
	add := func(what, of, b, n string) {
		s := Setting{what, of, b, n}
		if b != n && b != unknown && n != unknown && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for i := range pairs {
		p := &pairs[i]
		if p.base == nil || p.new == nil {
			continue
		}
		for j, o := range p.base.optimizers {
			q := p.new.optimizers[j]
			add("accumulation_steps", o.Name, knownText(o.Accumulation), knownText(q.Accumulation))
			add("optimizer_in_backward", o.Name, fmt.Sprint(o.InBackward), fmt.Sprint(q.InBackward))
		}
		if p.comparable() {
			add("micro_batches", p.name(), p.base.micro.most(), p.new.micro.most())
		}
	}
	for _, optimizer := range syncedOptimizers(base, new) {
		for _, s := range syncSettings {
			add(s.what, optimizer, base.sync(optimizer, s.of), new.sync(optimizer, s.of))
		}
	}
	add("token_all_reduce", "", base.tokens(), new.tokens())
	add("normalization", "", base.normalization(), new.normalization())
	add("data_loader", "", base.loaders(), new.loaders())
	return list
}

// syncSettings are what a row of gradient_sync says.
var syncSettings = []struct {
	what string
	of   func(*report.GradientSync) string
}{
	{"gradient_sync", func(g *report.GradientSync) string { return g.Pattern }},
	{"gradient_collective", func(g *report.GradientSync) string { return g.Kind }},
	{"gradient_collectives", func(g *report.GradientSync) string {
		return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(g.PerMicroBatch)), ", "), "[]")
	}},
	{"gradient_ranks", func(g *report.GradientSync) string {
		if g.Ranks == nil {
			return unknown
		}
		return fmt.Sprint(*g.Ranks)
	}},
}

// syncedOptimizers are the optimizers that gradient_sync names on both sides; one side
// alone has nothing to differ from.
func syncedOptimizers(base, new *side) []string {
	return slices.DeleteFunc(base.optimizers(), func(o string) bool { return !slices.Contains(new.optimizers(), o) })
}

func (s *side) optimizers() []string {
	var names []string
	for _, r := range s.reports {
		for _, g := range r.GradientSync {
			if !slices.Contains(names, g.Optimizer) {
				names = append(names, g.Optimizer)
			}
		}
	}
	return names
}

// sync is what the ranks of a side say of an optimizer's gradient synchronisation; it
// joins different answers.
func (s *side) sync(optimizer string, of func(*report.GradientSync) string) string {
	return s.answers(func(r *report.Report, add func(string)) {
		for i := range r.GradientSync {
			if r.GradientSync[i].Optimizer == optimizer {
				add(of(&r.GradientSync[i]))
			}
		}
	})
}

func (s *side) tokens() string {
	return s.answers(func(r *report.Report, add func(string)) {
		for _, t := range r.TokenAllReduce {
			switch {
			case t.Present == nil:
				add(unknown)
			case !*t.Present || t.Where == nil:
				add("none")
			default:
				add(fmt.Sprintf("%s, %d per step", *t.Where, t.PerStep))
			}
		}
	})
}

func (s *side) normalization() string {
	return s.answers(func(r *report.Report, add func(string)) { add(r.Normalization.Mode) })
}

func (s *side) loaders() string {
	return s.answers(func(r *report.Report, add func(string)) {
		for _, name := range r.Source.DataLoaders {
			add(name)
		}
	})
}

// answers collects the different answers of a side's reports in order; without any it
// is unknown.
func (s *side) answers(ask func(r *report.Report, add func(string))) string {
	var list []string
	for _, r := range s.reports {
		ask(r, func(a string) {
			if a != "" && !slices.Contains(list, a) {
				list = append(list, a)
			}
		})
	}
	if len(list) == 0 {
		return unknown
	}
	return strings.Join(list, " or ")
}

// unlike lists what makes a comparison of times one of unlike things. What one side
// does not know is no difference.
func unlike(b, n *Side, base, new *side) []Unlike {
	list := []Unlike{}
	add := func(what, x, y string) {
		if x != y && x != unknown && y != unknown {
			list = append(list, Unlike{what, x, y})
		}
	}
	add("device", b.Device, n.Device)
	add("world_size", worldText(b.WorldSize), worldText(n.WorldSize))
	add("ranks", ranksText(b.Ranks), ranksText(n.Ranks))
	add("model", b.Model, n.Model)
	add("accumulation", accumulationText(b.fingerprint.Accumulation), accumulationText(n.fingerprint.Accumulation))
	add("step_source", b.StepSource, n.StepSource)
	add("gaprof_version", base.versions(), new.versions())
	return list
}

func worldText(n *int64) string {
	if n == nil {
		return unknown
	}
	return fmt.Sprint(*n)
}

// ranksText prints ascending ranks as 0-3, 7.
func ranksText(ranks []int64) string {
	if len(ranks) == 0 {
		return unknown
	}
	var parts []string
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		if j == i {
			parts = append(parts, fmt.Sprint(ranks[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", ranks[i], ranks[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// accumulationText prints the accumulation steps of a fingerprint; one that is unknown
// makes all unknown, which earlier reports said by -1.
func accumulationText(steps []int) string {
	if len(steps) == 0 || slices.Contains(steps, -1) {
		return unknown
	}
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(steps)), ", "), "[]")
}

func (s *side) versions() string {
	return s.answers(func(r *report.Report, add func(string)) { add(r.Version) })
}
