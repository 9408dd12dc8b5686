package render

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// savingText is what a finding's change saves per step: by the replay where there is one, else
// at most; "" unknown.
func savingText(f *report.Finding) string {
	s, p := f.Saving, f.Predicted
	switch {
	case s == nil || s.High == 0 && p == nil:
		return ""
	case p != nil && units.Milliseconds(s.High) == units.Milliseconds(0):
		return "saves next to nothing, by a replay"
	case p == nil || p.Bound:
		return fmt.Sprintf("saves at most %s/step", units.Milliseconds(s.High))
	}
	mean := min(max(p.Gain.Mean, s.Low), s.High)
	text := fmt.Sprintf("saves about %s/step (%s%s)", units.Milliseconds(mean), between(s.Low, s.High), onlyKind(p))
	if p.Most != nil {
		text += fmt.Sprintf(", at most %.2f", units.MS(*p.Most))
	}
	return text
}

// onlyKind says what is saved in the steps of the only kind of several that anything is saved in.
func onlyKind(p *report.Predicted) string {
	var only *report.WhatIfKindRange
	for i := range p.Kinds {
		switch k := &p.Kinds[i]; {
		case k.Gain.Mean == 0:
		case only != nil:
			return ""
		default:
			only = k
		}
	}
	if only == nil || len(p.Kinds) == 1 || only.Gain.Low < 0 {
		return ""
	}
	return fmt.Sprintf("; kind %s %.2f", only.Kind, units.MS(only.Gain.Mean))
}

// between is "0.19 to 0.29", or "up to 0.29".
func between(low, high int64) string {
	if low == 0 {
		return fmt.Sprintf("up to %.2f", units.MS(high))
	}
	return fmt.Sprintf("%.2f to %.2f", units.MS(low), units.MS(high))
}

// predictedText says how a finding's saving was predicted, "" where it was not.
func predictedText(f *report.Finding) string {
	p := f.Predicted
	if p == nil {
		return ""
	}
	text := fmt.Sprintf("%s: %s", p.Edit, gainText(&p.Gain))
	if p.Bound {
		text = fmt.Sprintf("%s: at most %s ms/step", p.Edit, signed(p.Gain.High))
	}
	if len(p.Kinds) > 1 && !p.Bound {
		var kinds []string
		for i := range p.Kinds {
			k := &p.Kinds[i]
			kinds = append(kinds, fmt.Sprintf("%s %s", k.Kind, signed(k.Gain.Mean)))
		}
		text += " (by kind of step: " + strings.Join(kinds, ", ") + ")"
	}
	return text + "; assumed: " + p.Assumes
}
