package analyze

import (
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/steps"
)

// sourceOf says what was read: files in order, and the ranks that were asked for.
func sourceOf(files []placed, list []*Rank) report.Source {
	s := report.Source{
		Files:       []string{},
		Ranks:       []int64{},
		DataLoaders: []string{},
		Format:      "unknown",
		Device:      "unknown",
		StepSource:  string(steps.None),
		Fingerprint: unknownFingerprint(),
	}
	for _, f := range files {
		if n := len(s.Files); n == 0 || s.Files[n-1] != f.File {
			s.Files = append(s.Files, f.File)
		}
		s.Bytes += f.Bytes
		s.Events += f.Events
	}
	if len(files) > 0 && files[0].Format != "" {
		s.Format = files[0].Format
	}
	if len(list) > 0 {
		first := list[0]
		s.Fingerprint, s.StepSource = fingerprintOf(first.Rank), string(first.StepSource)
		if first.DeviceName != "" {
			s.Device = first.DeviceName
		}
	}
	for _, r := range list {
		s.Ranks = append(s.Ranks, r.ID)
		s.RankFiles = append(s.RankFiles, report.RankFile{Rank: r.ID, File: r.File})
		s.DataLoaders = append(s.DataLoaders, r.Loaders...)
	}
	slices.Sort(s.DataLoaders)
	s.DataLoaders = slices.Compact(s.DataLoaders)
	s.WorldSize = worldSize(list)
	return s
}

// worldSize is the greatest that any rank knows, nil unknown.
func worldSize(list []*Rank) *int64 {
	var size int64
	for _, r := range list {
		size = max(size, r.WorldSize)
	}
	if size == 0 && len(list) == 1 && alone(list[0].Rank) {
		size = 1
	}
	if size == 0 {
		return nil
	}
	return &size
}

// alone reports whether a trace without distributed information shows no collective
// of any kind: then it is the only rank.
func alone(r *facts.Rank) bool {
	return len(r.Collectives) == 0 && r.StepSource != steps.None && !r.Communicates && r.Categorised
}

func unknownFingerprint() report.Fingerprint {
	return report.Fingerprint{Model: "unknown", Accumulation: []int{}}
}

// fingerprintOf takes the fingerprint from one rank; all ranks of a run train the same model.
func fingerprintOf(r *facts.Rank) report.Fingerprint {
	f := unknownFingerprint()
	if len(r.Steps) == 0 || !r.Params.Known() {
		return f
	}
	var lines []string
	for _, c := range r.Params.Classes {
		lines = append(lines, fmt.Sprintf("parameter %v %s %d", c.Dims, c.Dtype, c.Count))
	}
	for _, o := range r.Optimizers {
		lines = append(lines, "optimizer "+o.Name)
		f.Accumulation = append(f.Accumulation, lastAccumulation(r, o.Name))
	}
	slices.Sort(lines)
	h := fnv.New64a()
	for _, line := range lines {
		fmt.Fprintln(h, line)
	}
	if slices.Contains(f.Accumulation, facts.Unknown) {
		f.Accumulation = []int{} // which of several it is could not be said
	}
	f.Model = fmt.Sprintf("%016x", h.Sum64())
	return f
}

// lastAccumulation is the last known accumulation steps of an optimizer.
func lastAccumulation(r *facts.Rank, name string) int {
	last := facts.Unknown
	for i := range r.Steps {
		for _, o := range r.Steps[i].PerOptimizer {
			if o.Name == name && o.Accumulation != facts.Unknown {
				last = o.Accumulation
			}
		}
	}
	return last
}
