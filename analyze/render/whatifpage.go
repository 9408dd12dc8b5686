package render

import (
	"fmt"
	"strings"

	"github.com/gaprof/gaprof/analyze/render/plots"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// whatIfTitles are the titles of the tables of predictions on a page, by those in text.
var whatIfTitles = map[string]string{
	"CRITICAL PATH":    "Critical path, ms per step",
	"WHAT IF":          "Changes by gain, ms per step",
	"NOT FOR THIS RUN": "Changes that do not apply, and why",
}

// whatIfSection says what changes would gain: those that apply by gain, the others folded.
func whatIfSection(r *report.Report) section {
	s := section{id: "whatif", title: "What if", figures: plots.Of(r, plots.WhatIf)}
	switch {
	case r.WhatIf == nil && (r.Drawing == nil || r.Drawing.NotReplayed == ""):
		return section{}
	case r.WhatIf == nil:
		s.words = []string{"The run cannot be replayed: " + r.Drawing.NotReplayed + "."}
		return s
	}
	s.answer = "Nothing that applies gains anything"
	for i := range r.WhatIf.Edits {
		if e := &r.WhatIf.Edits[i]; e.Legal && !e.Bound && e.Gain.Mean > 0 {
			s.answer = fmt.Sprintf("About %.2f ms less per step", units.MS(e.Gain.Mean))
			break
		}
	}
	for _, sentence := range whatIfSentences(r.WhatIf) {
		s.words = append(s.words, fmt.Sprintf("%s: %s.", whatIfHeads[sentence.head], sentence.text))
	}
	tables := whatIfTables(r.WhatIf)
	for _, title := range []string{"WHAT IF", "CRITICAL PATH", "NOT FOR THIS RUN"} {
		for _, t := range tables {
			if t.title != title {
				continue
			}
			t.title, t.fold = whatIfTitles[title], title == "NOT FOR THIS RUN"
			t.note = strings.Join(append([]string{t.note}, t.more...), "; ")
			t.more = nil
			s.tables = append(s.tables, t)
		}
	}
	return s
}

// whatIfHeads are the head words of sentences in full.
var whatIfHeads = map[string]string{
	"REPLAY":  "Replay of the unmodified run",
	"GAIN":    "Greatest gain",
	"NEXT":    "How",
	"ASSUMES": "Assumed",
	"FITTED":  "Fitted to the run",
	"REFUSED": "Does not apply",
}
