package report

import (
	"strings"
	"testing"
)

func TestSniff(t *testing.T) {
	for _, test := range []struct {
		head string
		want bool
	}{
		{"", false},
		{"{", false},
		{"[", false},
		{`["schema"`, false},
		{"{}", false},
		{`{"traceEvents": [`, false},
		{`{"schemaVersion": 1`, false},
		{`{"schema": "gapr`, true},
		{"\xef\xbb\xbf {\n \"schema\"", true},
		{`{"accumulation_steps": 1`, true},
		{`"schema"`, false},
		{`{1`, false},
	} {
		if got := Sniff([]byte(test.head)); got != test.want {
			t.Errorf("%q: %v", test.head, got)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	if _, err := Read(strings.NewReader(`{"schema": "gaprof.report/1"}`)); err != nil {
		t.Errorf("the least report: %v", err)
	}
	for _, bad := range []string{
		"", "[]", `{"schema": "gaprof.report/2"}`, `{"schema": 1}`, `{"schema": "gaprof.report/1"} {}`,
		`{"schema": "gaprof.report/1"`,
	} {
		if _, err := Read(strings.NewReader(bad)); err == nil {
			t.Errorf("%s is a report", bad)
		}
	}
}

// What belongs together is there or not: outputs count on it.
func TestReadHalfKnown(t *testing.T) {
	for body, want := range map[string]string{
		`"steps": [{"ledger_ns": {}}]`:                      "steps[0] has some of start_ns, duration_ns and ledger_ns",
		`"token_all_reduce": [{"present": true}]`:           "token_all_reduce[0] is present nowhere",
		`"ranks": [{"rank": 0}, {"rank": 1, "wait_ns": 1}]`: "ranks[1] has some of wait_ns",
		`"matching": {"transfer_median_ns": 1}`:             "matching has some",

		`"steps": [{"host_duration_ns": 1}, {"start_ns": 1, "duration_ns": 1}]`:                 "steps[1] has some",
		`"steps": [{"start_ns": 1, "duration_ns": 1, "ledger_ns": {}}], "ranks": [{"rank": 0}]`: "",
	} {
		_, err := Read(strings.NewReader(`{"schema": "gaprof.report/1", ` + body + `}`))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}
