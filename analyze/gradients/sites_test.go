package gradients

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// TestSites: which part of the program reduces gradients: that of most collectives.
func TestSites(t *testing.T) {
	hook := func(s *script, elems ...int) { s.node(accumulateGrad, func() { s.sums(elems...) }) }
	inside := func(s *script, name string, elems ...int) {
		s.within("user_annotation", name, func() {
			s.sums(elems...)
			s.event(2, "aten::addcdiv_", `dims=[[100,20],[100,20],[100,20]]`)
		})
	}
	for _, test := range []struct {
		what string
		end  func(s *script)
		want string
	}{
		{"hooks", func(s *script) { hook(s, 64, 2000) }, "backward_hook [2]"},
		{"the optimizer", func(s *script) { inside(s, "Optimizer.step#A.step", 64, 2000) }, "optimizer_step A [2]"},
		{"a part of the loop", func(s *script) { inside(s, "reduce", 64, 2000) }, "annotation reduce [2]"},
		{"the loop", func(s *script) { s.sums(64, 2000) }, "unknown [2]"},
		{"mostly hooks", func(s *script) { hook(s, 64, 1000); s.sums(1000) }, "backward_hook [3]"},
		{"nothing", func(*script) {}, "unknown [0]"},
	} {
		r := one(t, twice(1, func(s *script, _ int) { test.end(s) }))
		site := strings.TrimSpace(string(r.Sync.Site.Site) + " " + r.Sync.Site.Name)
		if got := fmt.Sprint(site, " ", r.Sync.PerPass); got != test.want {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
	for range 8 { // maps have no order
		if got := mostFrequent(map[string]int{"b": 2, "a": 2, "c": 1, "d": 2}, ""); got != "a" {
			t.Fatalf("of equally frequent ones %s", got)
		}
	}
}

// TestTokensOfSteps: all-reduces of one number, by what most steps have, and whether a trace without
// any says that there are none.
func TestTokensOfSteps(t *testing.T) {
	list := []steps.Step{{HostStart: 0, HostEnd: 100}, {HostStart: 100, HostEnd: 200}, {HostStart: 200, HostEnd: 300}}
	own := make([]Step, 3)
	for i := range own {
		start := int64(100*i + 50)
		own[i].Backwards = []Backward{{Start: start, End: start + 20, First: start + 5, Last: start + 15}}
	}
	var forward []int64
	for i := range 3 {
		for k := range 8 {
			forward = append(forward, int64(100*i+30+k))
		}
	}
	number := func(start int64) HostCollective { return *at(start, 0, 0, 1) }
	quiet := rankOf(t, "1/1 10 +1 cpu_op aten::mul_\n")
	talks := rankOf(t, "1/1 10 +1 cpu_op record_param_comms\n")
	for _, test := range []struct {
		what        string
		x           *timeline.Rank
		collectives []HostCollective
		own         []Step
		want        string
	}{
		{"before forward", talks, []HostCollective{number(0), number(110), number(210)}, own, "before_forward 1 true"},
		{"after backward", talks, []HostCollective{number(80), number(180), number(280)}, own, "before_scale 1 true"},
		{"in most steps", talks, []HostCollective{number(80), number(180)}, own, "before_scale 1 true"},
		{"in one step", talks, []HostCollective{number(80)}, own, " 0 true"},
		{"two of a step", talks, []HostCollective{number(180), number(190), number(280), number(290)}, own,
			"before_scale 2 true"},
		{"right at the start of steps", talks, []HostCollective{number(100), number(200)}, own,
			"before_forward 1 true"},
		{"in both places", talks, []HostCollective{number(110), number(180), number(210), number(280)}, own,
			"before_forward 1 true"},
		{"none, and nothing communicates", quiet, nil, own, " 0 true"},
		{"none that the host shows", talks, nil, own, " 0 false"},
		{"no backward pass", talks, []HostCollective{number(80)}, make([]Step, 3), " 0 false"},
		{"in one of one step", talks, []HostCollective{number(80)}, []Step{own[0], {}, {}}, "before_scale 1 true"},
	} {
		got := tokenAllReduce(test.x, list, test.own, test.collectives, nil, forward)
		if text := fmt.Sprint(got.Place, " ", got.PerStep, " ", got.Judgable); text != test.want {
			t.Errorf("%s: %s, want %s", test.what, text, test.want)
		}
	}
}

// TestScattered: products of what is reduce-scattered next on the same thread.
func TestScattered(t *testing.T) {
	source := ""
	for _, at := range []string{"10", "20", "30", "40", "50"} {
		source += "1/1 " + at + " +1 cpu_op aten::mul_\n1/2 " + at + " +1 cpu_op aten::mul_\n"
	}
	x := rankOf(t, source)
	rows := map[string]int32{}
	for row := range int32(len(x.Col.Start)) {
		thread := x.Trace.Tracks()[x.Col.Track[row]].TID
		rows[fmt.Sprint(thread, " ", x.Col.Start[row])] = row
	}
	type product struct {
		thread, start, end int
		f                  family
	}
	type message struct {
		thread, start int
		kind          timeline.CollectiveKind
		gradient      bool
	}
	const scatter = timeline.ReduceScatter
	for _, test := range []struct {
		what     string
		products []product
		messages []message
		want     string
	}{
		{"right after", []product{{1, 10, 20, multiply}}, []message{{1, 20, scatter, true}}, "[true]"},
		{"while it runs", []product{{1, 10, 21, multiply}}, []message{{1, 20, scatter, true}}, "[false]"},
		{"at once", []product{{1, 20, 20, multiply}}, []message{{1, 20, scatter, true}}, "[false]"},
		{"on another thread", []product{{2, 10, 15, multiply}}, []message{{1, 20, scatter, true}}, "[false]"},
		{"of no gradient", []product{{1, 10, 15, multiply}}, []message{{1, 20, scatter, false}}, "[false]"},
		{"two, of which the last counts", []product{{1, 10, 15, multiply}, {1, 20, 25, multiply}},
			[]message{{1, 30, scatter, true}}, "[false true]"},
		{"one each", []product{{1, 10, 15, multiply}, {1, 30, 35, multiply}}, []message{{1, 20, scatter, true},
			{1, 40, scatter, true}}, "[true true]"},
		{"one for two", []product{{1, 10, 15, multiply}}, []message{{1, 20, timeline.AllGather, false}, {1, 30, scatter,
			true}}, "[false]"},
		{"another thread's message between", []product{{1, 10, 15, multiply}}, []message{{2, 20, scatter, true}, {1, 30,
			scatter, true}}, "[true]"},
		{"no product", []product{{1, 10, 15, norm}}, []message{{1, 20, scatter, true}}, "[false]"},
		{"an all-reduce of a matrix", []product{{1, 10, 15, multiply}}, []message{{1, 20, timeline.AllReduce, true}},
			"[false]"},
	} {
		var list []operation
		for _, p := range test.products {
			list = append(list, operation{start: int64(p.start), end: int64(p.end), family: p.f,
				of:  operand([]int64{4, 2}),
				row: rows[fmt.Sprint(p.thread, " ", p.start)]})
		}
		var collectives []HostCollective
		var asked []int32
		for _, m := range test.messages {
			collectives = append(collectives, HostCollective{Event: timeline.Event{Start: int64(m.start)}, Kind: m.kind,
				Gradient: m.gradient, Elems: 8, GroupSize: 2})
			asked = append(asked, rows[fmt.Sprint(m.thread, " ", m.start)])
		}
		markScattered(x, collectives, asked, list)
		var got []bool
		for _, o := range list {
			got = append(got, o.scattered)
		}
		if text := fmt.Sprint(got); text != test.want {
			t.Errorf("%s: %s, want %s", test.what, text, test.want)
		}
	}
}

// TestTexts: every text that may be a piece of the trace's memory is visited.
func TestTexts(t *testing.T) {
	g := &Gradients{
		Params: Params{Classes: make([]ParamClass, 1)}, Optimizers: make([]Optimizer, 1),
		HostCollectives: make([]HostCollective, 1), NoSync: make([]NoSync, 1), Passes: make([]Pass, 1),
		Steps: []Step{{PerOptimizer: make([]OptimizerStep, 1)}},
	}
	visited := make(map[*string]bool)
	g.Texts(func(s *string) { visited[s] = true })
	var look func(v reflect.Value, path string)
	look = func(v reflect.Value, path string) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				look(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		case reflect.Slice:
			for i := range v.Len() {
				look(v.Index(i), path)
			}
		case reflect.String: // types of their own have constants for values
			if s, ok := v.Addr().Interface().(*string); ok && !visited[s] {
				t.Errorf("%s is not visited", path)
			}
		}
	}
	look(reflect.ValueOf(g).Elem(), "Gradients")
}

// TestClasses: parameters are numbered by shape and type, in the order of their first accumulation.
func TestClasses(t *testing.T) {
	k := classNumbers{of: make(map[classKey]int), seen: make(map[*timeline.Operand]int)}
	var p Params
	of := func(dtype string, dims ...int64) []timeline.Operand {
		return []timeline.Operand{{Shapes: [][]int64{dims}, Dtype: dtype}}
	}
	var got []int
	for _, ops := range [][]timeline.Operand{of("float", 8), of("float", 4, 2), of("half", 8), of("float", 8), nil,
		of("float", 4, 2), nil, {{Shapes: [][]int64{{8}, {8}}}}, of("float")} {
		got = append(got, k.number(&p, ops))
	}
	if text := fmt.Sprint(got); text != "[0 1 2 0 3 1 3 3 4]" || len(p.Classes) != 5 {
		t.Errorf("%s of %d", text, len(p.Classes))
	}
	if text := fmt.Sprint(p.byShape()); text != "map[4 2 :1 8 :2]" {
		t.Errorf("by shape %s", text)
	}
	if one := classesOf([2]int64{1, 1}); !one.Known() {
		t.Error("a model of one element")
	}
}
