package plots

import (
	"slices"
	"strconv"

	"github.com/gaprof/gaprof/analyze/report"
)

// View is a timeline as data, for a page that draws it itself at any size.
type View struct {
	Rank     int64       `json:"rank"`
	Step     int         `json:"step"`
	Start    string      `json:"start"`    // ns of the trace; more digits than a number of JavaScript has
	Duration int64       `json:"duration"` // ns
	Unit     int64       `json:"unit"`     // ns; what Spans count
	Text     string      `json:"text"`     // what it says, for those who cannot see it
	Rows     []string    `json:"rows"`     // from top to bottom
	Keys     [][2]string `json:"keys"`     // ink and label of the legend
	Strips   []ViewStrip `json:"strips"`   // in the order of drawing
	Names    []string    `json:"names"`    // of kernels and copies
}

// ViewStrip is the spans of one class on one row.
type ViewStrip struct {
	Row   int     `json:"row"` // index of Rows
	Label string  `json:"label"`
	Ink   string  `json:"ink"`
	Low   bool    `json:"low"`   // communication that something hides
	Spans []int64 `json:"spans"` // the gap before a span and its length, in turn

	// Names has a letter a span: "?" is none, the one after it the first of View.Names. "" is none for all.
	Names string `json:"names,omitempty"`
}

// viewParts is how fine the spans of a View are, of its duration.
const viewParts = 20000

// Views are the timelines of a report and the other steps of their ranks, as far as all of
// them together have no more than the given number of spans: first one of each rank. left is how
// many are left out for that.
func Views(r *report.Report, spans int) (views []View, left int) {
	if r.Drawing == nil {
		return nil, 0
	}
	list := orderedTimelines(r)
	all := slices.Clone(list)
	for most, i := mostSteps(list), 0; i < most; i++ {
		for _, t := range list {
			if i < len(t.Others) {
				all = append(all, otherTimeline(&t, &t.Others[i]))
			}
		}
	}
	for i := range all {
		if len(all[i].Strips) == 0 || all[i].Duration <= 0 {
			continue
		}
		n := spansOf(&all[i])
		if n > spans {
			left++
			continue
		}
		spans -= n
		views = append(views, viewOf(&all[i]))
	}
	return views, left
}

func otherTimeline(of *report.Timeline, s *report.TimelineStep) report.Timeline {
	return report.Timeline{Rank: of.Rank, Device: s.Device, Step: s.Step, Kind: s.Kind, Start: s.Start,
		Duration: s.Duration, Resolution: s.Resolution, Folded: s.Folded, Strips: s.Strips, Names: s.Names}
}

func mostSteps(list []report.Timeline) int {
	most := 0
	for i := range list {
		most = max(most, len(list[i].Others))
	}
	return most
}

func spansOf(t *report.Timeline) int {
	n := 0
	for i := range t.Strips {
		n += len(t.Strips[i].Spans)
	}
	return n
}

func viewOf(t *report.Timeline) View {
	v := View{Rank: t.Rank, Step: t.Step, Start: strconv.FormatInt(t.Start, 10), Duration: t.Duration,
		Unit: max(1, t.Duration/viewParts), Text: timelineText(t), Keys: [][2]string{}, Strips: []ViewStrip{},
		Names: slices.Clone(t.Names)}
	rows := rowsOf(t)
	for _, row := range rows {
		v.Rows = append(v.Rows, rowName(row, Wide))
	}
	for _, k := range timelineKeys(t) {
		v.Keys = append(v.Keys, [2]string{k.ink.name, k.label})
	}
	for i := range t.Strips {
		s := &t.Strips[i]
		v.Strips = append(v.Strips, stripView(s, slices.Index(rows, s.Row), v.Unit))
	}
	return v
}

func stripView(s *report.Strip, row int, unit int64) ViewStrip {
	c, at := classOf(classes, s.Class)
	if s.Row == "phase" {
		c, _ = classOf(phases, s.Class)
		at = 0
	}
	v := ViewStrip{Row: row, Label: c.label, Ink: c.ink.name, Spans: make([]int64, 0, 2*len(s.Spans))}
	if at >= 2 && s.Row != "ledger" {
		v.Label = "hidden " + c.label
		if s.Exposed {
			v.Label = exposedLabel(at)
		} else {
			v.Ink, v.Low = c.hidden.name, true
		}
	}
	v.Names = inLetters(s.Names, len(s.Spans))
	last := int64(0)
	for _, span := range s.Spans {
		from := span[0] / unit
		to := max(from+1, (span[0]+span[1]+unit-1)/unit)
		from = max(from, last)
		to = max(from, to)
		v.Spans = append(v.Spans, from-last, to-from)
		last = to
	}
	return v
}

// inLetters writes numbers as letters from "?" on, which JSON has as they are but for one.
func inLetters(numbers []int, n int) string {
	if len(numbers) != n {
		return ""
	}
	text := make([]byte, n)
	for i, number := range numbers {
		if number < 0 || number > mostLetters {
			number = 0
		}
		text[i] = byte(noLetter + number)
	}
	return string(text)
}

// A letter tells so many names apart: "~" is the last.
const (
	noLetter    = '?'
	mostLetters = '~' - noLetter
)
