package drawing

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gaprof/gaprof/trace"
)

// Bounds of the names of a timeline: a page carries each of them once, and one letter a span.
const (
	mostNames   = 63
	mostOfAName = 80 // bytes
)

// piece is the longest event of a span.
type piece struct {
	name   trace.StringID
	length int64
}

// addNamed is add of an event whose name is kept where it is the longest of its span.
func (p *stripper) addNamed(key stripKey, start, end int64, name trace.StringID) {
	p.add(key, start, end)
	i, ok := p.at[key]
	if !ok {
		return
	}
	this := piece{name, min(end, p.t.Window.End) - max(start, p.t.Window.Start)}
	switch n := len(p.longest[i]); {
	case n < len(p.t.Strips[i].Spans):
		p.longest[i] = append(p.longest[i], this)
	case n > 0 && this.length > p.longest[i][n-1].length:
		p.longest[i][n-1] = this
	}
}

// name gives the names that take most time to the strips of streams.
func (p *stripper) name(t *trace.Trace) {
	total := make(map[trace.StringID]int64)
	for _, pieces := range p.longest {
		for _, this := range pieces {
			total[this.name] += this.length
		}
	}
	ids := make([]trace.StringID, 0, len(total))
	for id := range total {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b trace.StringID) int {
		return cmp.Or(cmp.Compare(total[b], total[a]), cmp.Compare(t.String(a), t.String(b)))
	})
	number := make(map[trace.StringID]int)
	for i, id := range ids[:min(len(ids), mostNames)] {
		number[id] = i + 1
		p.t.Names = append(p.t.Names, cut(t.String(id)))
	}
	for i, pieces := range p.longest {
		for _, this := range pieces {
			p.t.Strips[i].Names = append(p.t.Strips[i].Names, number[this.name])
		}
	}
}

// cut is a copy of a name that ends where it becomes long.
func cut(name string) string {
	if len(name) <= mostOfAName {
		return strings.Clone(name)
	}
	n := mostOfAName
	for n > 0 && !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n] + "..."
}
