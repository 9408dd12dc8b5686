package readertest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// build makes a trace of events, as a reader would, with one problem where code names one.
func build(events []Event, code trace.Code, offset int64) *trace.Trace {
	b := trace.NewBuilder()
	id := func(s string) trace.StringID { return b.Intern([]byte(s)) }
	for _, e := range events {
		r := trace.Row{
			Start: e.Start, Dur: e.Dur, Name: id(e.Name), Cat: b.Cat([]byte(e.Cat)), Phase: e.Phase,
			Track: b.Track(id(e.PID), id(e.TID)), Corr: e.Corr, External: e.External, Offset: -1,
		}
		for key, value := range e.Args {
			kind, text, _ := strings.Cut(value, " ")
			arg := trace.Arg{Key: b.Key([]byte(key))}
			switch kind {
			case "integer":
				fmt.Sscan(text, &arg.Num)
			case "text":
				arg.Kind, arg.Str = trace.Text, id(text)
			default:
				arg.Kind, arg.Str = trace.JSON, id(text)
			}
			r.Args = append(r.Args, arg)
		}
		b.Add(&r)
	}
	for _, t := range Tracks() {
		track := b.Track(id(t.PID), id(t.TID))
		b.NameProcess(id(t.PID), t.ProcessName)
		b.TagProcess(id(t.PID), t.ProcessTags)
		b.NameThread(track, t.ThreadName)
	}
	*b.Meta() = Meta()
	b.Meta().Format, b.Meta().EventsInFile = "test", int64(len(events))
	if code != "" {
		b.Problem(code, offset, "")
	}
	return b.Build()
}

// toy is a format for these tests: each line is the number of an event of the canonical
// trace, and the last one is "end". fault is what its reader does wrong.
type toy struct{ fault string }

func toyFile() []byte {
	var b strings.Builder
	for i := range Events() {
		fmt.Fprintf(&b, "%d\n", i)
	}
	return []byte(b.String() + "end\n")
}

func (r toy) read(_ string, content []byte, strict bool) ([]*trace.Trace, error) {
	if len(content) == 0 && r.fault != "takes nothing" {
		return nil, &trace.FormatError{Reason: "empty"}
	}
	all, events := Events(), []Event(nil)
	code, offset := trace.Truncated, len(content)
	for line := range strings.Lines(string(content)) {
		n, err := strconv.Atoi(strings.TrimSuffix(line, "\n"))
		switch whole := strings.HasSuffix(line, "\n"); {
		case whole && err == nil:
			events = append(events, all[n])
		case line == "end\n" && code == trace.Truncated:
			code = ""
		case whole:
			code, offset = trace.BrokenEvent, strings.Index(string(content), line)
		}
	}
	for i := range events {
		switch r.fault {
		case "shifts time":
			events[i].Start++
		case "cuts an event":
			if i == len(events)-1 && code == trace.Truncated {
				events[i].Dur = 1
			}
		case "forgets arguments":
			events[i].Args = nil
		}
	}
	if r.fault == "is silent" || r.fault == "takes nothing" {
		code = ""
	}
	if code != "" && strict && r.fault != "is lenient" {
		return nil, &trace.FormatError{Offset: int64(offset), Reason: "damaged"}
	}
	if r.fault == "loses the place" {
		offset += 10_000
	}
	return []*trace.Trace{build(events, code, int64(offset))}, nil
}

// fake is a report that notes failures.
type fake struct{ failures []string }

func (f *fake) Errorf(format string, args ...any) {
	f.failures = append(f.failures, fmt.Sprintf(format, args...))
}
func (f *fake) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	panic(f)
}
func (f *fake) Failed() bool { return len(f.failures) > 0 }

// failing are the tests that a reader fails.
func failing(r toy) string {
	f := file{Reader{Format: "toy", Read: r.read}, "toy", toyFile()}
	// A line of one event is broken, all others stay.
	damage := Damage{Old: "\n33\n", New: "\n3x\n", Code: trace.BrokenEvent, Event: Events()[33].Name}
	var names []string
	for _, test := range []struct {
		name string
		run  func(t report)
	}{
		{"whole", f.testWhole}, {"empty", f.testEmpty}, {"cut", f.testCut},
		{"damage", func(t report) { f.testDamage(t, damage) }},
	} {
		var to fake
		func() {
			defer func() {
				if bug := recover(); bug != nil && bug != any(&to) {
					panic(bug)
				}
			}()
			test.run(&to)
		}()
		if to.Failed() {
			names = append(names, test.name)
		}
	}
	return strings.Join(names, " ")
}

// The tests fail where a reader does, and only there.
func TestFailures(t *testing.T) {
	for fault, want := range map[string]string{
		"":                  "",
		"shifts time":       "whole cut damage",
		"forgets arguments": "whole cut damage",
		"cuts an event":     "cut",
		"is silent":         "cut damage",
		"is lenient":        "cut damage",
		"takes nothing":     "empty cut damage",
		"loses the place":   "damage",
	} {
		if got := failing(toy{fault}); got != want {
			t.Errorf("a reader that %s fails %q, want %q", fault, got, want)
		}
	}
}
