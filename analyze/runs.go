package analyze

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/internal/units"
)

// TracedRun is traces that can be of one run: each rank once, recorded at the same time. Several
// recordings of a run at different times are several of these.
type TracedRun struct {
	Files     []string           // in the order that they were given, each once
	Ranks     []int64            // the numbers that the traces say or their names, ascending
	Others    int                // ranks of which nothing says the number
	WorldSize int64              // 0 unknown
	Steps     int                // of the rank that recorded most
	Device    string             // "unknown" where no trace says it
	Model     report.Fingerprint // of the first rank whose model is known
	CopyOf    string             // the first file that it repeats, where it is a copy of another run; "" else
	Apart     string             // why it is not of the first run that it contradicts; "" for the first

	files []placed
}

// MostRuns is how many runs are told apart.
const MostRuns = 1000

// Runs tells the traces that were added apart by run, in the order of their first files.
// There is one if nothing contradicts it, and none if no trace was added. What can be one
// run is never taken apart: docs/definitions.md says what contradicts it. Of more than MostRuns
// there is one more in the list, and traces are in none of them.
func (a *Analysis) Runs() []TracedRun {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.SortStableFunc(a.files, func(x, y placed) int { return cmp.Compare(x.place, y.place) })
	var list []TracedRun
	for _, c := range clustersOf(pieces(a.files, &a.o)) {
		list = append(list, c.run())
	}
	return list
}

// Idle are the files that were added and hold nothing to analyze: no operators, launches or device
// events. It is to be asked before the Result.
func (a *Analysis) Idle() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices.SortStableFunc(a.files, func(x, y placed) int { return cmp.Compare(x.place, y.place) })
	used := make(map[string]bool)
	for _, f := range a.files {
		used[f.File] = used[f.File] || len(f.Ranks) > 0
	}
	var list []string
	for _, f := range a.files {
		if !used[f.File] {
			list, used[f.File] = append(list, f.File), true
		}
	}
	return list
}

// ResultOf is Result for the traces of one run, with options of its own: of those that Add
// uses, they must have the same.
func (a *Analysis) ResultOf(r *TracedRun, o Options) *Result { return assemble(r.files, &o) }

// run describes a cluster.
func (c *cluster) run() TracedRun {
	r := TracedRun{WorldSize: c.world, Device: "unknown", Model: unknownFingerprint(), Apart: c.apart}
	original := func(p *piece) bool { return p.copyOf == nil }
	if !slices.ContainsFunc(c.pieces, original) {
		byPlace := func(p, q *piece) int { return cmp.Compare(p.files[0].place, q.files[0].place) }
		r.CopyOf = slices.MinFunc(c.pieces, byPlace).copyOf.file
	}
	for _, p := range c.pieces {
		r.files = append(r.files, p.files...)
		r.Ranks = append(r.Ranks, p.ranks...)
		r.Others += p.unnumbered
		for _, f := range p.facts {
			r.describe(f)
		}
	}
	slices.Sort(r.Ranks)
	slices.SortStableFunc(r.files, func(x, y placed) int { return cmp.Compare(x.place, y.place) })
	for _, f := range r.files {
		if n := len(r.Files); n == 0 || r.Files[n-1] != f.File {
			r.Files = append(r.Files, f.File)
		}
	}
	return r
}

// describe takes in what one rank says of its run.
func (r *TracedRun) describe(f *facts.Rank) {
	r.Steps = max(r.Steps, len(f.Steps))
	r.WorldSize = max(r.WorldSize, f.WorldSize)
	if r.Device == "unknown" && f.DeviceName != "" {
		r.Device = f.DeviceName
	}
	if model := fingerprintOf(f); r.Model.Model == "unknown" {
		r.Model = model
	}
}

// Alike reports whether two runs are of the same program on the same machines, as far as
// both say it, so that their steps may be compared and pooled.
func (r *TracedRun) Alike(other *TracedRun) bool {
	differ := func(a, b, unknown string) bool { return a != b && a != unknown && b != unknown }
	return (r.WorldSize == other.WorldSize || r.WorldSize == 0 || other.WorldSize == 0) &&
		!differ(r.Device, other.Device, "unknown") && !differ(r.Model.Model, other.Model.Model, "unknown") &&
		(slices.Equal(r.Model.Accumulation, other.Model.Accumulation) ||
			len(r.Model.Accumulation) == 0 || len(other.Model.Accumulation) == 0)
}

// SeveralRuns is the error for traces that are not of one run.
type SeveralRuns struct {
	Runs []TracedRun // at least two
}

func (e *SeveralRuns) Error() string { return errors.Join(e.Unwrap()...).Error() }

