package work

import "testing"

func TestCollectsGarbage(t *testing.T) {
	for name, want := range map[string]bool{
		"<built-in method collect of module object at 0x7f22>": true,
		"<built-in function collect>":                          true,
		"gc.collect":                                           true,
		"Python GC":                                            true,
		"GC":                                                   true,
		"garbage_collection":                                   true,
		"train.py(12): run_garbage_collector":                  true,
		"c10d::collective":                                     false,
		"<built-in method collect_data of X object at 0x1>": false,
		"metrics.py(3): collect":                            false,
		"GCNConv.forward":                                   false,
	} {
		if collectsGarbage(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestLargest(t *testing.T) {
	for text, want := range map[string]int64{
		"[2, 66, 1]":                 132,
		"[[768, 64], []]":            49152,
		"[[3],[[4,5],[6,7]],[]]":     42,
		"":                           0,
		"[]":                         0,
		"[[0, 5]]":                   0,
		"[99999999999999999999, 99]": mostElements,
	} {
		got := largest(text)
		if want == mostElements && got <= mostElements && got > 0 {
			continue
		}
		if got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
