package rules

import (
	"sync"

	"github.com/gaprof/gaprof/analyze"
)

// All returns the rules in the order in which they may claim time: the specific
// before the general.
func All() []analyze.Rule {
	return withLines([]analyze.Rule{
		GS006, GS004, GS001, GS002, GS003, GS005, GS007, GS008, CL002, CL001, CL003, CL004, OP001, OP002,
		AC002, AC003, AC001, AC004, AC005, ST001, OV004, OV007, OV003, OV001, OV008, OV009, OV010, OV011, OV012, ST002,
		ID001, ID002, ID003, ID004, ID005,
		NM001, NM002, NM003, NM004,
		TH001, TH002, TH003, TH004, TH005, TH006,
	})
}

// withID are the rules by their ids.
var withID = sync.OnceValue(func() map[string]analyze.Rule {
	by := make(map[string]analyze.Rule)
	for _, r := range All() {
		by[r.ID] = r
	}
	return by
})

// Find returns the rule with an id.
func Find(id string) (analyze.Rule, bool) {
	r, ok := withID()[id]
	return r, ok
}
