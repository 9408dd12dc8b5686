package report

import "testing"

// The names of severities and their order.
func TestParseSeverity(t *testing.T) {
	for _, s := range []string{"off", "note", "warn", "error"} {
		if got, err := ParseSeverity(s); err != nil || string(got) != s {
			t.Errorf("%s: %v %v", s, got, err)
		}
	}
	if _, err := ParseSeverity("fatal"); err == nil {
		t.Error("fatal is a severity")
	}
	if Note.AtLeast(Off) || !Error.AtLeast(Warn) || !Warn.AtLeast(Warn) || Note.AtLeast(Warn) {
		t.Error("order of severities")
	}
}