// TooMany reports whether there are more runs than are told apart.
func (e *SeveralRuns) TooMany() bool { return len(e.Runs) > MostRuns }

// mostListed is how many runs an error describes.
const mostListed = 50

// Unwrap returns the lines of the error: what is wrong, then each run, of many the first ones.
func (e *SeveralRuns) Unwrap() []error {
	lines := []error{fmt.Errorf("the traces are of %d runs, not one", len(e.Runs))}
	if e.TooMany() {
		lines[0] = fmt.Errorf("the traces are of more than %d runs, which is how many are told apart", MostRuns)
	}
	for i := range e.Runs[:min(len(e.Runs), mostListed)] {
		lines = append(lines, fmt.Errorf("  run %d: %s", i+1, e.describe(i)))
	}
	switch more := len(e.Runs) - mostListed; {
	case e.TooMany():
		lines = append(lines, errors.New("  and others"))
	case more > 0:
		lines = append(lines, fmt.Errorf("  and %d more", more))
	}
	return lines
}

// describe says in a line what a run is, why it is one of its own, and how to pass it.
func (e *SeveralRuns) describe(i int) string {
	r := &e.Runs[i]
	text := r.ranksText() + ", " + units.Count(r.Steps, "step")
	if r.Device != "unknown" {
		text += ", " + r.Device
	}
	if r.Apart != "" {
		text += " (" + r.Apart + ")"
	}
	return text + ": " + e.Select(i)
}

// ranksText is which ranks there are, of how many: "ranks 0-3, 6 of 8".
func (r *TracedRun) ranksText() string {
	text := ""
	if r.WorldSize == 1 {
		return "rank 0 of 1"
	}
	switch n := len(r.Ranks) + r.Others; {
	case len(r.Ranks) == 0:
		text = units.Count(n, "rank")
	case n == 1:
		text = fmt.Sprintf("rank %d", r.Ranks[0])
	default:
		text = "ranks " + spans(r.Ranks)
	}
	if len(r.Ranks) > 0 && r.Others > 0 {
		text += fmt.Sprintf(" and %d more", r.Others)
	}
	if r.WorldSize > 0 {
		text += fmt.Sprintf(" of %d", r.WorldSize)
	}
	return text
}

// spans prints ascending numbers, runs of them as 0-3.
func spans(list []int64) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := fmt.Sprint(list[i])
		if j > i {
			part += fmt.Sprintf("-%d", list[j])
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

// mostNamed is how many files of a run are named one by one.
const mostNamed = 3

// Select says how to pass the files of the i-th run alone: its only file, or a pattern that
// fits its files and none of another run, or else the names of the first few.
func (e *SeveralRuns) Select(i int) string {
	files := e.Runs[i].Files
	if len(files) == 1 {
		return files[0]
	}
	if pattern, ok := e.pattern(i); ok {
		return fmt.Sprintf("%s (%d files)", pattern, len(files))
	}
	named := strings.Join(files[:min(len(files), mostNamed)], " ")
	if n := len(files) - mostNamed; n > 0 {
		named += fmt.Sprintf(" and %d more", n)
	}
	return named
}

// mostMatched is among how many files a pattern is looked for: it is tried on each of them.
const mostMatched = 10_000

// pattern is what the names of a run's files have in common, with * for the rest; ok is
// false if a file of another run fits it, too.
func (e *SeveralRuns) pattern(i int) (pattern string, ok bool) {
	files, all := e.Runs[i].Files, 0
	for j := range e.Runs {
		all += len(e.Runs[j].Files)
	}
	if all > mostMatched {
		return "", false
	}
	head, tail := files[0], files[0]
	for _, f := range files[1:] {
		head = head[:commonPrefix(head, f)]
		tail = tail[len(tail)-commonSuffix(tail, f):]
	}
	if over := len(head) + len(tail) - shortest(files); over > 0 {
		tail = tail[over:]
	}
	if strings.ContainsAny(head+tail, `*?[\`) {
		return "", false
	}
	for _, differ := range []string{"*", "[0-9]", "[0-9][0-9]"} {
		if pattern = head + differ + tail; e.only(pattern, i) {
			return pattern, true
		}
	}
	return "", false
}

// only reports whether a pattern fits the files of a run and no other.
func (e *SeveralRuns) only(pattern string, i int) bool {
	for j := range e.Runs {
		for _, f := range e.Runs[j].Files {
			if ok, err := path.Match(filepath.ToSlash(pattern), filepath.ToSlash(f)); err != nil || ok != (j == i) {
				return false
			}
		}
	}
	return true
}

func shortest(files []string) int {
	n := len(files[0])
	for _, f := range files {
		n = min(n, len(f))
	}
	return n
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
