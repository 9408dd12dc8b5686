package gradients

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/steps"
)

// adds writes the accumulation of a gradient that is added to the one there is.
func (s *script) adds(shape string) {
	fmt.Fprintf(&s.text, "1/1 %dus +3us cpu_op %s dims=[[%s]] type=[\"float\"]\n", s.now, accumulateGrad, shape)
	fmt.Fprintf(&s.text, "1/1 %dus +1us cpu_op aten::add_\n", s.now+1)
	s.now += 4
}

// TestSetsAll: a backward pass sets the gradients of some classes anew if it reaches them and adds
// to none of them.
func TestSetsAll(t *testing.T) {
	for _, test := range []struct {
		accumulated, added []int
		classes            []int
		want               bool
	}{
		{[]int{2, 1}, []int{0, 0}, []int{0, 1}, true}, {[]int{2, 1}, []int{0, 1}, []int{0, 1}, false},
		{[]int{2, 1}, []int{0, 1}, []int{0}, true}, {[]int{0, 3}, []int{0, 0}, []int{0}, false},
		{[]int{2}, nil, []int{0}, false}, {[]int{1}, []int{0}, []int{0, 1}, true}, {[]int{1}, []int{0}, nil, false},
		{[]int{5, 5}, []int{4, 0}, []int{1, 0}, false},
	} {
		b := &Backward{Accumulated: test.accumulated, Added: test.added}
		if got := b.setsAll(test.classes); got != test.want {
			t.Errorf("%v, of which %v are added, sets %v: %v", test.accumulated, test.added, test.classes, got)
		}
	}
}

// TestSinceOthers: gradients that another optimizer's update cleared do not count: only what
// follows the last update after which they were set anew.
func TestSinceOthers(t *testing.T) {
	sets, adds := []int{0}, []int{1}
	for _, test := range []struct {
		what   string
		added  [][]int // of passes that begin at 10, 20 and 30
		others []int64 // ends of updates
		want   int     // passes
	}{
		{"no others", [][]int{sets, sets, sets}, nil, 3},
		{"set after one", [][]int{sets, sets, adds}, []int64{15}, 2},
		{"added to after one", [][]int{sets, adds, adds}, []int64{15}, 3},
		{"set after both", [][]int{sets, sets, sets}, []int64{15, 25}, 1},
		{"set after the first", [][]int{sets, sets, adds}, []int64{15, 25}, 2},
		{"before all", [][]int{sets, sets, sets}, []int64{5}, 3},
		{"after all", [][]int{sets, sets, sets}, []int64{35}, 3},
		{"between and after", [][]int{sets, sets, sets}, []int64{15, 35}, 2},
	} {
		var passes []Backward
		for i, added := range test.added {
			passes = append(passes, Backward{Start: int64(10 * (i + 1)), Accumulated: []int{1}, Added: added})
		}
		var others []steps.Step
		for _, end := range test.others {
			others = append(others, steps.Step{HostEnd: end})
		}
		if got := len(sinceOthers(passes, others, []int{0})); got != test.want {
			t.Errorf("%s: %d passes, want %d", test.what, got, test.want)
		}
	}
}

// TestAccumulationsBetweenOthers: a count since the update before, without what was cleared when
// others were updated.
func TestAccumulationsBetweenOthers(t *testing.T) {
	list := []steps.Step{{HostStart: 0, HostEnd: 100}, {HostStart: 100, HostEnd: 200}, {HostStart: 200, HostEnd: 300},
		{HostStart: 300, HostEnd: 400}}
	pass := func(start int64, added int) Backward {
		return Backward{Start: start, Accumulated: []int{1}, Added: []int{added}}
	}
	for _, test := range []struct {
		what    string
		updates []int
		passes  []Backward
		want    []int
	}{
		{"in every step", []int{0, 1, 2}, []Backward{pass(10, 0), pass(20, 1), pass(110, 0), pass(120, 1), pass(210, 0),
			pass(220, 1)}, []int{2, 2, 2}},
		{"in every second one", []int{1, 3}, []Backward{pass(10, 0), pass(110, 1), pass(210, 0), pass(310, 1)},
			[]int{2, 2}},
		{"cleared by the other", []int{1, 3}, []Backward{pass(10, 0), pass(110, 0), pass(210, 0), pass(310, 0)},
			[]int{Unknown, 1}},
		{"cleared by one of two others", []int{0, 3}, []Backward{pass(10, 0), pass(110, 0), pass(210, 0), pass(310, 1)},
			[]int{Unknown, 2}},
	} {
		o := &Optimizer{Updates: test.updates, Classes: []int{0}}
		if got := accumulations(o, list, classesOf([2]int64{1, 5}), test.passes); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.what, got, test.want)
		}
	}
}

