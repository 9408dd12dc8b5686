package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// mostlyCompute is the share of compute above which a step without findings is fine.
const mostlyCompute = 0.90

// nothing is the verdict where no finding is above a note: that all is well, if compute
// takes nearly all of a step, else what takes most of the rest.
func nothing(r *report.Report) []saying {
	if r.Time == nil {
		return unknownTime(r)
	}
	top := largest(r.Time)
	if top == nil || computeShare(r.Time) > mostlyCompute {
		return []saying{{head: "VERDICT", text: clean(r)}}
	}
	said := saying{head: "VERDICT", right: "no finding"}
	if rule := namedBy(r, top); rule != "" {
		said.right = rule + " " + string(report.Note)
	}
	said.text = partText(r.Time, top) + " is most of what is not compute"
	if n := len(unjudged(r)); n > 0 {
		said.text += fmt.Sprintf("; %s could not be judged", units.Count(n, "rule"))
	}
	list := []saying{said, {head: "WHY", text: sharesText(r.Time)}}
	if next := hint(r.Time, top); next != "" {
		list = append(list, saying{head: "NEXT", text: next})
	}
	return list
}

// unknownTime is the verdict where no finding is above a note and nothing is known of where
// the time goes, which is no sign that all is well.
func unknownTime(r *report.Report) []saying {
	what := "the time"
	if len(r.Steps) > 0 {
		what = "the time of a step"
	}
	said := saying{head: "VERDICT", right: "no finding"}
	said.text = fmt.Sprintf("where %s goes is unknown: %s", what, cmp.Or(r.Health.TimeUnknown, report.NoDevice))
	if n := len(unjudged(r)); n > 0 {
		said.text += fmt.Sprintf("; %s could not be judged", units.Count(n, "rule"))
	}
	if len(r.Findings) > 0 {
		said.right = "only notes"
	}
	return []saying{said}
}

// unnamed says what takes most of a step beside compute if findings do not charge half of it.
func unnamed(r *report.Report) []saying {
	top := largest(r.Time)
	if top == nil || namedBy(r, top) != "" {
		return nil
	}
	text := partText(r.Time, top) + " is most of what is not compute"
	return []saying{{head: "LARGEST", text: text, right: "no finding"}}
}

// clean says what it means that nothing was found: what a step consists of, and which
// questions were asked at all.
func clean(r *report.Report) string {
	text := "nothing above a note"
	if top := largest(r.Time); top != nil && computeShare(r.Time) > mostlyCompute {
		text += fmt.Sprintf(": %s of %s is compute, then %s", percentOf(computeShare(r.Time)), ofWhat(r.Time),
			partText(r.Time, top))
	}
	if n := len(unjudged(r)); n > 0 {
		text += fmt.Sprintf("; %s could not be judged", units.Count(n, "rule"))
	}
	return text
}

// headlineOfNothing is the verdict in a sentence where no finding is above a note.
func headlineOfNothing(r *report.Report) string { return nothing(r)[0].text }

// largest is the part of a step that takes most beside compute; nil where nothing does, or
// nothing is known.
func largest(t *report.Time) *report.Part {
	if t == nil {
		return nil
	}
	for i := range t.Parts {
		if t.Parts[i].What != report.ComputePart {
			return &t.Parts[i]
		}
	}
	return nil
}

func computeShare(t *report.Time) float64 {
	for i := range t.Parts {
		if t.Parts[i].What == report.ComputePart {
			return t.Parts[i].Share
		}
	}
	return 0
}

// namedBy is the rule that charges most of a part of which findings charge at least half
// together; "" where they do not.
func namedBy(r *report.Report, part *report.Part) string {
	var sum, most int64
	rule := ""
	for _, c := range part.Claims {
		if slices.ContainsFunc(r.Findings, func(f report.Finding) bool { return f.Rule == c.Rule }) {
			if sum += c.Mean; c.Mean > most {
				rule, most = c.Rule, c.Mean
			}
		}
	}
	if 2*sum < part.Mean {
		return ""
	}
	return rule
}

