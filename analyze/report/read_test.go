package report

import (
	"fmt"
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
		`"steps": [{"start_ns": 1, "duration_ns": 0, "ledger_ns": {}}], "ranks": [{"rank": 0}]`: "",
	} {
		_, err := Read(strings.NewReader(`{"schema": "gaprof.report/1", ` + body + `}`))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

// A report whose figures no run has was changed by hand, or damaged.
func TestReadImpossible(t *testing.T) {
	const step = `"steps": [{"start_ns": 1, "duration_ns": %s, "ledger_ns": {%s}}]`
	for _, test := range []struct{ body, want string }{
		{fmt.Sprintf(step, "5", `"compute": 3, "idle": 2`), ""},
		{fmt.Sprintf(step, "5", `"compute": 3, "idle": 3`), "steps[0].ledger_ns sums to 6"},
		{fmt.Sprintf(step, "5", `"compute": 7, "idle": -2`), "steps[0].ledger_ns has a negative part"},
		{fmt.Sprintf(step, "1000000000000000000", `"idle": 1000000000000000000`), "steps[0].duration_ns is 10"},
		{fmt.Sprintf(step, "86400000000000", `"all_gather": 86400000000000`), ""},
		{fmt.Sprintf(step, "86400000000001", `"all_gather": 86400000000001`), "steps[0].duration_ns is"},
		{fmt.Sprintf(step, "-1", `"reduce_scatter": -1`), "steps[0].duration_ns is -1"},
		{fmt.Sprintf(step, "3", `"memory": 1, "all_reduce": 1, "other_communication": 1`), ""},
		{`"steps": [{}, {"host_duration_ns": -1}]`, "steps[1].host_duration_ns is -1"},
		{`"steps": [{"host_duration_ns": 86400000000001}]`, "steps[0].host_duration_ns is"},
		{`"steps": [{"linked_device_events": -1}]`, "steps[0].linked_device_events is -1"},
	} {
		_, err := Read(strings.NewReader(`{"schema": "gaprof.report/1", ` + test.body + `}`))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.body, err, test.want)
		}
	}
}
