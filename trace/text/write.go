package text

import (
	"bufio"
	"io"
	"strconv"

	"github.com/gaprof/gaprof/trace"
)

// Header is the first line that Write writes.
const Header = "# gaprof trace, one event a line; see docs/formats/text.md"

// Write writes t so that Read makes an equal trace of it. Events are in the order
// of t: by track, then by start. Errors are those of w.
func Write(w io.Writer, t *trace.Trace) error {
	p := printer{w: bufio.NewWriterSize(w, 64<<10), t: t}
	p.buf = append(p.buf, Header...)
	p.end()
	p.recording()
	p.distributed()
	p.problems()
	p.tracks()
	for i := range t.Len() {
		p.event(t.Event(i))
	}
	return p.w.Flush()
}

// printer builds one line at a time in buf. The buffered writer keeps the first
// error and Flush returns it.
type printer struct {
	w   *bufio.Writer
	t   *trace.Trace
	buf []byte
}

func (p *printer) end() {
	p.w.Write(append(p.buf, '\n'))
	p.buf = p.buf[:0]
}

// words appends words with a space before each but the first of the line.
func (p *printer) words(words ...string) {
	for _, s := range words {
		p.space()
		p.buf = appendWord(p.buf, s)
	}
}

func (p *printer) space() {
	if len(p.buf) > 0 {
		p.buf = append(p.buf, ' ')
	}
}

// attr appends key=value, or nothing where the text is empty.
func (p *printer) attr(key, s string) {
	if s != "" {
		p.buf = append(append(append(p.buf, ' '), key...), '=')
		p.buf = appendValue(p.buf, value{kind: trace.Text, str: s})
	}
}

// number appends key=n, or nothing where n is absent.
func (p *printer) number(key string, n, absent int64) {
	if n != absent {
		p.buf = append(append(append(p.buf, ' '), key...), '=')
		p.buf = strconv.AppendInt(p.buf, n, 10)
	}
}

// time appends key=ns, or nothing where the time is 0.
func (p *printer) time(key string, ns int64) {
	if ns != 0 {
		p.buf = append(append(append(p.buf, ' '), key...), '=')
		p.buf = appendTime(p.buf, ns)
	}
}

func (p *printer) recording() {
	m := p.t.Meta()
	p.buf = append(p.buf, "recording"...)
	bare := len(p.buf)
	if m.Format != Format {
		p.buf = appendValue(append(p.buf, " format="...), value{kind: trace.Text, str: m.Format})
	}
	p.number("base", m.BaseTime, 0)
	p.attr("name", m.TraceName)
	p.attr("host", m.Host)
	p.number("dropped", m.Dropped, 0)
	p.time("window_start", m.WindowStart)
	p.time("window_end", m.WindowEnd)
	p.number("events", m.EventsInFile, int64(p.t.Len()))
	if len(p.buf) == bare {
		p.buf = p.buf[:0]
		return
	}
	p.end()
}

func (p *printer) distributed() {
	for _, d := range p.t.Meta().Devices {
		p.words("device", strconv.FormatInt(d.ID, 10), d.Name)
		p.number("memory", d.MemoryBytes, 0)
		p.end()
	}
	if d := p.t.Meta().Distributed; d != nil {
		p.words("distributed")
		p.attr("backend", d.Backend)
		p.buf = strconv.AppendInt(append(p.buf, " rank="...), d.Rank, 10)
		p.number("world_size", d.WorldSize, 0)
		p.end()
		for _, g := range d.Groups {
			p.group(g)
		}
	}
	for _, e := range p.t.Meta().Extra {
		p.words("extra")
		p.buf = append(appendQuoted(append(p.buf, ' '), e.Key), '=')
		p.buf = appendExtra(p.buf, e.JSON)
		p.end()
	}
}

