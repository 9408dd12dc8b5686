package analyze

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cluster is the files of one run, and what they say together.
type cluster struct {
	pieces     []*piece
	rank       map[int64]*piece // that has a rank
	ranks      int              // in all files, those without a number too
	world      int64            // 0 unknown
	least      int64
	backend    string // "" unknown
	optimizers map[string]bool
	models     map[string]bool // those that are known
	recorded   map[clock][2]int64
	apart      string

	stems, bases, dirs map[string]bool
}

// clustersOf puts files together that can be of one run: in the order of time where all
// times compare, else in that of the files, each goes to the run that it fits best, and
// begins another one only if it contradicts all. So a set that could be one run is one. Copies of
// files are runs of their own, so that they draw no other file to them. Beyond MostRuns there is
// one more cluster at most, and files are left out.
func clustersOf(list []*piece) []*cluster {
	order := slices.Clone(list)
	if !slices.ContainsFunc(order, func(p *piece) bool { return p.clock == otherClock || p.clock != order[0].clock }) {
		slices.SortStableFunc(order, func(a, b *piece) int { return cmp.Compare(a.from, b.from) })
	}
	markCopies(order)
	var clusters, copies []*cluster
	for _, p := range order {
		if p.copyOf == nil && len(clusters) <= MostRuns {
			_, clusters = join(clusters, p)
		}
	}
	for _, p := range order {
		if p.copyOf != nil && len(clusters)+len(copies) <= MostRuns {
			_, why := fittest(clusters, p)
			var c *cluster
			c, copies = join(copies, p)
			c.apart = cmp.Or(c.apart, why)
		}
	}
	clusters = append(clusters, copies...)
	slices.SortStableFunc(clusters, func(a, b *cluster) int { return cmp.Compare(a.place(), b.place()) })
	return clusters
}

// join adds a file to the run that it fits best, or to a new one.
func join(clusters []*cluster, p *piece) (*cluster, []*cluster) {
	best, why := fittest(clusters, p)
	if best == nil {
		best = newCluster(why)
		clusters = append(clusters, best)
	}
	best.add(p)
	return best, clusters
}

// fittest is the run that a file fits best; nil if it contradicts all, and why it does the
// first.
func fittest(clusters []*cluster, p *piece) (best *cluster, why string) {
	var most fitness
	for i, c := range clusters {
		if again := c.again(p); again >= 0 && why != "" {
			continue
		}
		if reason := c.contradicts(p); reason != "" {
			why = cmp.Or(why, reason)
			continue
		}
		if f := c.fitness(p, i); best == nil || f.better(most) {
			best, most = c, f
		}
	}
	return best, why
}

func newCluster(apart string) *cluster {
	return &cluster{
		rank:       make(map[int64]*piece),
		optimizers: make(map[string]bool),
		models:     make(map[string]bool),
		recorded:   make(map[clock][2]int64),
		stems:      make(map[string]bool),
		bases:      make(map[string]bool),
		dirs:       make(map[string]bool),
		apart:      apart,
	}
}

// place is that of the first file.
func (c *cluster) place() int {
	place := c.pieces[0].files[0].place
	for _, p := range c.pieces {
		place = min(place, p.files[0].place)
	}
	return place
}

func (c *cluster) add(p *piece) {
	c.pieces = append(c.pieces, p)
	c.ranks += len(p.ranks) + p.unnumbered
	c.world, c.least = max(c.world, p.world), max(c.least, p.least)
	c.backend = cmp.Or(c.backend, p.backend)
	for _, r := range p.ranks {
		c.rank[r] = p
	}
	for _, name := range p.optimizers {
		c.optimizers[name] = true
	}
	if p.model != "unknown" {
		c.models[p.model] = true
	}
	if p.clock != otherClock {
		window, ok := c.recorded[p.clock]
		if !ok {
			window = [2]int64{p.from, p.to}
		}
		c.recorded[p.clock] = [2]int64{min(window[0], p.from), max(window[1], p.to)}
	}
	c.stems[p.stem], c.bases[filepath.Base(p.file)], c.dirs[filepath.Dir(p.file)] = true, true, true
}

// gap is the time between a file and the recordings of the run, 0 where they overlap; ok is
// false where their times do not compare.
func (c *cluster) gap(p *piece) (ns int64, ok bool) {
	window, ok := c.recorded[p.clock]
	return max(0, p.from-window[1], window[0]-p.to), ok
}

