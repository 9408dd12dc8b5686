package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// wholeAnswer is what nanogpt-current says, and every file made from it by odd or
// repaired damage must say too.
const wholeAnswer = "76 23864479 6671128, 38 reduce-scatters, 983 of 4761 unlinked, 4 steps by optimizer"

// damagedCases is one line a file of traces/damaged: the answer, and the problems
// with count and offset that belong to the damage.
var damagedCases = []struct{ file, answer, problems string }{
	{"args-strings.json.gz", wholeAnswer, ""},
	{"bad-escape.json.gz", wholeAnswer, "bad_escape 3 @7126"},
	{"bad-utf8.json.gz", wholeAnswer, "bad_utf8 1 @10214008"},
	{"comm-on-compute-stream.json.gz", wholeAnswer, "communication_on_compute_stream 76"},
	{"compact-oneline.json.gz", wholeAnswer, ""},
	{"gpu-only.json.gz", "76 23864479 6671128, 38 reduce-scatters, 4761 of 4761 unlinked, 0 steps by none", ""},
	{"gzip-named-json.json", wholeAnswer, ""},
	{"inf.json.gz", wholeAnswer, "non_finite_number 5 @4568993"},
	{"multimember.json.gz", wholeAnswer, ""},
	{"nan-inf.json.gz", wholeAnswer, "non_finite_number 5 @4568993"},
	{"no-distributedInfo.json.gz", wholeAnswer, ""},
	{"no-flow.json.gz", wholeAnswer, ""},
	{"no-nccl-kernel-metadata.json.gz", wholeAnswer, ""},
	{
		"no-optimizer.json.gz",
		"76 23864479 6671128, 38 reduce-scatters, 983 of 4761 unlinked, 4 steps by profiler_step",
		"steps_from_profiler 4",
	},
	{"no-profilerstep.json.gz", wholeAnswer, ""},
	{"old-categories.json.gz", wholeAnswer, ""},
	{"reversed-order.json.gz", wholeAnswer, ""},
	{"toplevel-list.json.gz", wholeAnswer, ""},
	{"trailing-comma.json.gz", wholeAnswer, "extra_comma 1 @10223223"},
	{"truncated-gzip.json.gz", "28 8987112 2596108, 14 reduce-scatters, 984 of 1891 unlinked, 4 steps by optimizer",
		"truncated 1 @6426159, compression_damage 1 @6426233"},
	{
		"ts-in-ns.json.gz",
		"76 23864479000 6671128000, 38 reduce-scatters, 983 of 4761 unlinked, 4 steps by optimizer",
		"suspect_time_unit 1",
	},
	{"unclosed-array.json.gz", wholeAnswer, "unclosed_array 1 @10223223"},
}

func TestDamagedTraces(t *testing.T) {
	for _, test := range damagedCases {
		t.Run(test.file, func(t *testing.T) {
			r := analyse(t, shared(t, "damaged", test.file))
			if got := answer(r); got != test.answer {
				t.Errorf("got  %s\nwant %s", got, test.answer)
			}
			if got := problems(r); got != test.problems {
				t.Errorf("problems %q, want %q", got, test.problems)
			}
			if r.Source.Ranks[0] != 0 || r.Source.WorldSize == nil || *r.Source.WorldSize != 8 {
				t.Errorf("rank %v of %v, want 0 of 8", r.Source.Ranks, r.Source.WorldSize)
			}
		})
	}
}

func answer(r *report.Report) string {
	c, d := r.Communication[0], r.Health.DeviceEvents[0]
	scatters := 0
	for _, k := range r.Collectives {
		if k.Kind == "reduce_scatter" {
			scatters = k.Count
		}
	}
	return fmt.Sprintf("%d %d %d, %d reduce-scatters, %d of %d unlinked, %d steps by %s", c.Count, c.Busy,
		c.Overlapped, scatters, d.Unlinked, d.Count, len(r.Steps), r.Source.StepSource)
}

// problems prints all but the unlinked events, which answer has.
func problems(r *report.Report) string {
	var parts []string
	for _, p := range r.Health.Problems {
		if p.Code == "unlinked_device_events" {
			continue
		}
		text := fmt.Sprintf("%s %d", p.Code, p.Count)
		if p.Offset != nil {
			text += fmt.Sprintf(" @%d", *p.Offset)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// TestSitesWithoutOptimizer: without Optimizer.step spans every site is unknown, and
// the rule that needs sites says so.
func TestSitesWithoutOptimizer(t *testing.T) {
	r := analyse(t, shared(t, "damaged", "no-optimizer.json.gz"))
	for _, c := range r.Collectives {
		if len(c.Sites) != 1 || c.Sites[0].Site != "unknown" {
			t.Errorf("%s: %+v", c.Kind, c.Sites)
		}
	}
	if !skips(r, "OV004") {
		t.Error("OV004 ran")
	}
}

// TestImpossibleStreams: what cannot be is not judged.
func TestImpossibleStreams(t *testing.T) {
	r := analyse(t, shared(t, "damaged", "comm-on-compute-stream.json.gz"))
	if !skips(r, "OV001") || !skips(r, "OV004") {
		t.Errorf("skipped %v", r.Skipped)
	}
}

func skips(r *report.Report, id string) bool {
	for _, s := range r.Skipped {
		if s.Rule == id {
			return true
		}
	}
	return false
}

// TestNothingToAnalyse: metadata alone is no rank.
func TestNothingToAnalyse(t *testing.T) {
	if r := analyse(t, shared(t, "damaged", "metadata-only.json.gz")); len(r.Source.Ranks) != 0 {
		t.Errorf("ranks %v", r.Source.Ranks)
	}
}
