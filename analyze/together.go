package analyze

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/steps"
)

// What contradicts that two files are of one run. Anything else is taken for one run: ranks
// may differ in the number of collectives, in the part of the model that they hold, in the
// clocks of their hosts, and in what they say of themselves.
const (
	// apartAlways is by how much recordings of one run are never apart: ranks record the same
	// steps, and clocks of hosts differ by seconds, badly kept ones by minutes.
	apartAlways = int64(10 * time.Minute)
	// apartModels is the same for ranks whose parameters differ, as those of pipeline stages do.
	apartModels = int64(time.Minute)
	// unixTime is the least time since 1970 that a recording can have; clocks that begin
	// elsewhere, as when the host started, have less.
	unixTime = int64(100_000_000 * time.Second)
	// ownTime is when recordings begin at most that count from a start of their own. Later, a
	// clock may count from when its host started, which says nothing of other hosts.
	ownTime = int64(2 * time.Hour)
)

// piece is what one file says of the run that it is of.
type piece struct {
	files      []placed // the traces in it
	facts      []*facts.Rank
	file       string
	stem       string  // the file with # for its rank, "" if its name says none
	ranks      []int64 // numbers of its ranks
	unnumbered int     // ranks without a number
	guessed    bool    // a number is that of a sender, which may be a position in a group
	world      int64   // number of ranks that the run has, 0 unknown
	least      int64   // ranks that it has at least, by its messages
	backend    string  // "" unknown
	optimizers []string
	model      string // "unknown" if it is
	from, to   int64  // ns, of the recording
	events     int64
	clock      clock
	copyOf     *piece // that it repeats, nil for none
}

// clock is what times of a file count from.
type clock uint8

const (
	otherClock clock = iota // times compare with those of no other file
	ownClock                // from some instant, which files of one writer may share
	unixClock               // from 1970
)

// pieces are the files that hold ranks, in order. A file without any says nothing of runs
// and goes with the first that does.
func pieces(files []placed, o *Options) []*piece {
	var list []*piece
	var idle []placed
	for i := 0; i < len(files); {
		j := i
		for j < len(files) && files[j].place == files[i].place {
			j++
		}
		if p := pieceOf(files[i:j], o); len(p.facts) > 0 {
			list = append(list, p)
		} else {
			idle = append(idle, p.files...)
		}
		i = j
	}
	switch {
	case len(idle) == 0:
	case len(list) == 0:
		list = append(list, &piece{files: idle, file: idle[0].File})
	default:
		list[0].files = append(slices.Clone(list[0].files), idle...)
	}
	return list
}

// pieceOf describes the traces of one file.
func pieceOf(files []placed, o *Options) *piece {
	p := &piece{files: files, file: files[0].File, model: "unknown"}
	named, known := int64(0), false
	if o.RankOf != nil {
		named, known = o.RankOf(p.file)
	}
	if known {
		p.stem = stemOf(p.file, named)
	}
	for _, f := range files {
		p.events += f.Events
		for i := range f.Ranks {
			p.add(f.Ranks[i].Facts, f.Format)
		}
	}
	if len(p.facts) == 1 {
		p.number(p.facts[0], named, known, o.FileFirst)
	}
	if len(p.facts) == 1 && p.world == 0 && !known && solitary(p.facts[0]) {
		p.world = 1
	}
	return p
}

// add takes in one rank.
func (p *piece) add(r *facts.Rank, format string) {
	from, to := r.BaseTime+r.First, r.BaseTime+r.Last
	if len(p.facts) == 0 {
		p.from, p.to, p.clock = from, to, clockOf(from, format)
	}
	p.from, p.to = min(p.from, from), max(p.to, to)
	p.facts = append(p.facts, r)
	if r.ID >= 0 {
		p.ranks = append(p.ranks, r.ID)
		p.guessed = p.guessed || r.IDSource == "record_param_comms"
	} else {
		p.unnumbered++
	}
	if r.Distributed != nil {
		p.world, p.backend = max(p.world, r.Distributed.WorldSize), cmp.Or(p.backend, r.Distributed.Backend)
	} else {
		p.least = max(p.least, r.WorldSize)
	}
	for i := range r.Steps {
		if r.StepSource == steps.FromOptimizer {
			p.optimizers = append(p.optimizers, r.Steps[i].Optimizers...)
		}
	}
	if p.model == "unknown" {
		p.model = fingerprintOf(r).Model
	}
}

// number settles the number of the only rank of a file, as the report will have it: that of
// its name goes before a position in a group, and before all where the user says so.
func (p *piece) number(r *facts.Rank, named int64, known, fileFirst bool) {
	if known && (fileFirst || r.ID < 0 || p.guessed) {
		p.ranks, p.unnumbered, p.guessed = []int64{named}, 0, false
	}
}

// solitary reports whether a trace of training hints at no other rank: a device or a
// backward pass ran, and nothing communicated.
func solitary(r *facts.Rank) bool {
	ran := r.DeviceEvents > 0 || len(r.Backwards) > 0
	return ran && r.Distributed == nil && r.ID < 0 && len(r.Collectives) == 0 && !r.Communicates
}

// clockOf tells by the first instant what the times of a file count from. Recorders that
// write databases count from when a session or the host started, which no two files share.
func clockOf(from int64, format string) clock {
	switch {
	case from >= unixTime:
		return unixClock
	case from >= ownTime:
		return otherClock
	case format == "kineto", format == "chrome", format == "text":
		return ownClock
	}
	return otherClock
}

// stemOf is a file with # in the place of its rank, so that the files of a recording that
// are named alike have the same: the last number of its name that is the rank.
func stemOf(file string, rank int64) string {
	dir, base := filepath.Split(file)
	digits := func(c byte) bool { return '0' <= c && c <= '9' }
	for to := len(base); to > 0; to-- {
		from := to
		for from > 0 && digits(base[from-1]) {
			from--
		}
		if from == to {
			continue
		}
		if n, err := strconv.ParseInt(base[from:to], 10, 64); err == nil && n == rank {
			return dir + base[:from] + "#" + base[to:]
		}
		to = from + 1
	}
	return ""
}