// contradicts says why a file cannot be of the run, "" if it can.
func (c *cluster) contradicts(p *piece) string {
	if r := c.again(p); r >= 0 {
		return fmt.Sprintf("rank %d occurs again", r)
	}
	return cmp.Or(c.outgrown(p), c.another(p), c.longAgo(p), c.elsewhen(p))
}

// again is a rank of a file that the run has already, -1 for none.
func (c *cluster) again(p *piece) int64 {
	for _, r := range p.ranks {
		if q := c.rank[r]; q != nil && !p.mistaken(q) {
			return r
		}
	}
	return -1
}

// mostTold is how many files of a run are asked whether another one fits: those of one run tell
// the same.
const mostTold = 256

// elsewhen says that a file is of another run of the same program, by its collectives. One file
// of the run that was recorded at another time tells as much as all.
func (c *cluster) elsewhen(p *piece) string {
	if apart, ok := c.gap(p); !ok || apart == 0 {
		return ""
	}
	if i := slices.IndexFunc(c.pieces[:min(len(c.pieces), mostTold)], p.drifts); i >= 0 {
		return "its collectives are not those of " + filepath.Base(c.pieces[i].file)
	}
	return ""
}

// another says why a file is of another program.
func (c *cluster) another(p *piece) string {
	shared := func(name string) bool { return c.optimizers[name] }
	switch {
	case p.backend != "" && c.backend != "" && p.backend != c.backend:
		return "backend " + p.backend + ", not " + c.backend
	case len(p.optimizers) > 0 && len(c.optimizers) > 0 && !slices.ContainsFunc(p.optimizers, shared):
		return "other optimizers: " + strings.Join(slices.Compact(slices.Sorted(slices.Values(p.optimizers))), ", ")
	}
	return ""
}

// longAgo says how far apart a file was recorded, if that is too far.
func (c *cluster) longAgo(p *piece) string {
	apart, ok := c.gap(p)
	if !ok || apart <= apartModels {
		return ""
	}
	text := "recorded " + time.Duration(apart).Round(time.Second).String() + " apart"
	switch {
	case apart > apartAlways:
		return text
	case p.model != "unknown" && len(c.models) > 0 && !c.models[p.model]:
		return "another model, " + text
	}
	return ""
}

// outgrown says how the numbers of ranks contradict each other.
func (c *cluster) outgrown(p *piece) string {
	world := max(c.world, p.world)
	switch {
	case p.world > 0 && c.world > 0 && p.world != c.world:
		return fmt.Sprintf("world size %d, not %d", p.world, c.world)
	case world > 0 && max(p.least, c.least) > world:
		return fmt.Sprintf("a process group of %d ranks, world size %d", max(p.least, c.least), world)
	case world > 0 && int64(c.ranks+len(p.ranks)+p.unnumbered) > world:
		return outnumbered(world)
	}
	return ""
}

// outnumbered says that a run has no room for another rank.
func outnumbered(world int64) string {
	if world == 1 {
		return "a run of one rank"
	}
	return fmt.Sprintf("there are only %d ranks in a run", world)
}

// mistaken reports whether the number that two files share is probably that of neither: it
// was read from messages, where it may be a position in a group, and both were recorded at
// once, which no rank does. A copy of the same recording has as many events.
func (p *piece) mistaken(q *piece) bool {
	together := p.clock == q.clock && p.clock != otherClock && p.from < q.to && q.from < p.to
	return p.guessed && q.guessed && together && p.events != q.events
}

// fitness is how well a file fits a run, by what counts most first.
type fitness struct {
	named   bool  // a file of the run has the same name but for the rank
	overlap bool  // recorded at the same time
	base    bool  // a file of the run has the same name in another folder
	dir     bool  // a file of the run is in the same folder
	near    int64 // ns between them, less is better; the greatest number if times do not compare
	index   int   // of the run; the latest is better
}

func (c *cluster) fitness(p *piece, index int) fitness {
	f := fitness{
		named: p.stem != "" && c.stems[p.stem],
		base:  c.bases[filepath.Base(p.file)],
		dir:   c.dirs[filepath.Dir(p.file)],
		near:  1<<63 - 1,
		index: index,
	}
	if apart, ok := c.gap(p); ok {
		f.near, f.overlap = apart, apart == 0
	}
	return f
}

func (f fitness) better(g fitness) bool {
	for _, pair := range [][2]bool{{f.named, g.named}, {f.overlap, g.overlap}, {f.base, g.base}, {f.dir, g.dir}} {
		if pair[0] != pair[1] {
			return pair[0]
		}
	}
	return cmp.Or(cmp.Compare(g.near, f.near), cmp.Compare(f.index, g.index)) > 0
}
