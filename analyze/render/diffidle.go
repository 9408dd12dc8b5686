package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/internal/units"
)

// Shares by which the parts of a change are worth a word.
const (
	changeShare = 0.03 // of the step: a smaller change has no parts to speak of
	partShare   = 0.10 // of the change
	enoughShare = 0.80 // of the change: parts that are named leave less than a fifth
	mostParts   = 3    // on either side
)

// partSentences say what accounts for the change of step time of each kind.
func partSentences(d *compare.Diff) []sentence {
	var list []sentence
	for i := range d.Kinds {
		k := &d.Kinds[i]
		if text := partsText(k); text != "" && !turns(d, k) {
			if len(d.StepTimes) > 1 {
				text = k.Name + ": " + text
			}
			list = append(list, sentence{"WHY", text})
		}
	}
	return list
}

// turns reports whether means and medians of a kind's step time change in opposite
// directions: parts, which are means, would explain what is not said.
func turns(d *compare.Diff, k *compare.Kind) bool {
	var total int64
	for _, p := range k.Parts {
		total += p.Change
	}
	return slices.ContainsFunc(d.StepTimes, func(s compare.StepTime) bool {
		return s.Kind == k.Name && s.Change != 0 && (s.Change < 0) != (total < 0)
	})
}

// partsText is what accounts for the change of a step's mean time, largest first, and what
// goes against it; empty where nothing much changed.
func partsText(k *compare.Kind) string {
	var total, base int64
	for _, p := range k.Parts {
		total, base = total+p.Change, base+p.Base
	}
	if total == 0 || float64(max(total, -total)) < changeShare*float64(base) {
		return ""
	}
	with, against := partsOfChange(k.Parts, total)
	if len(with) == 0 {
		return ""
	}
	text := changedPart(k, with[0]) + " accounts for"
	switch share := float64(with[0].Change) / float64(total); {
	case share < 0.5:
		text += " the largest part of it"
	case share < enoughShare:
		text += " most of it"
	case share <= 1:
		text += " it"
	default:
		text += " more than all of it"
	}
	text += fmt.Sprintf(": %+.2f of %s/step by means", units.MS(with[0].Change), signedMS(total))
	if len(with) > 1 {
		text += "; " + listChanges(with[1:])
	}
	if len(against) > 0 {
		text += "; in the other direction " + listChanges(against)
	}
	return text
}

// partsOfChange are the parts that change in the direction of the total, until enough of it
// is named, and those that change against it.
func partsOfChange(parts []compare.Part, total int64) (with, against []compare.Part) {
	sorted := slices.Clone(parts)
	slices.SortStableFunc(sorted, func(a, b compare.Part) int {
		return int(max(b.Change, -b.Change) - max(a.Change, -a.Change))
	})
	size, named := float64(max(total, -total)), 0.0
	for _, p := range sorted {
		share := float64(p.Change) / float64(total)
		switch {
		case max(share, -share) < partShare:
		case share < 0 && len(against) < mostParts:
			against = append(against, p)
		case share > 0 && len(with) < mostParts && named < enoughShare*size:
			with = append(with, p)
			named += share * size
		}
	}
	return with, against
}

// changedPart names a part, with its medians where those tell the same.
func changedPart(k *compare.Kind, p compare.Part) string {
	name := nameOfPart(p.Name)
	for i := range k.Figures {
		f := &k.Figures[i]
		if f.Name == p.Name && f.Base != nil && f.New != nil && (f.New.Median < f.Base.Median) == (p.Change < 0) {
			return fmt.Sprintf("%s (median %s -> %s ms)", name, millis(f.Base.Median), millis(f.New.Median))
		}
	}
	return name
}

func listChanges(parts []compare.Part) string {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = nameOfPart(p.Name) + " " + signedMS(p.Change)
	}
	return strings.Join(texts, ", ")
}

func signedMS(ns int64) string { return fmt.Sprintf("%+.2f ms", units.MS(ns)) }

// partNames are parts that are called otherwise in sentences.
var partNames = map[string]string{
	"memory":              "copies and memsets",
	"idle_optimizer":      "idle while the optimizer runs on the host",
	"idle_no_operator":    "idle without an operator on the host",
	"idle_launch_latency": "idle in launch calls",
	"idle_kernel_gap":     "idle between kernels",
	"idle_profiler":       "idle in the profiler",
	"idle_queued_wait":    "idle with work in the queue",
	"idle_unlinked":       "idle before events of unknown launches",
}

func nameOfPart(name string) string {
	if text, ok := partNames[name]; ok {
		return text
	}
	if cause, ok := strings.CutPrefix(name, compare.IdlePrefix); ok {
		return "idle in " + spaced(cause)
	}
	if slices.Contains(communicationNames, name) {
		return "exposed " + spaced(name)
	}
	return spaced(name)
}

var communicationNames = []string{"reduce_scatter", "all_gather", "all_reduce", "other_communication"}

// matters reports whether a figure has a row in the table of its kind: causes of idle time
// do from 1 % of the step on, on either side.
func matters(k *compare.Kind, f *compare.Figure) bool {
	if !strings.HasPrefix(f.Name, compare.IdlePrefix) {
		return true
	}
	for i := range k.Figures {
		if d := &k.Figures[i]; d.Name == "duration" {
			return isShare(f.Base, d.Base) || isShare(f.New, d.New)
		}
	}
	return false
}

func isShare(part, whole *compare.Summary) bool {
	return part != nil && whole != nil && part.Median > 0 && 100*part.Median >= whole.Median
}
