package chrome

import (
	"slices"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// Between two values that vary, a writer puts the same bytes over and over:
// commas, space, keys, and values such as the phase, the category and the ids of
// process and thread. A hop is such a stretch, learned once by the rules and then
// recognised by its bytes. Hops only ever hold what the rules accepted at this
// place, so a hit needs no validation; what is new goes by the rules again.

// hop is one stretch of bytes from behind a value to the next value that varies,
// or to behind the end of the event, with what the stretch says.
type hop struct {
	pattern
	next [ways]*hop // hops that followed
	turn uint8      // the one to replace
	goal goal

	seen     uint16 // keys whose values are part of the stretch
	ph       byte
	cat      trace.Cat
	pid, tid trace.StringID
	adds     []trace.Arg // arguments whose values are part of the stretch

	value plainKind
	plan  *plan // of the way that ends here, where it is a plain one

	own  field     // goal ownValue: the key
	key  trace.Key // goal argValue: the key
	keep bool      // and whether someone asks for it

	sequel *hop // what the event after one that begins so is looked up in
}

// goal is what stands behind a hop.
type goal uint8

const (
	opening  goal = iota // an event whose brace was just read
	ownValue             // the value of a key of the event
	argValue             // the value of an argument
	theEnd               // the end of the event
)

const (
	ways    = 8
	maxHop  = 128  // bytes of a hop; longer ones are not learned
	maxHops = 4096 // with more, learning starts anew

	fewEvents = 16 * maxHops // but not before it has seen so many
)

// follow returns the hop behind h whose bytes stand at i, nil where none does. The
// one that was right the last time is asked first.
func (h *hop) follow(b []byte, i int) *hop {
	if next := h.next[0]; next != nil && next.stands(b, i) {
		return next
	}
	return h.turnTo(b, i)
}

// turnTo is follow for the others that stood there before; the one it finds becomes
// the first.
func (h *hop) turnTo(b []byte, i int) *hop {
	for k := 1; k < ways && h.next[k] != nil; k++ {
		if next := h.next[k]; next.stands(b, i) {
			h.next[k], h.next[0] = h.next[0], next
			return next
		}
	}
	return nil
}

// hop goes from the end of a value at i, or from the opening brace, to the next
// value that varies or to the end of the event; next is negative where a rule is
// broken.
func (d *reader) hop(at *hop, i int) (h *hop, next int) {
	if d.Mode == token.Strict && !d.opts.rules {
		if h = at.follow(d.Buf, i); h != nil && h.seen&d.ev.seen == 0 {
			d.apply(h, i)
			if i += len(h.text); d.Buf[i] <= ' ' && h.goal != theEnd {
				i = scan.SkipSpace(d.Buf, i) // more of it than was learned
			}
			return h, i
		}
	}
	return d.walk(at, i)
}

// apply sets what the values within the stretch say.
func (d *reader) apply(h *hop, i int) {
	ev := &d.ev
	ev.seen |= h.seen
	for _, a := range h.adds {
		d.addArg(a, i)
	}
	if h.seen == 0 {
		return // as for most
	}
	if h.seen&(1<<fieldPh) != 0 {
		ev.ph = h.ph
	}
	if h.seen&(1<<fieldCat) != 0 {
		ev.row.Cat = h.cat
	}
	if h.seen&(1<<fieldPid) != 0 {
		ev.pid = h.pid
	}
	if h.seen&(1<<fieldTid) != 0 {
		ev.tid = h.tid
	}
}

// walk goes the way of hop by the rules, and remembers it.
func (d *reader) walk(at *hop, i int) (h *hop, next int) {
	start, from, before, notes, args := i, at.goal, d.ev.seen, len(d.Notes), len(d.args)
	first, inArgs, plain := from == opening, from == argValue, true
	learns := d.Mode == token.Strict && !d.opts.rules && at != &d.unknown // nobody comes back to what is not learned
	d.unknown = hop{}
	h = &d.unknown
	for {
		k, vi := d.Member(i, first)
		if vi < 0 {
			return nil, vi
		}
		plain, first = plain && !k.Raw, false
		switch {
		case k.IsNone() && inArgs:
			inArgs, i = false, vi
			continue
		case k.IsNone():
			h.goal = theEnd
		case inArgs:
			name := d.Text(k.Token())
			h.goal = argValue
			h.key, h.keep = d.lookupKey(name)
			if _, _, ok := scan.Integer(d.Buf, vi); ok && isSteadyArg(name) {
				i = d.readArg(h, vi)
				continue
			}
		default:
			h.goal, h.own = ownValue, fields[string(d.KeyText(k))]
			switch {
			case h.own == fieldArgs && d.Buf[vi] == '{':
				d.once(fieldArgs, vi)
				inArgs, first, i = true, true, vi+1
				continue
			case h.own.isSteady():
				if i = d.field(h.own, vi); i < 0 {
					return nil, i
				}
				continue
			}
		}
		h.seen = d.ev.seen &^ before
		if h.goal == ownValue && h.own == fieldArgs {
			learns = false // other events have an object here, to be gone into
		}
		if learns && plain && len(d.Notes) == notes && vi-start <= maxHop && vi <= d.N {
			h.adds = slices.Clone(d.args[args:])
			h = d.learn(at, from, h, string(d.Buf[start:vi]))
		}
		return h, vi
	}
}

// isSteady tells whether the values of a key of the event are so few that they
// are learned with the stretch they stand in.
func (f field) isSteady() bool {
	return f == fieldPh || f == fieldCat || f == fieldPid || f == fieldTid
}

// isSteadyArg is isSteady for arguments that are integers.
func isSteadyArg(name []byte) bool {
	switch string(name) {
	case "device", "context", "stream", "queued", "cbid", "Record function id":
		return true
	}
	return false
}

// hopKey is what a hop is known by: where it was learned, nil for all that open an
// event, and its text. So the hops of an event form a tree, in which most have one
// successor, which makes the next one easy to tell.
type hopKey struct {
	at   *hop
	text string
}

// learn remembers h, which has just been walked and reads text, behind at.
func (d *reader) learn(at *hop, from goal, h *hop, text string) *hop {
	if len(d.hops) >= maxHops {
		if d.eventNo < d.learning+fewEvents {
			return h
		}
		d.forgetHops()
	}
	key := hopKey{at, text}
	if from == opening {
		key.at = nil
	}
	known := d.hops[key]
	if known == nil {
		made := *h
		known = &made
		known.pattern = newPattern(text)
		known.ph, known.cat, known.pid, known.tid = d.ev.ph, d.ev.row.Cat, d.ev.pid, d.ev.tid
		known.sequel = &hop{goal: opening}
		known.value = valueOf(known)
		d.hops[key] = known
	}
	at.next[at.turn%ways] = known
	at.turn++
	return known
}

// forgetHops starts learning anew, as keys in random order fill the table with
// hops that do not come again. Where nothing comes again learning is for nothing: a
// table that was full too soon is left as it is for a while.
func (d *reader) forgetHops() {
	d.hops, d.opening, d.learning = make(map[hopKey]*hop), &hop{goal: opening}, d.eventNo
}
