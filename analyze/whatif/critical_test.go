package whatif

import (
	"testing"
)

// The parts of a critical path are the whole of each step, and what is known of the runs is on it:
// the compute of a device that never waits, the host of a rank that is late, the fetching of batches.
func TestCriticalPath(t *testing.T) {
	for _, c := range []struct {
		pattern string
		part    Part
		share   float64 // of the step, at least
	}{
		{"../shared/traces/gpu/nanogpt-current.json.gz", PartCompute, 0.88},
		{"../shared/traces/gpu/normuon-rank*.json.gz", PartHost, 0.95},
		{"../shared/traces/gpu/normuon-rank7.json.gz", PartCompute, 0.60},
		{"../shared/traces/idle/resnet50-loader-in-main.json.gz", PartHost, 0.85},
		{"traces/demo-before", PartCompute, 0.70},
	} {
		w := worldOf(t, c.pattern)
		rows, err := w.Critical()
		if err != nil || len(rows) == 0 {
			t.Fatalf("%s: %v", c.pattern, err)
		}
		durations := w.durations(w.Seen)
		for i := range rows {
			sum := int64(0)
			for _, ns := range rows[i].Parts {
				sum += ns
			}
			want := w.mean(durations, i)
			within(t, c.pattern+": sum of the parts", sum, want-int64(NumParts), want)
			if got := float64(rows[i].Parts[c.part]) / float64(want); got < c.share {
				t.Errorf("%s: %.3f of the step is %s, parts %v", c.pattern, got, c.part, rows[i].Parts)
			}
			listed := 0
			for _, e := range rows[i].Edges {
				listed += e.Count
			}
			all := rows[i].Inferred
			if listed > all || all > 0 && listed == 0 || all > rows[i].Hops {
				t.Errorf("%s: %d of %d edges inferred, listed %v", c.pattern, all, rows[i].Hops, rows[i].Edges)
			}
		}
	}
}

// Steps worked out by hand: two of 1,000 us, in which the device waits for a host that launches late, for 10 us
// from the start of the launch, and a last one that is a kernel of 100 us.
func TestCriticalPathByHand(t *testing.T) {
	w := Together([]*Rank{rankOfText(t, threeSteps)}, nil)
	rows, err := w.Critical()
	if err != nil || len(rows) != 1 || rows[0].Steps != 3 {
		t.Fatalf("%+v %v", rows, err)
	}
	want := [NumParts]int64{PartHost: 2 * 990_000 / 3, PartLaunch: 2 * 10_000 / 3, PartCompute: 100_000 / 3}
	if rows[0].Parts != want {
		t.Errorf("parts %v, want %v", rows[0].Parts, want)
	}
	if rows[0].Inferred != 0 || rows[0].Edges != nil {
		t.Errorf("%d inferred edges %v of launches that were recorded", rows[0].Inferred, rows[0].Edges)
	}
	if n := rows[0].Names; len(n) != 1 || n[0].Name != "gemm" || n[0].Time != 100_000/3 {
		t.Errorf("operations %v", n)
	}
}

const threeSteps = `1/1 0us +2us user_annotation Optimizer.step#A.step
1/1 100us +5us cuda_runtime cudaLaunchKernel corr=1
1/1 500us +5us cuda_runtime cudaLaunchKernel corr=2
1/1 600us +50us user_annotation Optimizer.step#A.step
1/1 1100us +5us cuda_runtime cudaLaunchKernel corr=3
1/1 1500us +5us cuda_runtime cudaLaunchKernel corr=4
1/1 1600us +50us user_annotation Optimizer.step#A.step
1/1 2100us +5us cuda_runtime cudaLaunchKernel corr=5
1/1 2200us +50us user_annotation Optimizer.step#A.step
0/7 110us +100us kernel gemm corr=1 stream=7
0/7 510us +200us kernel gemm corr=2 stream=7
0/7 1110us +100us kernel gemm corr=3 stream=7
0/7 1510us +200us kernel gemm corr=4 stream=7
0/7 2110us +100us kernel gemm corr=5 stream=7
`
