package analyze

import (
	"regexp"
	"slices"
	"sync"

	"github.com/gaprof/gaprof/analyze/ranks"
	"github.com/gaprof/gaprof/trace/hardware"
)

// Matched is what the collectives of all ranks say together.
type Matched struct {
	*ranks.Result
	Ranks []*Rank // by source of the Result
}

// match matches the collectives of all ranks.
func match(list []*Rank, alignClocks bool) *Matched {
	var sources []ranks.Source
	for _, r := range list {
		sources = append(sources, ranks.Source{Rank: r.Rank, ID: r.ID, Host: hostOf(r), Assigned: r.Assigned})
	}
	link := func(s ranks.Source) int64 { return hardware.Link(s.Rank.DeviceName) }
	return &Matched{ranks.Match(sources, ranks.Options{AlignClocks: alignClocks, Link: link}), list}
}

// WaitsKnown reports whether waiting is known of any rank.
func (m *Matched) WaitsKnown() bool {
	return slices.ContainsFunc(m.Figures, func(f ranks.Figures) bool { return f.Known })
}

// Whole reports whether waiting is known and a trace of every member of the groups was
// given, so that what is left of a collective is transfer.
func (m *Matched) Whole() bool {
	return m.WaitsKnown() && !slices.ContainsFunc(m.Groups, func(g *ranks.Group) bool {
		return len(g.Absent) > 0 || g.Status != ranks.Matched || g.NoFigures != "" || g.Size > int64(len(g.Ranks))
	})
}

// workerFile is the name that tensorboard_trace_handler gives: host_pid.ns.pt.trace.json.
var workerFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[/\\])([^/\\]+)_\d+\.\d+\.pt\.trace\.json`)
})

// hostOf is the machine that a rank ran on: as its trace says, else by the name of the file;
// "" unknown.
func hostOf(r *Rank) string {
	if r.Host != "" {
		return r.Host
	}
	if m := workerFile().FindStringSubmatch(r.File); m != nil {
		return m[1]
	}
	return ""
}
