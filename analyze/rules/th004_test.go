package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/trace/text"
)

// A step more helps where the launches lie before the recording, and makes it worse where
// they were lost in the middle of it.
func TestAdviceOnLostLaunches(t *testing.T) {
	for _, test := range []struct {
		name, launched string // by device event: whether its launch is there
		want           string
	}{
		{"at the start", "no yes yes yes", "note record a step more"},
		{"in the middle", "yes yes no yes", "warn recording more steps would lose more"},
		{"at the end", "yes yes no no", "warn recording more steps would lose more"},
		{"at the start and in the middle", "no no yes no yes", "warn recording more steps would lose more"},
		{"a few of many", "no no" + strings.Repeat(" yes", 120) + " no", "note record a step more"},
		{"none is there", "no no no", "warn record the host together with the device"},
	} {
		var b strings.Builder
		for i, is := range strings.Fields(test.launched) {
			if is == "yes" {
				fmt.Fprintf(&b, "1/1 %dus +2us cuda_runtime cudaLaunchKernel corr=%d\n", 100*i+5, i+1)
			}
			fmt.Fprintf(&b, "0/7 %dus +60us kernel gemm corr=%d stream=7\n", 100*i+20, i+1)
		}
		tr, err := text.Read(strings.NewReader(b.String()), test.name)
		if err != nil {
			t.Fatal(err)
		}
		r := analyze.Run([]analyze.Input{{Trace: tr}}, analyze.Options{Rules: []analyze.Rule{rules.TH004}})
		if len(r.Findings) != 1 {
			t.Fatalf("%s: %+v", test.name, r.Findings)
		}
		f := &r.Findings[0]
		if got := string(f.Severity) + " " + f.Fix; !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
