package chrome

import (
	"github.com/gaprof/gaprof/trace"
)

// Between two values of an object stands a comma, space, a key, a colon and more
// space, and a writer puts the same bytes there over and over. A hop is such a
// stretch, learned once by the rules and then recognised by its bytes. Hops only
// ever hold what the rules accepted at this place, so a hit needs no validation.

// hop is one stretch of bytes from behind a value to the next value, or to behind
// the end of the object.
type hop struct {
	pattern
	next [ways]*hop // hops that followed
	turn uint8      // the one to replace
	end  bool       // the object ends here

	word uint64    // the key, of an event's own
	key  trace.Key // the key, of an argument
	keep bool      // someone asks for this argument

	memo     [ways]memo
	memoTurn uint8
}

// memo is a value that stood behind a hop: a string, a list or an object as JSON
// text, which tells by itself where it ends.
type memo struct {
	pattern
	arg trace.Arg
}

// pattern is a text that is looked for, with its first 24 bytes as words: three
// comparisons that always run beat a loop that ends now here, now there.
type pattern struct {
	text       string
	word, mask [3]uint64
}

const (
	ways    = 4
	maxHop  = 64   // bytes of a hop; longer ones are not learned
	maxHops = 4096 // hops of a level; more are not learned
	maxMemo = 512  // bytes of a value that is remembered
)

// level is the kind of object whose hops are learned.
type level struct {
	root  hop // stands for the opening brace
	known map[string]*hop
	args  bool
}

func newLevel(args bool) *level { return &level{known: make(map[string]*hop), args: args} }

func newPattern(text string) pattern {
	p := pattern{text: text}
	var b [24]byte
	n := copy(b[:], text)
	for i := range p.word {
		p.word[i] = load(b[:], 8*i)
		p.mask[i] = ^uint64(0)
		if rest := n - 8*i; rest < 8 {
			p.mask[i] = 1<<(8*max(rest, 0)) - 1
		}
	}
	return p
}

// at tells whether the text stands at i; not so for no text at all.
func (p *pattern) at(b []byte, i int) bool {
	b = b[i:]
	if (load(b, 0)^p.word[0])&p.mask[0]|(load(b, 8)^p.word[1])&p.mask[1]|(load(b, 16)^p.word[2])&p.mask[2] != 0 {
		return false
	}
	n := len(p.text)
	return n-1 < 24 || n <= len(b) && n > 0 && string(b[24:n]) == p.text[24:]
}

// follow returns the hop behind at whose bytes stand at i, nil where none does.
func (h *hop) follow(b []byte, i int) *hop {
	for _, next := range &h.next {
		if next == nil {
			return nil
		}
		if next.at(b, i) {
			return next
		}
	}
	return nil
}

// hop goes from the end of a value at i to the next value or the end of the
// object; the hop is nil, and next negative, where a rule is broken.
func (d *reader) hop(l *level, at *hop, i int) (h *hop, next int) {
	if d.mode == strict {
		if h = at.follow(d.buf, i); h != nil {
			return h, i + len(h.text)
		}
	}
	ks, ke, vi, raw := d.member(i, at == &l.root)
	if vi < 0 {
		return nil, vi
	}
	if d.mode == strict && !raw && vi-i <= maxHop && vi <= d.n {
		if h = d.learn(l, at, i, vi, ks, ke); h != nil {
			return h, vi
		}
	}
	h = &d.unknown[b2i(l.args)]
	*h = d.newHop(l, "", ks, ke, raw)
	return h, vi
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// learn remembers the hop d.buf[i:vi] behind at; it is nil where there are too
// many.
func (d *reader) learn(l *level, at *hop, i, vi, ks, ke int) *hop {
	h := l.known[string(d.buf[i:vi])]
	if h == nil {
		if len(l.known) >= maxHops {
			return nil
		}
		made := d.newHop(l, string(d.buf[i:vi]), ks, ke, false)
		h = &made
		l.known[h.text] = h
	}
	at.next[at.turn%ways] = h
	at.turn++
	return h
}

// newHop makes a hop to the key d.buf[ks:ke], or to the end where ks is 0.
func (d *reader) newHop(l *level, text string, ks, ke int, raw bool) hop {
	h := hop{pattern: newPattern(text), end: ks == 0}
	switch {
	case h.end:
	case l.args:
		h.key, h.keep = d.lookupKey(d.text(token{raw: raw, start: ks, end: ke}))
	default:
		h.word = d.keyWord(ks, ke, raw)
	}
	return h
}

// recall returns the remembered value of h that stands at i.
func (h *hop) recall(b []byte, i int) *memo {
	for k := range h.memo {
		m := &h.memo[k]
		if m.text == "" {
			return nil
		}
		if m.at(b, i) {
			return m
		}
	}
	return nil
}

// remember keeps the value d.buf[i:next] of h, which stands for arg.
func (d *reader) remember(h *hop, i, next int, arg trace.Arg) {
	if d.mode != strict || h.text == "" || next-i > maxMemo {
		return
	}
	m := &h.memo[h.memoTurn%ways]
	h.memoTurn++
	m.pattern, m.arg = newPattern(string(d.buf[i:next])), arg
}
