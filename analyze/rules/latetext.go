package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/lateness"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/units"
)

// lateFindings are the findings about idle time that are causes of lateness.
var lateFindings = map[lateness.Cause]idle.Finding{
	lateness.DataLoading:      idle.LateData,
	lateness.Synchronization:  idle.WaitingHost,
	lateness.MemoryManagement: idle.MemoryCalls,
	lateness.LaunchBound:      idle.LaunchBound,
	lateness.HostStall:        idle.StalledHost,
}

// lateRules are the rules whose pages show the change as code, by cause.
var lateRules = map[lateness.Cause]string{
	lateness.DataLoading:      "ID001",
	lateness.Synchronization:  "ID002",
	lateness.MemoryManagement: "ID003",
	lateness.LaunchBound:      "ID004",
	lateness.HostStall:        "ID005",
}

// lateFixes are what to change, by cause.
var lateFixes = map[lateness.Cause]string{
	lateness.DataLoading:      ID001.Doc.Fix,
	lateness.Synchronization:  ID002.Doc.Fix,
	lateness.MemoryManagement: ID003.Doc.Fix,
	lateness.LaunchBound:      ID004.Doc.Fix,
	lateness.HostStall:        ID005.Doc.Fix,
	lateness.Compilation:      "fixed shapes, or torch.compile(dynamic=True); start recording after the warm-up",
	lateness.GarbageCollection: "gc.disable(), and gc.collect() every k-th step on all ranks in the same step; " +
		"gc.freeze() once the model is built",
	lateness.SlowerKernels: "check its device for throttling (nvidia-smi -q -d PERFORMANCE), a power limit or " +
		"another process; check kernels whose time depends on the data, such as attention over packed documents",
	lateness.MoreWork: "give every rank equal work: batches by tokens rather than rows, packed sequences, experts " +
		"and pipeline stages of equal size",
	lateness.MemoryCopies: "make fewer copies, and put them on a stream of their own",
}

// lateBecause says each cause that is a sentence of its own; the others need figures.
var lateBecause = [lateness.NumCauses]string{
	lateness.DataLoading:        "its device waits for data",
	lateness.Synchronization:    "its host waits for its device",
	lateness.MemoryManagement:   "its device is idle while memory is allocated or freed",
	lateness.Compilation:        "its device is idle while code is compiled or loaded",
	lateness.Profiler:           "the profiler holds up its host",
	lateness.LaunchBound:        "it is launch-bound",
	lateness.HostStall:          "its host launches nothing for more than a millisecond at a time",
	lateness.GarbageCollection:  "its device is idle while Python collects garbage",
	lateness.MemoryCopies:       "copies and memsets that nothing hides take longer on it",
	lateness.OtherIdle:          "other idle time",
	lateness.OtherCommunication: "communication of other process groups",
}

// sayLate is why a rank is late in one sentence.
func sayLate(m *analyze.Matched, l *lateness.Lateness, one *report.LateRank) string {
	r := m.Ranks[l.Rank]
	if l.Cause == lateness.Unknown {
		return fmt.Sprintf("it is not clear why rank %d is late by %s/step: %s", r.ID, units.Milliseconds(l.Late),
			partsOf(one))
	}
	ns := one.NS
	own, known := idlePerStep(r, lateFindings[l.Cause])
	if _, ok := lateFindings[l.Cause]; !ok || !known {
		own = ns
	}
	if l.Cause == lateness.GarbageCollection {
		own = l.Own
	}
	text := fmt.Sprintf("rank %d is late because %s: %s", r.ID, because(m, l), perStep(own, middleStep(r)))
	text += fmt.Sprintf(" in %d of %d steps", l.LateIn, l.Steps)
	text += shownLate(r, l)
	if l.Cause != lateness.SlowerKernels && l.Cause != lateness.MoreWork {
		text += fmt.Sprintf(", compared with %s on the others", units.Milliseconds(own-ns))
	}
	return text + fmt.Sprintf("; that explains %.2f of the %s/step by which it is late", units.MS(l.NS),
		units.Milliseconds(l.Late))
}

// because says the cause with its figures.
func because(m *analyze.Matched, l *lateness.Lateness) string {
	k := &l.Kernels
	switch l.Cause {
	case lateness.SlowerKernels:
		times := float64(k.SameNS) / float64(max(1, k.SameOthers))
		text := fmt.Sprintf("the same kernels take %.2f times as long on it", times)
		if !k.Shapes {
			text += " (shapes were not recorded: they may be larger)"
		}
		return text
	case lateness.MoreWork:
		text := fmt.Sprintf("it has %.2f times as much to compute", float64(k.NS)/float64(max(1, k.OthersNS)))
		if k.Larger {
			text += ", in larger kernels"
		}
		text += fmt.Sprintf(" (%s per step, the others %d%s)", units.Count(k.Count, "kernel"),
			k.OthersCount, tokensOf(m, l))
		return text
	case lateness.OtherRank:
		if l.WaitsFor < 0 {
			return "it waits in turn for ranks of other process groups"
		}
		return fmt.Sprintf("it waits in turn for rank %d in another process group", m.Ranks[l.WaitsFor].ID)
	}
	return lateBecause[l.Cause]
}