// TestKindsOfSteps: steps with the same optimizers and the same accumulation are of one kind.
func TestKindsOfSteps(t *testing.T) {
	for steps, want := range map[string]string{
		"A4 A4":          "AA",
		"A4 A2 A4":       "ABA",
		"A? A4 A4":       "AAA", // the first was recorded in part
		"A? A2 A4":       "AAB",
		"A1B2 A2B1":      "AB",
		"A1 A1B1 A1":     "ABA",
		"A1B? A1B3 A1B3": "AAA",
		"A1 B1":          "AB",
		"A11 A1":         "AB",
		"":               "",
	} {
		var list []Step
		for _, word := range strings.Fields(steps) {
			var s Step
			for i := 0; i < len(word); {
				end := i + 1
				for end < len(word) && word[end] < 'A' && word[end] != '?' || end == i+1 && word[end] == '?' {
					end++
				}
				n := Unknown
				fmt.Sscan(word[i+1:end], &n)
				s.PerOptimizer = append(s.PerOptimizer, OptimizerStep{word[i : i+1], n})
				i = end
			}
			list = append(list, s)
		}
		if got := strings.Join(kindsByAccumulation(list), ""); got != want {
			t.Errorf("%q: %s, want %s", steps, got, want)
		}
	}
}

// TestOneForward: a backward pass through a part of the parameters is of one forward pass.
func TestOneForward(t *testing.T) {
	for reached, want := range map[int]int{10: 4, 9: 4, 8: 1, 1: 1} {
		list := []Backward{{Accumulated: []int{reached}, Forwards: 4}}
		if oneForward(list, classesOf([2]int64{10, 3})); list[0].Forwards != want {
			t.Errorf("%d of 10: %d forward passes, want %d", reached, list[0].Forwards, want)
		}
	}
}

// TestMicroBatches: how many micro-batches a step has, by its backward passes and how many forward
// passes each runs back through.
func TestMicroBatches(t *testing.T) {
	params := []string{"100,20", "64", "300,20", "7", "9"}
	// Two losses are added up, and backward runs through both forward passes at once.
	summed := func(s *script) {
		s.move('f')
		s.move('f')
		s.event(3, "autograd::engine::evaluate_function: AddBackward0", "")
		for range 2 {
			s.event(3, "autograd::engine::evaluate_function: NllLossBackward0", "")
			s.event(3, "autograd::engine::evaluate_function: AddmmBackward0", "")
		}
		s.accumulate("TBackward0", nil)
		s.accumulate("TBackward0", s.params)
	}
	whole := func(s *script) { s.move('f'); s.move('b') }
	adding := func(s *script, shapes []string) {
		s.move('f')
		s.event(3, "autograd::engine::evaluate_function: NllLossBackward0", "")
		for _, shape := range shapes {
			s.adds(shape)
		}
	}
	more := func(s *script) { adding(s, s.params) }
	part := func(s *script) { adding(s, s.params[:2]) }
	for _, test := range []struct {
		what   string
		passes []func(*script)
		head   string
		want   string
	}{
		{"one of two", []func(*script){summed}, "", "2 2 2"},
		{"two of two each", []func(*script){summed, summed}, "", "4 4 4"},
		{"a third pass through a part", []func(*script){whole, more, part}, "", "2 2 2"},
		{"in a file that lost its end", []func(*script){whole, whole}, "problem truncated count=1\n", "-1 2 2"},
	} {
		s := &script{params: params}
		s.text.WriteString(test.head)
		for range 3 {
			for _, pass := range test.passes {
				pass(s)
			}
			s.move('s')
		}
		var got []string
		for _, step := range one(t, s.text.String()).Steps {
			got = append(got, fmt.Sprint(step.MicroBatches))
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: %s, want %s", test.what, text, test.want)
		}
	}
}

