package rules

import (
	"embed"
	"strings"
)

//go:embed examples
var exampleFiles embed.FS

// Which names the three examples of a rule.
type Which string

// Fires is a trace in which the rule finds something, Silent one that looks alike and must
// not trigger it, Skipped one that it cannot judge; a rule without needs has none.
const (
	Fires   Which = "fires"
	Silent  Which = "silent"
	Skipped Which = "skipped"
)

// Example returns a rule's example as trace/text; ok is false where it has none.
// Its first comment says what it shows; a line "# want OV004 error, TH004 note"
// lists the findings of all rules, "# also GS002 GS003" the rules that a finding names
// beside its own. The rules not judged stand in testdata/skipped.golden.
func Example(id string, which Which) (text string, ok bool) {
	data, err := exampleFiles.ReadFile("examples/" + id + "/" + string(which) + ".txt")
	return string(data), err == nil
}

// Caption is the first comment of an example.
func Caption(example string) string {
	first, _, _ := strings.Cut(example, "\n")
	return strings.TrimPrefix(first, "# ")
}
