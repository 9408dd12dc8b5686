package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// Format is the name of this format in Meta.Format and for users.
const Format = "text"

// Read reads one trace; file is its name in errors and may be empty. What is not
// in the format is a *trace.FormatError with the line in its reason; nothing is
// repaired, for the text is written by us or by hand.
func Read(r io.Reader, file string) (*trace.Trace, error) { return ReadWith(r, Options{File: file}) }

// Options tell ReadWith how to read.
type Options struct {
	File  string // its name in errors; may be empty
	Reach int    // bytes that one line may have; 0 for 16 MiB

	// Tables, if not nil, is told now and then how many bytes of memory reading takes, or
	// will take when the trace is built. Its error ends reading and is what ReadWith returns.
	Tables func(bytes int64) error
}

const (
	longestLine = 16 << 20 // bytes
	tallyEvery  = 1 << 10  // lines after which Tables is told
)

// ReadWith is Read with options.
func ReadWith(r io.Reader, o Options) (*trace.Trace, error) {
	p := parser{b: trace.NewBuilder(), events: -1}
	p.b.Meta().Format = Format
	reach := longestLine
	if o.Reach > 0 {
		reach = min(o.Reach, longestLine)
	}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), reach)
	in.Split(wholeLines)
	var offset int64
	bad := func(number int, err error) error {
		return &trace.FormatError{File: o.File, Offset: offset, Reason: fmt.Sprintf("line %d: %v", number, err)}
	}
	number := 1
	for ; in.Scan(); number++ {
		if err := p.line(strings.TrimRight(in.Text(), "\r\n")); err != nil {
			return nil, bad(number, err)
		}
		offset += int64(len(in.Bytes()))
		if number%tallyEvery == 0 && o.Tables != nil {
			if err := o.Tables(needed(p.b)); err != nil {
				return nil, err
			}
		}
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, bad(number, fmt.Errorf("has more than %d bytes", reach))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", o.File, err)
	}
	return p.finish(), nil
}

// needed is how many bytes of memory it takes to build what was read so far, and to read on:
// columns are copied where they grow, and lines are garbage.
func needed(b *trace.Builder) int64 {
	now := b.Bytes()
	return now + max(b.BuildBytes(), now)
}

// wholeLines splits a text into lines with their ends, so that lengths are those of the text.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// parser fills a Builder from lines.
type parser struct {
	b      *trace.Builder
	events int64 // the count that the text claims, or -1
	args   []trace.Arg
}

func (p *parser) line(s string) error {
	l := line{s}
	if !l.more() {
		return nil
	}
	first := l.rest[:bareEnd(l.rest)]
	if read, ok := directives[first]; ok {
		l.take(len(first))
		return read(p, &l)
	}
	return p.event(&l)
}

// finish settles what only the whole text tells.
func (p *parser) finish() *trace.Trace {
	m := p.b.Meta()
	m.EventsInFile = p.events
	if p.events < 0 {
		m.EventsInFile = int64(p.b.Len())
	}
	return p.b.Build()
}

// event reads a line such as
//
//	100/100 10us +5us cpu_op aten::mul_ ext=12
func (p *parser) event(l *line) error {
	pid, tid, err := l.track()
	if err != nil {
		return err
	}
	row := trace.Row{Offset: -1, Track: p.b.Track(p.intern(pid), p.intern(tid))}
	if err := p.when(l, &row); err != nil {
		return err
	}
	if err := p.what(l, &row); err != nil {
		return err
	}
	if err := p.arguments(l, &row); err != nil {
		return err
	}
	p.b.Add(&row)
	return nil
}

func (p *parser) intern(s string) trace.StringID { return p.b.Intern([]byte(s)) }

// when reads the start and the duration or phase.
func (p *parser) when(l *line, row *trace.Row) error {
	start, err := l.word("start")
	if err != nil {
		return err
	}
	if row.Start, err = parseTime(start); err != nil {
		return err
	}
	phase, err := l.word("duration or phase")
	if err != nil {
		return err
	}
	row.Phase, row.Dur, err = parsePhase(phase)
	row.NoDur = phase == "X"
	return err
}

// parsePhase reads +DURATION, a phase letter, or both; 0xNN is a phase that has
// no letter.
func parsePhase(s string) (ph trace.Phase, dur int64, err error) {
	letter, duration, long := strings.Cut(s, "+")
	switch code, hex := strings.CutPrefix(letter, "0x"); {
	case letter == "" && long:
		ph = trace.Complete
	case len(letter) == 1 && plainPhase(letter[0]):
		ph = trace.Phase(letter[0])
	case hex:
		n, err := strconv.ParseUint(code, 16, 8)
		if err != nil {
			return 0, 0, fmt.Errorf("phase %q is not 0x00 to 0xff", letter)
		}
		ph = trace.Phase(n)
	default:
		return 0, 0, fmt.Errorf("expected +duration or a phase letter, found %q", s)
	}
	if !long {
		return ph, 0, nil
	}
	dur, err = parseTime(duration)
	return ph, dur, err
}

func plainPhase(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// what reads the category and the name.
func (p *parser) what(l *line, row *trace.Row) error {
	l.more()
	none := strings.HasPrefix(l.rest, "-")
	cat, err := l.word("category")
	if err != nil {
		return err
	}
	if !none || cat != "-" {
		row.Cat = p.b.Cat([]byte(cat))
	}
	name, err := l.word("name")
	row.Name = p.intern(name)
	return err
}

// arguments reads the rest of an event.
func (p *parser) arguments(l *line, row *trace.Row) error {
	p.args = p.args[:0]
	columns := attrs{"corr": intTo(&row.Corr), "ext": intTo(&row.External)}
	for l.more() {
		name, quoted, v, err := l.arg()
		if err != nil {
			return err
		}
		if set, ok := columns[name]; ok && !quoted {
			if err := set(v); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			continue
		}
		key, err := p.key(name, quoted)
		if err != nil {
			return err
		}
		p.args = append(p.args, p.argument(key, v))
	}
	row.Args = p.args
	return nil
}

func (p *parser) key(name string, quoted bool) (trace.Key, error) {
	if quoted {
		return p.b.Key([]byte(name)), nil
	}
	if key, ok := aliasKeys[name]; ok {
		return key, nil
	}
	return 0, fmt.Errorf("unknown argument %s; write %q=... if it is meant", name, name)
}

func (p *parser) argument(key trace.Key, v value) trace.Arg {
	if v.kind == trace.Int {
		return trace.Arg{Key: key, Num: v.num}
	}
	return trace.Arg{Key: key, Kind: v.kind, Str: p.intern(v.str)}
}

// Sniff reports whether the first bytes of a file look like this format.
func Sniff(head []byte) bool {
	if strings.ContainsRune(string(head), 0) {
		return false
	}
	for s := range strings.Lines(string(head)) {
		l := line{strings.TrimRight(s, "\r\n")}
		if strings.HasPrefix(strings.TrimSpace(s), "#") {
			return true
		}
		if l.more() {
			return sniffLine(&l) == nil
		}
	}
	return false
}

func sniffLine(l *line) error {
	if _, ok := directives[l.rest[:bareEnd(l.rest)]]; ok {
		return nil
	}
	if _, _, err := l.track(); err != nil {
		return err
	}
	start, err := l.word("start")
	if err != nil {
		return err
	}
	if _, err = parseTime(start); err != nil {
		return errors.New("no time")
	}
	return nil
}