// TestAccumulationsOf: how often gradients were accumulated for optimizers that share a name, by
// what each of them touches.
func TestAccumulationsOf(t *testing.T) {
	list := []steps.Step{{HostStart: 0, HostEnd: 100}, {HostStart: 100, HostEnd: 200}, {HostStart: 200, HostEnd: 300}}
	at := func(start int64, accumulated, added []int) Backward {
		return Backward{Start: start, Accumulated: accumulated, Added: added}
	}
	run := func(step, kind, spans int, counts ...int) instanceRun {
		return instanceRun{step: step, touches: touches{counts: counts, kind: kind}, spans: spans}
	}
	for _, test := range []struct {
		what   string
		runs   []instanceRun
		passes []Backward
		want   []int
	}{
		{"nothing", nil, nil, []int{Unknown, Unknown, Unknown}},
		{"one pass a step", []instanceRun{run(0, 0, 1, 4), run(1, 0, 1, 4)},
			[]Backward{at(10, []int{4}, []int{0}), at(110, []int{4}, []int{0})}, []int{1, 1, Unknown}},
		{"two passes", []instanceRun{run(0, 0, 1, 4)},
			[]Backward{at(10, []int{4}, []int{0}), at(20, []int{4}, []int{4})}, []int{2, Unknown, Unknown}},
		{"cleared between them", []instanceRun{run(0, 0, 1, 4)},
			[]Backward{at(10, []int{4}, []int{0}), at(20, []int{4}, []int{0})}, []int{1, Unknown, Unknown}},
		{"in turns, and cleared", []instanceRun{run(0, 0, 1, 3), run(1, 1, 1, 0, 2), run(2, 0, 1, 3)},
			[]Backward{at(10, []int{3}, []int{0}), at(110, []int{3, 2}, []int{0, 0}), at(210, []int{3}, []int{0})},
			[]int{1, 1, 1}},
		{"in turns, and not cleared", []instanceRun{run(0, 0, 1, 3), run(1, 1, 1, 0, 2), run(2, 0, 1, 3)},
			[]Backward{at(10, []int{3}, []int{0}), at(110, []int{3, 2}, []int{0, 0}), at(210, []int{3}, []int{3})},
			[]int{1, 1, 2}},
		{"a quarter of them twice", []instanceRun{run(0, 0, 1, 4)},
			[]Backward{at(10, []int{4}, []int{0}), at(20, []int{1}, []int{1})}, []int{1, Unknown, Unknown}},
		{"half of them twice", []instanceRun{run(0, 0, 1, 4)},
			[]Backward{at(10, []int{4}, []int{0}), at(20, []int{2}, []int{2})}, []int{2, Unknown, Unknown}},
		{"a quarter of them once", []instanceRun{run(0, 0, 1, 4)}, []Backward{at(10, []int{1}, []int{0})},
			[]int{1, Unknown, Unknown}},
		{"a single one", []instanceRun{run(0, 0, 1, 1)}, []Backward{at(10, []int{1}, []int{0})},
			[]int{1, Unknown, Unknown}},
		{"two spans alike", []instanceRun{run(0, 0, 2, 4)},
			[]Backward{at(10, []int{8}, []int{0}), at(20, []int{3}, []int{0})}, []int{1, Unknown, Unknown}},
		{"others have some of the class", []instanceRun{run(0, 0, 1, 4)}, []Backward{at(10, []int{9}, []int{0})},
			[]int{1, Unknown, Unknown}},
		{"what is not reached says nothing", []instanceRun{run(0, 0, 1, 1, 5)},
			[]Backward{at(10, []int{1, 0}, []int{0, 0}), at(20, []int{1, 0}, []int{1, 0})}, []int{2, Unknown, Unknown}},
		{"most parameters decide", []instanceRun{run(0, 0, 1, 1, 5)},
			[]Backward{at(10, []int{1, 5}, []int{0, 0}), at(20, []int{1, 0}, []int{1, 0})}, []int{1, Unknown, Unknown}},
		{"nothing was reached", []instanceRun{run(0, 0, 1, 4)}, []Backward{at(10, []int{0, 4}, []int{0, 0})},
			[]int{Unknown, Unknown, Unknown}},
	} {
		o := &Optimizer{Updates: []int{0, 1, 2}}
		if got := accumulationsOf(test.runs, o, list, test.passes); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.what, got, test.want)
		}
	}
}

