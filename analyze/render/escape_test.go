package render

import "testing"

// A # is escaped where it would be a heading or the number of an issue, and nowhere else.
func TestHashes(t *testing.T) {
	for in, want := range map[string]string{
		"# head": `\# head`, "  # head": `  \# head`, "x  # a comment": "x  # a comment",
		"ProfilerStep#3": "ProfilerStep#3",
		"see #12":        `see \#12`, "(#7)": `(\#7)`, "#": `\#`, "C# and F#": "C# and F#", "&#64;": `&amp;\#64;`,
		"a@b":                       "a&#64;&#8203;b",
		"Optimizer.step#AdamW.step": "Optimizer.step#AdamW.step", "\xff#1": `\\xff#1`,
	} {
		if got := markdownInline(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
