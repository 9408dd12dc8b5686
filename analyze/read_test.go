package analyze

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestIsReport(t *testing.T) {
	for _, test := range []struct {
		head string
		want bool
	}{
		{"", false}, {"{", false}, {"[", false}, {`["schema"`, false}, {"{}", false}, {`{"traceEvents": [`, false}, {`{"schemaVersion": 1`, false},
		{`{"schema": "gapr`, true}, {"\xef\xbb\xbf {\n \"schema\"", true}, {`{"accumulation_steps": 1`, true}, {`"schema"`, false}, {`{1`, false},
	} {
		if got := IsReport([]byte(test.head)); got != test.want {
			t.Errorf("%q: %v", test.head, got)
		}
	}
}

func TestReadReport(t *testing.T) {
	report := Run([]Input{{File: "f", Trace: read(t, steps(3, 100))}}, Options{Rules: []Rule{claimRule("AA001", 60)}})
	data, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ReadReport(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(back); err != nil || !bytes.Equal(again, data) {
		t.Errorf("%v\n%s\n%s", err, data, again)
	}
	for _, bad := range []string{"", "[]", `{"schema": "gaprof.report/2"}`, `{"schema": 1}`, `{"schema": "gaprof.report/1"} {}`, `{"schema": "gaprof.report/1"`} {
		if _, err := ReadReport(strings.NewReader(bad)); err == nil {
			t.Errorf("%s is a report", bad)
		}
	}
}
