package choice

import (
	"slices"
	"testing"
)

func TestName(t *testing.T) {
	flags := map[string]string{"tokens": "--tokens FILE"}
	for _, test := range []struct{ text, want string }{
		{"nothing to choose", "nothing to choose"},
		{"pass {tokens}, and {tokens} again", "pass --tokens FILE, and --tokens FILE again"},
		{"pass {tokens} or {normalization}", "pass --tokens FILE or Options.Normalization"},
		{"a set {0,1} and {what is no choice}", "a set {0,1} and {what is no choice}"},
		{"{tokens", "{tokens"},
	} {
		if got := Name(test.text, flags); got != test.want {
			t.Errorf("%s: %s, want %s", test.text, got, test.want)
		}
	}
	if got := Name("pass {tokens}", nil); got != "pass Options.Logs.Tokens" {
		t.Error(got)
	}
	if !slices.Contains(All(), "tokens") {
		t.Error(All())
	}
}
