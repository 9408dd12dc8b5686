package event

import (
	"slices"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/chrome/scan"
	"github.com/gaprof/gaprof/trace/chrome/template"
	"github.com/gaprof/gaprof/trace/chrome/token"
)

// step goes from the end of a value at i, or from behind the opening brace, to the next
// value that varies or to the end of the event. at is the field before that value. f says
// what stands at next, which is negative if a rule is broken.
func (r *Reader) step(at *template.Field, i int) (f *template.Field, next int) {
	if r.Mode == token.Strict && !r.opts.RulesOnly {
		if f = at.Follow(r.Buf, i); f != nil {
			r.apply(f, i)
			if i += f.Len(); r.Buf[i] <= ' ' && f.Goal != template.TheEnd {
				i = scan.SkipSpace(r.Buf, i) // more of it than was learned
			}
			return f, i
		}
	}
	return r.learn(at, i)
}

// apply sets what the values within the stretch say.
func (r *Reader) apply(f *template.Field, i int) {
	ev := &r.ev
	ev.seen |= f.Seen
	ev.ph, ev.row.Cat, ev.pid, ev.tid = f.Ph, f.Cat, f.PID, f.TID
	for _, a := range f.Args {
		r.addArg(a, i)
	}
}

// learn is step by the rules. It learns the stretch as a field, unless that is of no use.
func (r *Reader) learn(at *template.Field, i int) (f *template.Field, next int) {
	l := lesson{start: i, seen: r.ev.seen, notes: len(r.Notes), args: len(r.args.list)}
	l.off = r.Mode != token.Strict || r.opts.RulesOnly || at == &r.learned.unknown // what follows what is not learned
	r.learned.slow.lessons++
	first, inArgs := at.Goal == template.Opening, at.Goal == template.ArgValue
	r.learned.unknown = template.Field{}
	f = &r.learned.unknown
	for passed := true; passed; i = next {
		var k token.Key
		if k, next = r.Member(i, first); scan.Broken(next) {
			return nil, next
		}
		first = false
		switch {
		case k.IsNone() && inArgs:
			inArgs = false
		case k.IsNone():
			f.Goal, passed = template.TheEnd, false
		case inArgs:
			next, passed = r.passArg(f, k, next)
		default:
			if next, passed = r.passOwn(f, k, next); f.Key == template.KeyArgs && r.Buf[next] == '{' {
				r.once(template.KeyArgs, next)
				inArgs, first, passed = true, true, true
				next++
			}
		}
		if scan.Broken(next) {
			return nil, next
		}
	}
	return r.remember(at, f, l, i), i
}

// passArg notes in f that the value at i of an argument stands behind it, and passes
// that where it is learned with the stretch.
func (r *Reader) passArg(f *template.Field, k token.Key, i int) (next int, passed bool) {
	name := r.Text(k.Token())
	f.Goal = template.ArgValue
	f.ArgKey, f.Keep = r.keyOf(name)
	if _, _, ok := scan.Integer(r.Buf, i); ok && template.IsSteadyArg(name) {
		return r.readArg(f, i), true
	}
	return i, false
}

// passOwn is passArg for a key of the event.
func (r *Reader) passOwn(f *template.Field, k token.Key, i int) (next int, passed bool) {
	f.Goal, f.Key = template.OwnValue, keys[string(r.KeyText(k))]
	if f.Key.IsSteady() {
		return r.own(f.Key, i), true
	}
	return i, false
}

// lesson is the state of the reader at the beginning of a stretch that may be learned.
type lesson struct {
	off   bool   // it is not to be learned
	start int    // index of its first byte
	seen  uint16 // event.seen
	notes int    // how many there were
	args  int    // likewise
}

// remember learns f, which was just read behind at and ends at end, and returns the
// field that is known from now on: f itself where it is not to be learned.
func (r *Reader) remember(at, f *template.Field, l lesson, end int) *template.Field {
	f.Seen = r.ev.seen &^ l.seen
	switch {
	case l.off || len(r.Notes) != l.notes || end-l.start > template.MaxField || end > r.N:
		return f
	case f.Goal == template.OwnValue && f.Key == template.KeyArgs:
		return f // other events have an object here, to be gone into
	}
	f.Args = slices.Clone(r.args.list[l.args:])
	f.Ph, f.Cat = r.ev.ph, r.ev.row.Cat
	f.PID, f.TID = r.ev.pid, r.ev.tid
	if known := r.learned.fields.Learn(at, f, string(r.Buf[l.start:end]), r.args.event); known != nil {
		return known
	}
	return f
}

// eventTemplate is what is known of the event at hand, which was just read, and of all
// that are laid out as it is; nil where it is not a plain one.
func (r *Reader) eventTemplate() *template.Event {
	ev := &r.ev
	phase := phaseOf(ev.ph)
	switch {
	case r.Mode != token.Strict || len(r.Notes) > 0 || ev.ph == 0 || ev.ph == 'M' || !ev.hasTime:
		return nil
	case ev.row.Cat == trace.CatProfiler && phase == trace.Complete:
		return nil
	}
	return &template.Event{
		Phase: phase, Cat: ev.row.Cat, Track: r.rows.track(ev.pid, ev.tid),
		NoDur: ev.seen&template.KeyDur.Bit() == 0, TakesID: TakesID(ev.ph),
	}
}
