package analyze

import (
	"cmp"
	"math"
	"slices"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/idle"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/internal/bounded"
)

// timeSum is the time of some steps, or recordings, by part in ns: the buckets of the ledger
// and, in place of other communication, its kinds.
type timeSum struct {
	count  int64
	bucket [timeline.NumBuckets]bounded.Sum
	kind   map[timeline.CollectiveKind]*bounded.Sum
	idle   [idle.NumCauses]bounded.Sum // causes
	claims map[partKey]*bounded.Sum
}

// partKey is a rule and the part that it claims of.
type partKey struct {
	part, rule string
}

// timeOf says where the time of a mean step goes and which findings charge it; nil without
// device activity.
func timeOf(list []*Rank, p *Pass, findings []report.Finding) *report.Time {
	for _, all := range []bool{false, true} {
		if s := sumSteps(list, p, all); s.count > 0 {
			return s.report("step", findings)
		}
	}
	if slices.ContainsFunc(list, func(r *Rank) bool { return len(r.Steps) > 0 }) {
		return nil // the steps that were asked for have no activity
	}
	s := newTimeSum()
	for _, r := range list {
		for dev := range r.Devices {
			s.addWindow(wholeOf(r, dev), otherSets(r), 1)
			s.count++
		}
	}
	if s.count == 0 || s.isEmpty() {
		return nil
	}
	return s.report("recording", findings)
}

// timeUnknown is why timeOf knows nothing.
func timeUnknown(list []*Rank) string {
	if slices.ContainsFunc(list, func(r *Rank) bool { return r.DeviceEvents > 0 }) {
		return "the steps have no device activity"
	}
	return report.NoDevice
}

func newTimeSum() *timeSum {
	return &timeSum{kind: make(map[timeline.CollectiveKind]*bounded.Sum), claims: make(map[partKey]*bounded.Sum)}
}

// isEmpty reports whether there was no time to sum up.
func (s *timeSum) isEmpty() bool {
	for bucket := range s.bucket {
		if s.bucket[bucket].Over(1) != 0 {
			return false
		}
	}
	return true
}

// addTo adds to one of several sums.
func addTo[K comparable](sums map[K]*bounded.Sum, key K, ns int64) {
	if sums[key] == nil {
		sums[key] = new(bounded.Sum)
	}
	sums[key].Add(ns)
}

// over is the sum of a key divided by n, 0 where there is none.
func over[K comparable](sums map[K]*bounded.Sum, key K, n int64) int64 {
	if sums[key] == nil {
		return 0
	}
	return sums[key].Over(n)
}

// sumSteps sums up the complete steps that were asked for, or all of these.
func sumSteps(list []*Rank, p *Pass, all bool) *timeSum {
	sum := newTimeSum()
	for _, r := range list {
		others := otherSets(r)
		for i := range r.Steps {
			s := &r.Steps[i]
			if !r.Selected(i) || len(s.Windows) == 0 || !s.Complete && !all {
				continue
			}
			sum.count++
			n := devicesOf(s)
			for w := range s.Windows {
				sum.addWindow(s.Windows[w], others, n)
				for cause, ns := range s.Idle[w].Causes {
					sum.idle[cause].Add(ns / n)
				}
				sum.addClaims(p, r, i, w, n)
			}
		}
	}
	return sum
}

// otherSets are the kinds of other communication on a rank: when each is exposed, by device.
func otherSets(r *Rank) map[timeline.CollectiveKind][]*timeline.Set {
	sets := make(map[timeline.CollectiveKind][]*timeline.Set)
	for _, kind := range timeline.CollectiveKinds() {
		if timeline.BucketOf(kind) != timeline.OtherCommBucket {
			continue
		}
		if which := r.Select(func(c *facts.Collective) bool { return c.Kind == kind }); len(which) > 0 {
			sets[kind] = r.ExposedOf(which, kind)
		}
	}
	return sets
}

// addWindow adds a window of one of n devices.
func (s *timeSum) addWindow(w steps.Window, others map[timeline.CollectiveKind][]*timeline.Set, n int64) {
	for bucket, ns := range w.Ledger {
		s.bucket[bucket].Add(ns / n)
	}
	for kind, sets := range others {
		addTo(s.kind, kind, sets[w.Device].Within(w.Start, w.End)/n)
	}
}

// addClaims adds what rules hold of a window's buckets.
func (s *timeSum) addClaims(p *Pass, r *Rank, step, window int, n int64) {
	for bucket := timeline.Bucket(0); bucket < timeline.NumBuckets; bucket++ {
		c := p.claims[claimKey{r, step, window, bucket}]
		if c == nil {
			continue
		}
		for rule, ns := range c.by {
			for _, part := range partsOf(bucket, p.named[rule]) {
				addTo(s.claims, partKey{part, rule}, ns/n)
			}
		}
	}
}

// partsOf are the parts of a bucket that a rule claims of: where it claims of other
// communication, those of the kinds that it names.
func partsOf(bucket timeline.Bucket, named []timeline.CollectiveKind) []string {
	if bucket != timeline.OtherCommBucket {
		return []string{bucket.String()}
	}
	var parts []string
	for _, kind := range named {
		parts = append(parts, kind.String())
	}
	return parts
}

// wholeOf is the recording of a device as a window: all of its activity.
func wholeOf(r *Rank, dev int) steps.Window {
	w := steps.Window{Device: dev, Start: math.MaxInt64, End: math.MinInt64}
	busy := &r.Devices[dev].Busy
	for _, set := range busy.Each {
		set.EachWithin(math.MinInt64, math.MaxInt64, func(start, end int64) {
			w.Start, w.End = min(w.Start, start), max(w.End, end)
		})
	}
	if w.Start >= w.End {
		return steps.Window{Device: dev}
	}
	w.Ledger = busy.Ledger(w.Start, w.End)
	return w
}

// report makes the means.
func (s *timeSum) report(of string, findings []report.Finding) *report.Time {
	t := &report.Time{Of: of, Count: int(s.count), Parts: []report.Part{}}
	add := func(what string, ns int64) {
		if ns > 0 {
			t.Parts = append(t.Parts, report.Part{What: what, Mean: ns, Claims: s.claimsOf(what, ns, findings)})
			t.Length = bounded.Add(t.Length, ns)
		}
	}
	for bucket := range s.bucket {
		if timeline.Bucket(bucket) != timeline.OtherCommBucket {
			add(timeline.Bucket(bucket).String(), s.bucket[bucket].Over(s.count))
		}
	}
	for _, kind := range timeline.CollectiveKinds() {
		add(kind.String(), over(s.kind, kind, s.count))
	}
	for i := range t.Parts {
		t.Parts[i].Share = float64(t.Parts[i].Mean) / float64(t.Length)
	}
	slices.SortStableFunc(t.Parts, func(a, b report.Part) int { return cmp.Compare(b.Mean, a.Mean) })
	if of == "step" {
		var causes [idle.NumCauses]int64
		for cause := range s.idle {
			causes[cause] = s.idle[cause].Over(s.count)
		}
		t.Idle = idleRow(&idle.Window{Charges: idle.Charges{Causes: causes}})
	}
	return t
}

// claimsOf is what findings charge of a part of so many ns, in their order.
func (s *timeSum) claimsOf(part string, of int64, findings []report.Finding) []report.PartClaim {
	list := []report.PartClaim{}
	for i := range findings {
		key := partKey{part, findings[i].Rule}
		if ns := over(s.claims, key, s.count); ns > 0 {
			list = append(list, report.PartClaim{Rule: key.rule, Mean: min(ns, of)})
			delete(s.claims, key)
		}
	}
	return list
}
