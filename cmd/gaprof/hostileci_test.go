package main

import (
	"encoding/json"
	"encoding/xml"
	"regexp"
	"strings"
	"testing"
)

func init() {
	outputChecks["sarif"], outputChecks["junit"], outputChecks["comment"] = sarifCheck, junitCheck, commentCheck
}

// sarifLink matches a bracket of a message that is not escaped, which may make a link of it.
var sarifLink = regexp.MustCompile(`(^|[^\\])(\\\\)*[\[\]]`)

// sarifCheck: JSON without any character that a terminal obeys, because viewers show its texts, and whose messages have
// no links.
func sarifCheck(t *testing.T, o outputOf, out string) string {
	t.Helper()
	var log struct {
		Runs []struct {
			Results []struct{ Message struct{ Text string } }
		}
	}
	if err := json.Unmarshal([]byte(out), &log); err != nil || len(log.Runs) != 1 {
		t.Fatalf("%s: %v", o.where, err)
	}
	for _, r := range log.Runs[0].Results {
		if sarifLink.MatchString(r.Message.Text) {
			t.Errorf("%s: a link in %q", o.where, r.Message.Text)
		}
	}
	checkTerminal(t, o.where, out)
	return out
}

// junitCheck: XML of the same elements whatever the names are.
func junitCheck(t *testing.T, o outputOf, out string) string {
	t.Helper()
	checkTerminal(t, o.where, out)
	_, out, _ = strings.Cut(out, "\n") // the declaration
	return checkElements(t, o, "junit", xml.NewDecoder(strings.NewReader(out)))
}

// issueLink matches what GitHub makes links of in text.
var issueLink = regexp.MustCompile(`#[0-9]|GH-[0-9]`)

// commentCheck: Markdown within its mark and its one fold, in the length that GitHub takes.
func commentCheck(t *testing.T, o outputOf, out string) string {
	t.Helper()
	rest, marked := strings.CutPrefix(out, "<!-- gaprof check -->\n")
	head, tail, folded := strings.Cut(rest, "\n<details><summary>All ")
	count, tail, open := strings.Cut(tail, " checks</summary>\n")
	tail, closed := strings.CutSuffix(tail, "\n</details>\n")
	if !marked || !folded || !open || !closed || len(count) > 5 || len(out) > 65536 {
		t.Fatalf("%s: %d bytes, not the frame of a comment: %.200q", o.where, len(out), out)
	}
	text := head + "\n" + tail
	if found := issueLink.FindString(entity.ReplaceAllString(text, "x")); found != "" {
		t.Errorf("%s: %q refers to an issue", o.where, found)
	}
	return markdownCheck(t, o, text)
}