// TestInstances: the spans of an optimizer's name, by step and by the parameters that they touch.
func TestInstances(t *testing.T) {
	shapes := []string{"100,20", "64", "300,20"}
	pass := func(s *script, shapes ...string) { s.move('f'); s.accumulate("NllLossBackward0", shapes) }
	step := func(s *script, name string, shapes ...string) {
		s.within("user_annotation", "Optimizer.step#"+name+".step", func() {
			for _, shape := range shapes {
				s.event(1, "aten::addcdiv_", fmt.Sprintf(`dims=[[%s]] type=["float"]`, shape))
			}
		})
	}
	for _, test := range []struct {
		what string
		loop func(s *script)
		want string
	}{
		{"one for all", func(s *script) { pass(s, shapes...); step(s, "A", shapes...) }, ""},
		{"two in turns", func(s *script) {
			pass(s, shapes[:2]...)
			step(s, "A", shapes[:2]...)
			pass(s, shapes[2])
			step(s, "A", shapes[2])
		}, "0:[1 1 0]x1 1:[0 0 1]x1 2:[1 1 0]x1 3:[0 0 1]x1"},
		{"two of one step", func(s *script) {
			pass(s, shapes...)
			step(s, "A", shapes[:2]...)
			step(s, "A", shapes[2])
		}, "0:[1 1 0]x1 0:[0 0 1]x1 1:[1 1 0]x1 1:[0 0 1]x1"},
		{"two alike", func(s *script) {
			pass(s, append(shapes, shapes...)...)
			step(s, "A", shapes...)
			step(s, "A", shapes...)
		}, "0:[1 1 1]x2 1:[1 1 1]x2"},
		{"another one between", func(s *script) {
			pass(s, shapes[:2]...)
			step(s, "A", shapes[0])
			step(s, "B", shapes[1])
			pass(s, shapes[2])
			step(s, "A", shapes[2])
		}, "0:[1 0 0]x1 1:[0 0 1]x1 2:[1 0 0]x1 3:[0 0 1]x1"},
		{"which shapes do not show", func(s *script) {
			pass(s, shapes...)
			step(s, "A", shapes[:2]...)
			step(s, "A")
		}, ""},
		{"in backward", func(s *script) {
			pass(s, shapes...)
			s.node("torch::autograd::AccumulateGrad", func() { step(s, "A", shapes[:2]...) })
			s.node("torch::autograd::AccumulateGrad", func() { step(s, "A", shapes[2]) })
		}, ""},
	} {
		s := &script{}
		test.loop(s)
		test.loop(s)
		x := rankOf(t, s.text.String())
		found, backwards := steps.Find(x), FindBackwards(x)
		for _, o := range findOptimizers(x, found.List, &backwards.Params) {
			if o.Name != "A" {
				continue
			}
			var got []string
			for _, r := range instances(newStepping(x, &backwards.Params), &o, found.List, backwards.List) {
				got = append(got, fmt.Sprintf("%d:%vx%d", r.step, r.counts, r.spans))
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("%s: %s, want %s", test.what, text, test.want)
			}
		}
	}
	for _, test := range []struct {
		spans, classes int
		want           bool
	}{{10_000, 100, false}, {10_001, 1, true}, {1_000, 1_000, false}, {1_001, 1_000, true}, {0, 0, false}} {
		if got := tooMany(test.spans, test.classes); got != test.want {
			t.Errorf("%d spans, %d classes: %v", test.spans, test.classes, got)
		}
	}
}

// TestSeveralOptimizers: what a step's micro-batches are where optimizers of one name step different
// parameters, and where another one steps besides.
func TestSeveralOptimizers(t *testing.T) {
	update := func(s *script, name string, shapes ...string) {
		s.within("user_annotation", "Optimizer.step#"+name+".step", func() {
			for _, shape := range shapes {
				s.event(1, "aten::addcdiv_", fmt.Sprintf(`dims=[[%s]] type=["float"]`, shape))
			}
		})
	}
	for _, test := range []struct {
		what  string
		loop  func(s *script)
		first string
		want  string
	}{
		{"two of one name in turns", func(s *script) {
			s.move('f')
			s.accumulate("NllLossBackward0", []string{"100,20", "64"})
			update(s, "A", "100,20", "64")
			for range 2 {
				s.move('f')
				s.accumulate("NllLossBackward0", []string{"300,20"})
			}
			update(s, "A", "300,20")
		}, "", "A1 of 1, A1 of 1, A1 of 1, A1 of 1"},
		{"of which the first was recorded in part", func(s *script) {
			for range 2 {
				s.move('f')
				s.accumulate("NllLossBackward0", []string{"100,20"})
				s.adds("64")
				s.adds("300,20")
			}
			update(s, "A", "100,20", "64")
			update(s, "A", "300,20")
		}, "b", "A-1 of -1, A2 of 2, A2 of 2"},
	} {
		s := &script{params: []string{"100,20", "64", "300,20"}}
		if test.first != "" {
			s.move('f')
			s.move('b')
			update(s, "A", "100,20", "64")
			update(s, "A", "300,20")
		}
		test.loop(s)
		test.loop(s)
		var got []string
		for _, step := range one(t, s.text.String()).Steps {
			text := ""
			for _, o := range step.PerOptimizer {
				text += fmt.Sprint(o.Name, o.Accumulation)
			}
			got = append(got, fmt.Sprint(text, " of ", step.MicroBatches))
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s: %s, want %s", test.what, text, test.want)
		}
	}
}
