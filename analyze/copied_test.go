package analyze

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/trace"
)

// doubts are the codes of problems by rank.
func doubts(list []*Rank) string {
	var all []string
	for _, r := range list {
		text := ""
		for _, p := range r.Problems {
			text += string(p.Code)
		}
		all = append(all, text)
	}
	return strings.Join(all, ",")
}

// TestCopiedRanks: two ranks cannot do everything in the same nanosecond.
func TestCopiedRanks(t *testing.T) {
	rank := func(file string, id, at int64, change func(*facts.Rank)) *Rank {
		f := &facts.Rank{}
		f.First, f.Last, f.DeviceEvents = at, at+1_000_000, 9
		var s facts.Step
		s.HostStart, s.HostEnd = at+1, at+900_000
		f.Steps = []facts.Step{s}
		f.Collectives = []facts.Collective{{Start: at + 5, End: at + 50}}
		if change != nil {
			change(f)
		}
		return &Rank{Rank: f, ID: id, File: file}
	}
	for _, test := range []struct {
		name string
		list []*Rank
		want string
	}{
		{"a copy", []*Rank{rank("a", 0, 7000, nil), rank("b", 1, 7000, nil)}, ",copied_rank"},
		{"another time", []*Rank{rank("a", 0, 7000, nil), rank("b", 1, 8000, nil)}, ","},
		{"of one file", []*Rank{rank("a", 0, 7000, nil), rank("a", 1, 7000, nil)}, ","},
		{"another step", []*Rank{rank("a", 0, 7000, nil), rank("b", 1, 7000, func(f *facts.Rank) {
			f.Steps[0].HostEnd++
		})}, ","},
		{"another collective", []*Rank{rank("a", 0, 7000, nil), rank("b", 1, 7000, func(f *facts.Rank) {
			f.Collectives[0].End++
		})}, ","},
		{"other events", []*Rank{rank("a", 0, 7000, nil), rank("b", 1, 7000, func(f *facts.Rank) {
			f.DeviceEvents++
		})}, ","},
		{"messages that are of each", []*Rank{rank("a", 0, 7000, func(f *facts.Rank) {
			f.Senders = []int64{0}
		}), rank("b", 1, 7000, func(f *facts.Rank) { f.Senders = []int64{1} })}, ","},
		{"messages that are of one", []*Rank{rank("a", 0, 7000, func(f *facts.Rank) {
			f.Senders = []int64{0}
		}), rank("b", 1, 7000, func(f *facts.Rank) { f.Senders = []int64{0} })}, ",copied_rank"},
		{"in whole microseconds", []*Rank{rank("a", 0, 6999, nil), rank("b", 1, 6999, func(f *facts.Rank) {
			f.Steps[0].HostEnd = 906_000
		})}, ","},
	} {
		if test.name == "in whole microseconds" {
			test.list[0].Steps[0].HostEnd = 906_000
		}
		markCopiedRanks(test.list)
		if got := doubts(test.list); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestSwappedRanks: files that are named after other ranks of the run.
func TestSwappedRanks(t *testing.T) {
	number := func(file string) (int64, bool) {
		if digit := file[len(file)-1]; digit >= '0' && digit <= '9' {
			return int64(digit - '0'), true
		}
		return 0, false
	}
	for _, test := range []struct {
		name  string
		files string // with the rank that each says
		want  string
	}{
		{"as named", "rank0=0 rank1=1", ","},
		{"swapped", "rank0=1 rank1=0", string(trace.SwappedRanks) + "," + string(trace.SwappedRanks)},
		{"two of three", "rank0=0 rank1=2 rank2=1",
			"," + string(trace.SwappedRanks) + "," + string(trace.SwappedRanks)},
		{"places in a node", "rank0=8 rank1=9", ","},
		{"one name for all", "rank1=0 rank1=1", ","},
		{"a name without a number", "a=1 rank1=0", ","},
		{"one that does not say", "rank0=- rank1=0", ","},
	} {
		var list []*Rank
		for _, word := range strings.Fields(test.files) {
			file, id, _ := strings.Cut(word, "=")
			r := &Rank{Rank: &facts.Rank{}, File: file, ID: -1}
			if id != "-" {
				r.ID, _ = number(id)
			}
			list = append(list, r)
		}
		markSwapped(list, &Options{RankOf: number})
		if got := doubts(list); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		markSwapped(list, &Options{RankOf: number, FileFirst: true}) // names that were declared decide
		if got := doubts(list); got != test.want {
			t.Errorf("%s: names decide, and are doubted: %q", test.name, got)
		}
	}
}
