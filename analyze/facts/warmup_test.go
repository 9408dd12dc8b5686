package facts

import (
	"slices"
	"testing"
)

// Of two ranks in one file the one that compiles is told apart from the one that does
// not; a rank alone also owns the rows that the profiler keeps for overhead.
func TestWarmupIsOfItsRank(t *testing.T) {
	const merged = `1/1 10 +9 user_annotation Optimizer.step#A.step
1/1 40 +9 user_annotation Optimizer.step#A.step
2/1 10 +9 user_annotation Optimizer.step#A.step
2/1 21 +4 user_annotation inductor_compile
2/1 23 +6 user_annotation compile_fx
2/1 40 +9 user_annotation Optimizer.step#A.step
`
	const alone = `1/1 10 +9 user_annotation Optimizer.step#A.step
1/1 40 +9 user_annotation Optimizer.step#A.step
-1/5 21 +4 overhead "Lazy Function Loading"
`
	const graph = `1/1 10 +9 user_annotation Optimizer.step#A.step
1/1 21 +7 cuda_runtime cudaGraphInstantiate_v12000 corr=4
1/1 22 +5 cuda_driver cuGraphInstantiateWithFlags corr=4
1/1 40 +9 user_annotation Optimizer.step#A.step
`
	for _, test := range []struct {
		name, source string
		want         [][]int64 // ns by rank and step
	}{
		{"a graph is captured", graph, [][]int64{{0, 7}}},
		{"two ranks in one file", merged, [][]int64{{0, 0}, {0, 8}}},
		{"rows of the profiler", alone, [][]int64{{0, 4}}},
	} {
		ranks := compute(t, test.source)
		if len(ranks) != len(test.want) {
			t.Fatalf("%s: %d ranks", test.name, len(ranks))
		}
		for i, r := range ranks {
			if !slices.Equal(r.Compiling, test.want[i]) || (len(r.Compiled) > 0) != (r.Compiling[1] > 0) {
				t.Errorf("%s: rank %d compiles %v ns, %v", test.name, i, r.Compiling, r.Compiled)
			}
			if r.Graphs != (test.source == graph) {
				t.Errorf("%s: graphs %v", test.name, r.Graphs)
			}
		}
	}
}
