package rules_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/trace/text"
)

// What AC005 says of memory, by what of it was recorded.
func TestAC005Bytes(t *testing.T) {
	data, err := os.ReadFile("examples/AC005/fires.txt")
	if err != nil {
		t.Fatal(err)
	}
	without := func(word string) string {
		return regexp.MustCompile(` `+word+`=\S+`).ReplaceAllString(string(data), "")
	}
	inOptimizer := func(us int, args string) string {
		return fmt.Sprintf("1/1 %dus i cpu_instant_event [memory] devid=0 devtype=1 %s\n", us, args)
	}
	for _, test := range []struct {
		name, source, want string
		cost, saving       int64
		caveats, evidence  int
	}{
		{"all of it", string(data), "they take 33.6 MB of the peak of 302.0 MB, 8.4 MB each", 33554432, 25165824, 0, 1},
		{"no addresses", without("addr"), "their activations are in memory together", -1, -1, 0, 0},
		{
			"no totals", without("allocated"), "they take 33.6 MB of the peak of 100.7 MB, 8.4 MB each",
			33554432, 25165824, 1, 1,
		},
		{
			"host memory", strings.ReplaceAll(string(data), "devid=0 devtype=1", "devid=-1 devtype=0"),
			"they take 33.6 MB of the peak of 302.0 MB, 8.4 MB each", 33554432, 25165824, 1, 1,
		},
		{
			"an accelerator counts before the host",
			string(data) + "\n1/1 90us i cpu_instant_event [memory] size=900000000 addr=7 devid=-1 devtype=0\n" +
				"1/1 119us i cpu_instant_event [memory] size=-900000000 addr=7 devid=-1 devtype=0\n",
			"they take 33.6 MB of the peak of 302.0 MB, 8.4 MB each", 33554432, 25165824, 0, 1,
		},
		{
			"the optimizer takes more",
			string(data) + "\n" + inOptimizer(210, "size=90000000 addr=7 allocated=358435456") +
				inOptimizer(220, "size=-90000000 addr=7 allocated=268435456") +
				inOptimizer(460, "size=90000000 addr=7 allocated=358435456") +
				inOptimizer(470, "size=-90000000 addr=7 allocated=268435456"),
			"their activations take 33.6 MB together, though not at the peak of the step", 0, 0, 0, 1,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr, err := text.Read(strings.NewReader(test.source), "test")
			if err != nil {
				t.Fatal(err)
			}
			r := analyze.Run([]analyze.Input{{File: "test", Trace: tr}}, analyze.Options{Rules: rules.All()})
			checkReport(t, r)
			var found []report.Finding
			for _, f := range r.Findings {
				if f.Rule == "AC005" {
					found = append(found, f)
				}
			}
			if len(found) != 1 {
				t.Fatalf("%d findings", len(found))
			}
			f := found[0]
			cost, saving := int64(-1), int64(-1)
			if f.CostBytes != nil {
				cost, saving = *f.CostBytes, f.SavingBytes.High
			}
			want := "4 forward passes are held for one backward pass: " + test.want
			if f.Message != want || cost != test.cost || saving != test.saving ||
				len(f.Caveats) != test.caveats || len(f.Evidence) != test.evidence {
				t.Errorf("%s\n%s\n%d, at most %d, %d caveats, %d events", f.Message, want, cost, saving, len(f.Caveats),
					len(f.Evidence))
			}
		})
	}
}