// partText is "copies and memsets 1.20 ms/step (12.0 % of 10.0 ms)"; of idle time it says
// which causes it has.
func partText(t *report.Time, part *report.Part) string {
	per := "/step"
	if t.Of != "step" {
		per = ""
	}
	amount := fmt.Sprintf("%s%s (%s of %s)", units.Milliseconds(part.Mean), per, percentOf(part.Share), ofWhat(t))
	if part.What != report.IdlePart || t.Idle == nil {
		return partName(part.What) + " " + amount
	}
	causes := causesOf(t.Idle)
	if len(causes) > 0 && 10*causes[0].ns >= 9*part.Mean {
		return "idle: " + causes[0].name + " " + amount
	}
	var parts []string
	for _, c := range causes[:min(3, len(causes))] {
		parts = append(parts, fmt.Sprintf("%.0f %% %s", 100*float64(c.ns)/float64(part.Mean), c.name))
	}
	if len(parts) == 0 {
		return "idle " + amount
	}
	return "idle (" + strings.Join(parts, ", ") + ") " + amount
}

// ofWhat is "61.0 ms", or "61.0 ms recorded".
func ofWhat(t *report.Time) string {
	text := fmt.Sprintf("%.1f ms", units.MS(t.Length))
	if t.Of != "step" {
		text += " recorded"
	}
	return text
}

func percentOf(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// sharesText lists the parts that take at least 1 %.
func sharesText(t *report.Time) string {
	var parts []string
	for i := range t.Parts {
		if p := &t.Parts[i]; p.Share >= 0.01 {
			parts = append(parts, partName(p.What)+" "+percentOf(p.Share))
		}
	}
	return strings.Join(parts, ", ")
}

// partName is what a part is called in a sentence.
func partName(what string) string {
	switch what {
	case report.ComputePart, report.IdlePart:
		return what
	case report.MemoryPart:
		return "copies and memsets"
	case report.OtherPart:
		return "communication of unknown kind exposed"
	case "send_recv":
		return "send/recv exposed"
	case "barrier":
		return "waiting in barriers exposed"
	}
	return spaced(what) + " exposed"
}

// causeTime is the idle time of one cause.
type causeTime struct {
	name string
	ns   int64
}

// noOperator is the cause no_operator in a sentence.
const noOperator = "no operator on the host"

// causeNames are those that idleColumns abbreviates.
var causeNames = map[string]string{
	"memory": "memory management", "operators": "host operators", "kernel gap": "kernel gaps", "queued": "queued waits",
	"no operator": noOperator,
}

// causesOf are the causes of idle time, largest first.
func causesOf(c *report.IdleCauses) []causeTime {
	var list []causeTime
	for _, column := range idleColumns {
		if ns := column.of(c); ns > 0 {
			list = append(list, causeTime{cmp.Or(causeNames[column.head], column.head), ns})
		}
	}
	slices.SortStableFunc(list, func(a, b causeTime) int { return cmp.Compare(b.ns, a.ns) })
	return list
}

// hints say what to look at where no rule has a fix, by part or cause of idle time.
var hints = map[string]string{
	report.MemoryPart: "keep data on the device; copy batches from pinned memory on a stream of their own " +
		"(pin_memory=True, non_blocking=True)",
	"kernel gaps":    "fewer and longer kernels: torch.compile, CUDA graphs, larger batches",
	"launch latency": "fewer launches: torch.compile, CUDA graphs, foreach or fused optimizers, larger batches",
	"host operators": "fewer launches: torch.compile, CUDA graphs, foreach or fused optimizers, larger batches",
	noOperator: "look at what Python does between the operators (checkpoints, logging, garbage collection); " +
		"with_stack=True records it",
	"optimizer": "pass fused=True or foreach=True to the optimizer, or compile its step with torch.compile",
	"queued waits": "look at what the kernel after a gap waits for: an event of another stream, a graph, another " +
		"process",
	"profiler":    "record less: leave out shapes, stacks and memory",
	"compilation": "record after the warm-up",
	"unlinked":    "record the host from the beginning of a step: the launches before these gaps are missing",
}

// hint is what to look at for a part, "" where nothing can be said.
func hint(t *report.Time, part *report.Part) string {
	if part.What == report.IdlePart && t.Idle != nil {
		if causes := causesOf(t.Idle); len(causes) > 0 {
			return hints[causes[0].name]
		}
	}
	return hints[part.What]
}
