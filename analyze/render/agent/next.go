package agent

import (
	"strings"

	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/escape"
)

// mostInputs is how many words a command in Next repeats; a run that was named by more has
// commands without it only.
const mostInputs = 16

// nextOfReport are commands that go on from a report: the rule of the first finding, what its
// change would gain, where the rest is.
func nextOfReport(r *report.Report, run Inputs) []string {
	var list []string
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Severity == report.Note && i > 0 {
			break
		}
		if i < 2 {
			list = append(list, "gaprof explain "+f.Rule)
		}
		if f.Predicted != nil && i == 0 {
			list = append(list, run.command("whatif", "{edit}", f.Predicted.Edit, "{agent}")...)
		}
	}
	if len(r.Findings) == 0 && r.Time != nil {
		list = append(list, run.command("whatif", "{agent}")...)
	}
	return append(list, run.command("report", "-o", "report.html")...)
}

// Inputs are what the user called a run, and how the user names choices in a command.
type Inputs struct {
	Paths []string
	Name  func(text string) string // as choice.Name
}

// command is a command line on the run, for a POSIX shell; none where the paths cannot be
// said in one line or are too many. Words in braces are choices.
func (in Inputs) command(name string, words ...string) []string {
	if len(in.Paths) == 0 || len(in.Paths) > mostInputs {
		return nil
	}
	line := "gaprof " + name
	for _, path := range in.Paths {
		if path == "-" || escape.Control(path) != path {
			return nil
		}
		if strings.HasPrefix(path, "-") {
			path = "./" + path
		}
		line += " " + Quoted(path)
	}
	for _, word := range words {
		if strings.HasPrefix(word, "{") {
			line += " " + in.Name(word)
		} else {
			line += " " + Quoted(word)
		}
	}
	return []string{line}
}

// Quoted is a word as a POSIX shell reads it.
func Quoted(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("/._-+=:,@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
