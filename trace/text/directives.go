package text

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gaprof/gaprof/trace"
)

// directives are the lines that are not events, by their first word.
var directives = map[string]func(*parser, *line) error{
	"recording":   (*parser).recording,
	"device":      (*parser).device,
	"distributed": (*parser).distributed,
	"group":       (*parser).group,
	"process":     (*parser).process,
	"thread":      (*parser).thread,
	"extra":       (*parser).extra,
	"problem":     (*parser).problem,
}

func (p *parser) recording(l *line) error {
	m := p.b.Meta()
	return l.attrs(attrs{
		"format": textTo(&m.Format), "base": intTo(&m.BaseTime), "name": textTo(&m.TraceName),
		"host":    textTo(&m.Host),
		"dropped": intTo(&m.Dropped), "events": intTo(&p.events),
		"window_start": timeTo(&m.WindowStart), "window_end": timeTo(&m.WindowEnd),
	})
}

func (p *parser) device(l *line) (err error) {
	var d trace.Device
	id, err := l.word("device number")
	if err != nil {
		return err
	}
	if err := intTo(&d.ID)(bareValue(id)); err != nil {
		return err
	}
	if d.Name, err = l.word("device name"); err != nil {
		return err
	}
	if err := l.attrs(attrs{"memory": intTo(&d.MemoryBytes)}); err != nil {
		return err
	}
	p.b.Meta().Devices = append(p.b.Meta().Devices, d)
	return nil
}

func (p *parser) distributed(l *line) error {
	if p.b.Meta().Distributed != nil {
		return errors.New("a second distributed line")
	}
	var d trace.Distributed
	p.b.Meta().Distributed = &d
	return l.attrs(attrs{"backend": textTo(&d.Backend), "rank": intTo(&d.Rank), "world_size": intTo(&d.WorldSize)})
}

func (p *parser) group(l *line) (err error) {
	d := p.b.Meta().Distributed
	if d == nil {
		return errors.New("a group needs a distributed line before it")
	}
	g := trace.ProcessGroup{Size: -1}
	if g.Name, err = l.word("group name"); err != nil {
		return err
	}
	err = l.attrs(attrs{"desc": textTo(&g.Desc), "size": intTo(&g.Size), "ranks": listTo(&g.Ranks)})
	if g.Size == -1 {
		g.Size = int64(len(g.Ranks))
	}
	d.Groups = append(d.Groups, g)
	return err
}

func (p *parser) process(l *line) error {
	pid, err := l.word("process")
	if err != nil {
		return err
	}
	id := p.intern(pid)
	var name, labels string
	var order int64
	err = l.attrs(attrs{"name": textTo(&name), "labels": textTo(&labels), "sort": intTo(&order)})
	p.nameProcess(id, name, labels)
	if order != 0 {
		p.b.SortProcess(id, order)
	}
	return err
}

func (p *parser) thread(l *line) error {
	pid, tid, err := l.track()
	if err != nil {
		return err
	}
	id := p.intern(pid)
	track := p.b.Track(id, p.intern(tid))
	var name, process, labels string
	var order int64
	err = l.attrs(attrs{
		"name": textTo(&name), "process": textTo(&process), "labels": textTo(&labels), "sort": intTo(&order),
	})
	p.nameProcess(id, process, labels)
	if name != "" {
		p.b.NameThread(track, name)
	}
	if order != 0 {
		p.b.SortThread(track, order)
	}
	return err
}

// nameProcess sets what a line says; another line may say the rest.
func (p *parser) nameProcess(id trace.StringID, name, labels string) {
	if name != "" {
		p.b.NameProcess(id, name)
	}
	if labels != "" {
		p.b.TagProcess(id, labels)
	}
}

func (p *parser) extra(l *line) error {
	if !l.more() {
		return errors.New("key=value is missing")
	}
	key, _, v, err := l.arg()
	if err != nil {
		return err
	}
	if v.kind == trace.Text {
		return fmt.Errorf("%s: %q is not JSON", key, v.str)
	}
	p.b.Meta().Extra = append(p.b.Meta().Extra, trace.Extra{Key: key, JSON: v.str})
	return l.attrs(nil)
}

// maxProblems bounds a count, so that sums of counts stay in range.
const maxProblems = 1 << 40

func (p *parser) problem(l *line) error {
	name, err := l.word("problem")
	if err != nil {
		return err
	}
	if !slices.Contains(trace.Codes(), trace.Code(name)) {
		return fmt.Errorf("unknown problem %q", name)
	}
	count, offset, detail := int64(1), int64(-1), ""
	err = l.attrs(attrs{"count": intTo(&count), "offset": intTo(&offset), "detail": textTo(&detail)})
	if err == nil && (count < 1 || count > maxProblems) {
		err = fmt.Errorf("count is not 1 to %d", maxProblems)
	}
	if err == nil {
		p.b.Problems(trace.Code(name), count, offset, detail)
	}
	return err
}
