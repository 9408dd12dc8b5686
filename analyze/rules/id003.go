package rules

import (
	"fmt"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/idle"
)

// ID003 finds memory that is allocated and freed inside steps.
var ID003 = analyze.Rule{
	ID:    "ID003",
	Scope: analyze.PerRank,
	Doc: analyze.Doc{
		Title: "memory management leaves the device idle",
		Why: "cudaMalloc and cudaFree take milliseconds, and cudaFree waits for the device. In a steady loop the " +
			"caching allocator needs neither: they show that memory runs short, that shapes change, or that the " +
			"program empties the cache.",
		Fix: "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; fixed shapes; no torch.cuda.empty_cache() in the loop",
	},
	Needs: idleNeeds,
	Run:   idleRule{idle.MemoryCalls, "memory management leaves the device idle", managing, nil}.run,
}

// managing says what the host does in the longest gap.
func managing(s *idle.Shown) string {
	return fmt.Sprintf("the host is in %s%s, %s", s.Event.Name, inside(s), longestGap(s))
}
