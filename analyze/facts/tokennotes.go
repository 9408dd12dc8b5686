package facts

import (
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/trace"
)

// TokenNote is a token count that the program wrote into its trace, as an annotation named
// gaprof.tokens=59.
type TokenNote struct {
	Step, MicroBatch int   // index of the step, and of the note within it
	Tokens           int64 // not negative
}

// tokenNotes reads the token counts from the annotations of a rank. Notes after the last
// update, or with anything but a count, are left out.
func tokenNotes(x *timeline.Rank, s *steps.Steps) []TokenNote {
	if x.AnyName()&timeline.TokenNote == 0 {
		return nil
	}
	var notes []TokenNote
	values, count := make(map[trace.StringID]int64), make(map[int]int)
	for _, span := range x.Spans(x.Host, timeline.TokenNote) {
		id := x.Col.Name[span.Row]
		n, seen := values[id]
		if !seen {
			n = tokensIn(x.Name(span.Row))
			values[id] = n
		}
		if step := s.At(span.Start); step >= 0 && n >= 0 {
			notes = append(notes, TokenNote{step, count[step], n})
			count[step]++
		}
	}
	return notes
}

// mostNoted is how many tokens a micro-batch may have. No sum of as many counts as a trace has rows
// overflows.
const mostNoted = 1 << 32

// tokensIn returns the count in the name of an annotation, -1 if it has none.
func tokensIn(name string) int64 {
	n, err := strconv.ParseInt(strings.TrimPrefix(name, timeline.TokenNotePrefix), 10, 64)
	if err != nil || n < 0 || n >= mostNoted {
		return -1
	}
	return n
}