// tokensOf is ", 512 tokens, the others 256" where the program notes them.
func tokensOf(m *analyze.Matched, l *lateness.Lateness) string {
	own := tokensPerStep(m.Ranks[l.Rank])
	var others []int64
	for _, source := range l.Group.Ranks {
		if n := tokensPerStep(m.Ranks[source]); source != l.Rank && n > 0 {
			others = append(others, n)
		}
	}
	if own == 0 || len(others) == 0 {
		return ""
	}
	slices.Sort(others)
	return fmt.Sprintf("; %s per step, the others %d", units.Count(own, "token"), others[len(others)/2])
}

// tokensPerStep is how many tokens a rank notes in each of its complete steps, 0 unknown.
func tokensPerStep(r *analyze.Rank) int64 {
	sum, steps := int64(0), int64(0)
	for i := range r.Steps {
		if r.Steps[i].Complete {
			steps++
		}
	}
	for _, n := range r.TokenNotes {
		if n.Step >= 0 && r.Steps[n.Step].Complete {
			sum += n.Tokens
		}
	}
	return sum / max(1, steps)
}

// partsOf is "3.00 ms data_loading, 2.00 ms host_stall and 1.00 ms unexplained".
func partsOf(one *report.LateRank) string {
	var list []string
	for _, part := range one.Parts {
		if part.NS > 0 && len(list) < 3 {
			list = append(list, units.Milliseconds(part.NS)+" "+strings.ReplaceAll(part.Cause, "_", " "))
		}
	}
	return strings.Join(append(list, units.Milliseconds(one.Unexplained)+" unexplained"), ", ")
}

// shownLate names the spans that a person should look at.
func shownLate(r *analyze.Rank, l *lateness.Lateness) string {
	k := &l.Kernels
	switch {
	case l.Cause == lateness.GarbageCollection:
		longest := &r.Work.Garbage
		return fmt.Sprintf(", at most %s at a time (%s)", units.Milliseconds(longest.Duration), longest.Name)
	case k.Most.Name != "" && k.MostOthers > 0:
		return fmt.Sprintf(", most in %s: %s on average, on the others %s", briefly(k.Most.Name),
			units.Duration(k.MostMean), units.Duration(k.MostOthers))
	case k.Most.Name != "":
		return fmt.Sprintf(", most in %s, %s on average", briefly(k.Most.Name), units.Duration(k.MostMean))
	}
	if gaps := shownAround(r, l); len(gaps) > 0 {
		s := gaps[0].Shown
		return fmt.Sprintf(", %s (%s%s)", longestGap(s), s.Event.Name, inside(s))
	}
	return ""
}

// longName is how many characters of a kernel's name a sentence holds; tables and evidence have all.
const longName = 80

// briefly is the beginning of a kernel's name, without what every template returns.
func briefly(name string) string {
	name = strings.TrimPrefix(name, "void ")
	if runes := []rune(name); len(runes) > longName {
		return string(runes[:longName-3]) + "..."
	}
	return name
}

// shownAround is what the host does in the gaps around what was compared, the longest first.
func shownAround(r *analyze.Rank, l *lateness.Lateness) []shownGap {
	of, ok := lateFindings[l.Cause]
	if !ok {
		return nil
	}
	var gaps []shownGap
	for _, i := range l.Around {
		for w := range r.Steps[i].Idle {
			if s := &r.Steps[i].Idle[w].Shown[of]; s.NS > 0 {
				gaps = append(gaps, shownGap{r, s})
			}
		}
	}
	return longestFirst(gaps)
}

// showLate are the spans of the rank that show why it is late.
func showLate(r *analyze.Rank, l *lateness.Lateness) []timeline.Event {
	switch {
	case l.Cause == lateness.GarbageCollection:
		return []timeline.Event{r.Work.Garbage}
	case l.Kernels.Most.Name != "":
		return []timeline.Event{l.Kernels.Most}
	case l.Cause == lateness.MemoryCopies && r.Work.Copy.Name != "":
		return []timeline.Event{r.Work.Copy}
	case l.Cause == lateness.OtherRank && l.WaitsFor >= 0:
		return []timeline.Event{r.Event(int(l.WaitsIn))}
	}
	var list []timeline.Event
	gaps := shownAround(r, l)
	for _, g := range gaps[:min(maxEvidence, len(gaps))] {
		list = append(list, g.Event)
	}
	return list
}

// idlePerStep is the idle time of a finding in the complete steps of a rank, or in all if
// there are none, as a mean per step; ok is false without steps on a device.
func idlePerStep(r *analyze.Rank, of idle.Finding) (ns int64, ok bool) {
	for _, complete := range []bool{true, false} {
		sum, steps := int64(0), int64(0)
		for i := range r.Steps {
			if s := &r.Steps[i]; s.Complete == complete && len(s.Windows) > 0 {
				steps++
				for w := range s.Idle {
					sum += s.Idle[w].Of(of)
				}
			}
		}
		if steps > 0 {
			return sum / steps, true
		}
	}
	return 0, false
}

// middleStep is the median duration of a rank's complete steps, or of all if there are none,
// in ns.
func middleStep(r *analyze.Rank) int64 {
	for _, complete := range []bool{true, false} {
		var list []int64
		for i := range r.Steps {
			if d := analyze.Duration(r, &r.Steps[i]); d > 0 && r.Steps[i].Complete == complete {
				list = append(list, d)
			}
		}
		if n := len(list); n > 0 {
			slices.Sort(list)
			return (list[(n-1)/2] + list[n/2]) / 2
		}
	}
	return 1
}
