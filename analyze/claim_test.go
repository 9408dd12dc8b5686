package analyze

import (
	"fmt"
	"testing"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// Rules of a family that share a bucket lose what other families hold, each all of it,
// and nothing to each other.
func TestClaimRest(t *testing.T) {
	var got []string
	rule := func(id string, rest bool, ns int64) Rule {
		return Rule{ID: id, Run: func(p *Pass) {
			claim := p.Claim
			if rest {
				claim = p.ClaimRest
			}
			ns, others := claim(p.Ranks[0], 1, 0, timeline.IdleBucket, ns)
			got = append(got, fmt.Sprintf("%s %d %v", id, ns, others))
		}}
	}
	// Of each step of 1000 ns 300 are idle.
	Run([]Input{{File: "f", Trace: read(t, stepping(3, 100))}}, Options{Rules: []Rule{
		rule("OP001", false, 100), rule("ID001", true, 150), rule("ID002", true, 120), rule("ID003", true, 80),
	}})
	want := "[OP001 100 [] ID001 50 [OP001] ID002 20 [OP001] ID003 0 [OP001]]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
