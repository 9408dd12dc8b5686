package idle

import (
	"slices"
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// Loaders are the kinds of PyTorch's loaders that fetch batches in a trace, sorted, such as
// _SingleProcessDataLoaderIter: who iterates, by the names of the spans around it.
func Loaders(t *trace.Trace) []string {
	var list []string
	for id := range t.NumStrings() {
		name := t.String(trace.StringID(id))
		if !hasAnyPrefix(name, loaderSpans...) {
			continue
		}
		_, name, _ = strings.Cut(name, "#")
		list = append(list, strings.TrimSuffix(name, ".__next__"))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// loaderSpans begin the names of the spans that PyTorch's loaders record around a batch.
var loaderSpans = []string{"enumerate(DataLoader)#", "enumerate(DataPipe)#"}