// appendExtra appends JSON text of any kind; a number stays as it was written.
func appendExtra(b []byte, text string) []byte {
	if v := bareValue(text); v.kind == trace.Int {
		return append(b, text...)
	}
	return appendValue(b, value{kind: trace.JSON, str: text})
}

func (p *printer) group(g trace.ProcessGroup) {
	p.words("group", g.Name)
	p.attr("desc", g.Desc)
	p.number("size", g.Size, int64(len(g.Ranks)))
	for i, r := range g.Ranks {
		sep := ","
		if i == 0 {
			sep = " ranks="
		}
		p.buf = strconv.AppendInt(append(p.buf, sep...), r, 10)
	}
	p.end()
}

func (p *printer) problems() {
	for _, pr := range p.t.Problems() {
		p.words("problem", string(pr.Code))
		p.number("count", pr.Count, 1)
		p.number("offset", pr.Offset, -1)
		p.attr("detail", pr.Detail)
		p.end()
	}
}

// tracks writes what is known of processes and threads, and tracks without events.
func (p *printer) tracks() {
	tracks := p.t.Tracks()
	for i, k := range tracks {
		first := i == 0 || tracks[i-1].PID != k.PID
		if first && (k.ProcessName != "" || k.ProcessTags != "" || k.ProcessSort != 0) {
			p.words("process", k.PID)
			p.attr("name", k.ProcessName)
			p.attr("labels", k.ProcessTags)
			p.number("sort", k.ProcessSort, 0)
			p.end()
		}
		if k.ThreadName != "" || k.ThreadSort != 0 || k.N == 0 {
			p.buf = appendTrack(append(p.buf, "thread "...), k.PID, k.TID)
			p.attr("name", k.ThreadName)
			p.number("sort", k.ThreadSort, 0)
			p.end()
		}
	}
}

// Columns of events are padded to these widths for the eye.
const (
	trackWidth = 12
	startWidth = trackWidth + 16
	durWidth   = startWidth + 14
	catWidth   = durWidth + 16
)

func (p *printer) event(e trace.Event) {
	k := e.Track()
	p.buf = appendTrack(p.buf, k.PID, k.TID)
	p.pad(trackWidth)
	p.buf = appendTime(p.buf, e.Start())
	p.pad(startWidth)
	p.phase(e)
	p.pad(durWidth)
	if name := p.t.CatName(e.Cat()); name == "" {
		p.buf = append(p.buf, '-')
	} else {
		p.buf = appendWord(p.buf, name)
	}
	p.pad(catWidth)
	p.buf = appendWord(p.buf, e.Name())
	p.number("corr", e.Corr(), 0)
	p.number("ext", e.External(), 0)
	for _, a := range e.Args() {
		p.arg(a)
	}
	p.end()
}

// pad fills up to width, with one space at least.
func (p *printer) pad(width int) {
	p.buf = append(p.buf, ' ')
	for len(p.buf) < width {
		p.buf = append(p.buf, ' ')
	}
}

func (p *printer) phase(e trace.Event) {
	switch ph := e.Phase(); {
	case ph == trace.Complete:
	case plainPhase(byte(ph)):
		p.buf = append(p.buf, byte(ph))
	default:
		p.buf = strconv.AppendUint(append(p.buf, "0x"...), uint64(ph), 16)
	}
	if e.Phase() == trace.Complete || e.Dur() != 0 {
		p.buf = appendTime(append(p.buf, '+'), e.Dur())
	}
}

func (p *printer) arg(a trace.Arg) {
	p.buf = append(p.buf, ' ')
	if name, ok := keyAliases[a.Key]; ok {
		p.buf = append(p.buf, name...)
	} else {
		p.buf = appendQuoted(p.buf, p.t.KeyName(a.Key))
	}
	v := value{kind: a.Kind, num: a.Num}
	if a.Kind != trace.Int {
		v.str = p.t.String(a.Str)
	}
	p.buf = appendValue(append(p.buf, '='), v)
}
