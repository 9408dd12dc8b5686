package rules_test

import (
	"path/filepath"
	"slices"
	"testing"
)

// One step of a real recording on a GPU, which is in the project. The figures of each kind
// of communication were computed without gaprof, by testdata/h100/trim.py. The ledger of
// step 1 is that of the whole recording but for its end, where the next step would begin.
const h100Current = `events 1262 unlinked 0
reduce_scatter 14: 5908370 / 1711006 / 2334443
  optimizer_step NorMuon 8
  optimizer_step DistAdam 6
all_gather 14: 3257405 / 909680 / 1506781
communication 28: 9165775 / 2620686 / 3841224
step 0 A NorMuon complete=false linked=282: 4028972 = 1616508 802605 1211003 310343 88513
step 1 B DistAdam+NorMuon complete=true linked=980: 62412730 = 56517443 964923 2362924 1440281 1127159
`

const h100Hook = `events 1262 unlinked 0
reduce_scatter 14: 5804421 / 2013249 / 2620381
  optimizer_step NorMuon 8
  backward_hook  6
all_gather 14: 3299521 / 1061408 / 1675141
communication 28: 9103942 / 3074657 / 4295522
step 0 A NorMuon complete=false linked=282: 4581285 = 1631331 818880 1722053 310332 98689
step 1 B DistAdam+NorMuon complete=true linked=980: 61452453 = 56571813 964350 1461987 1314048 1140255
`

func TestH100(t *testing.T) {
	for _, c := range []struct {
		file, figures string
		findings      []string
	}{
		// All reduce-scatters lie under Optimizer.step# spans; 2.36 of 62.4 ms have neither compute nor copies beside
		// them, and 1.44 of the all-gathers of what was updated.
		{"current", h100Current, []string{"OV004 warn", "OV009 note"}},
		// Those of DistAdam come from hooks now and end after backward; those of NorMuon are still in its step,
		// 0.21 of 61.5 ms.
		{"hook", h100Hook, []string{"OV001 warn", "OV004 note", "OV009 note"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			r := analyse(t, filepath.Join("testdata", "h100", c.file+".json.gz"))
			if got := figures(r); got != c.figures {
				t.Errorf("%s\nwant\n%s", got, c.figures)
			}
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.Rule+" "+string(f.Severity))
			}
			if !slices.Equal(got, c.findings) {
				t.Errorf("%q, want %q", got, c.findings)
			}
		})
	}
}
