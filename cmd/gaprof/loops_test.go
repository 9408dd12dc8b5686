package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze"
	"github.com/gaprof/gaprof/analyze/facts"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/rules"
	"github.com/gaprof/gaprof/analyze/timeline"
	"github.com/gaprof/gaprof/reference"
	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// loop is a training loop of PyTorch and the options by which the trainer runs the same.
type loop struct {
	name    string // of its traces, without rank and ending
	options string // name=value, after those of the folder
	names   string // of optimizers in the same places: PyTorch's=ours, ...
	differs []difference
	none    string // why the trainer has no such loop
}

// difference is a fact that is not the same, what ours is instead, and why. One that has
// gone is a failure too.
type difference struct{ fact, ours, why string }

// loopFolder is a folder of PyTorch's traces, with the options of its model.
type loopFolder struct {
	dir     string
	options string
	loops   []loop
}

var interopFolder = loopFolder{
	filepath.Join("..", "..", "interop", "testdata"), "layers=1 width=16 heads=1 sequence-length=8 bucket-bytes=12000",
	interopLoops,
}

// TestLoopsOfTorchCPU: the facts of our trace of a loop are those of PyTorch 1.13's. The
// model has their sizes, so that elements and buckets are alike.
func TestLoopsOfTorchCPU(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "traces", "torch-cpu")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("skipping: the shared traces are not here")
	}
	testLoops(t, loopFolder{
		dir, "layers=2 width=64 heads=2 sequence-length=64 vocabulary=512 bucket-bytes=135000", torchCPULoops,
	})
}

// TestLoopsOfInterop: the same with the loops of interop/loops.py under PyTorch 2.15.
func TestLoopsOfInterop(t *testing.T) {
	testLoops(t, interopFolder)
}

// testLoops compares the traces of each loop of the table; a row without traces is a
// failure, and in the folder that is our own a loop without a row as well.
func testLoops(t *testing.T, folder loopFolder) {
	files, _ := filepath.Glob(filepath.Join(folder.dir, "*.truth.json"))
	traces := make(map[string][]string) // by loop, rank after rank
	for _, file := range files {
		base := strings.TrimSuffix(file, ".truth.json")
		name, _, _ := strings.Cut(filepath.Base(base), "-rank")
		traces[name] = append(traces[name], base+".json.gz")
	}
	for _, l := range folder.loops {
		list := traces[l.name]
		if delete(traces, l.name); len(list) == 0 {
			t.Errorf("%s: no trace of it", l.name)
		}
		if l.none != "" {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			run := trainLoop(t, folder.options+" "+l.options)
			for rank, file := range list {
				read, err := tracefile.Read(file, tracefile.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, complaint := range l.compare(loopFacts(run.trace(rank), ""), loopFacts(read[0], l.names)) {
					t.Error(complaint)
				}
			}
		})
	}
	if folder.dir != interopFolder.dir {
		return
	}
	for name := range traces {
		t.Errorf("%s is neither compared nor said to have no counterpart", name)
	}
}

// trainLoop trains three steps, on one rank unless the options say otherwise.
func trainLoop(t *testing.T, options string) *trained {
	t.Helper()
	o := reference.Defaults()
	for _, word := range strings.Fields("local-batch-size=2 world-size=1 max-steps=3 gradient-as-bucket-view=false " +
		options) {
		name, value, _ := strings.Cut(word, "=")
		if err := o.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return trainQuick(t, o)
}

// compare returns complaints, each begun by its fact: of facts that differ without leave,
// and of differences that are none.
func (l *loop) compare(ours, theirs map[string]string) []string {
	var complaints []string
	complain := func(fact, format string, args ...any) {
		complaints = append(complaints, fact+": "+fmt.Sprintf(format, args...))
	}
	for _, fact := range factNames(ours, theirs) {
		i := slices.IndexFunc(l.differs, func(d difference) bool { return d.fact == fact })
		switch {
		case i < 0 && ours[fact] != theirs[fact]:
			complain(fact, "\n  ours    %q\n  PyTorch %q", ours[fact], theirs[fact])
		case i < 0:
		case ours[fact] == theirs[fact]:
			complain(fact, "no longer differs: %q", ours[fact])
		case ours[fact] != l.differs[i].ours:
			complain(fact, "ours %q, the table has %q", ours[fact], l.differs[i].ours)
		}
	}
	for _, d := range l.differs {
		if _, ok := theirs[d.fact]; !ok && ours[d.fact] == "" || d.why == "" {
			complain(d.fact, "a difference of nothing, or without a reason")
		}
	}
	return complaints
}

// factNames are those that one side has or both, in order.
func factNames(a, b map[string]string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Keys(a)),
		slices.Collect(maps.Keys(b))))))
}

// TestLoopsTell: one wrong option, and the fact that is its own is complained of.
func TestLoopsTell(t *testing.T) {
	for _, c := range []struct{ loop, wrong, fact string }{
		{"single-accum4-scale", "max-steps=2", "steps"},
		{"single-accum4-scale", "global-batch-size=4", "accumulation steps"},
		{"single-accum4-single-backward", "global-batch-size=4", "micro-batches"},
		{"single-accum4-single-backward", "backward=micro-batch", "wrong by the rules"},
		{"single-accum4-zero-inside", "plant=", "wrong by the rules"},
		{"single-accum4-in-backward-keep", "plant=", "wrong by the rules"},
		{"single-accum1-skip", "optimizer=sgd", "optimizers"},
		{"single-accum1-in-backward", "optimizer-in-backward=false", "optimizers"},
		{"single-accum1-scale-tensor", "scale=foreach", "scale passes"},
		{"single-accum1-scale-tensor", "scale=loss", "scale passes"},
		{"single-accum1-scale-tensor", "global-batch-size=4", "scale passes"},
		{"single-accum1-clip-only-loop", "foreach-clip=true", "clip passes"},
		{"ddp2-accum1-scale", "gradient-as-bucket-view=true", "divide passes"},
		{"ddp2-accum1-scale", "gradient-as-bucket-view=true", "copy passes"},
		{"ddp2-accum4-sync-every-scale", "sync=last", "gradient sync"},
		{"ddp2-accum4-sync-every-scale", "bucket-bytes=0", "gradient collectives per micro-batch"},
		{"ddp2-accum4-sync-every-scale", "sync=last", "elements reduced in a step, of those of the parameters"},
		{"ddp2-accum4-no-sync-scale-clip", "reduce-loss=false", "token all-reduce"},
		{"ddp2-accum4-no-sync-scale-clip", "scale=loss", "token all-reduce"},
		{"ddp2-accum1-prescaled", "all-reduce=step", "launch sites of gradient sync"},
		{"ddp2-accum1-prescaled", "world-size=3", "reducing ranks"},
		{"fsdp2-accum4-last-prescaled", "reduce-scatter=step", "launch sites of gradient sync"},
		{"fsdp2-accum4-last-prescaled", "reduce-scatter=", "gradient sync"},
	} {
		i := slices.IndexFunc(interopLoops, func(l loop) bool { return l.name == c.loop })
		if i < 0 {
			t.Fatalf("no loop %s", c.loop)
		}
		l := &interopLoops[i]
		file, _ := filepath.Glob(filepath.Join(interopFolder.dir, l.name+"*.json.gz"))
		read, err := tracefile.Read(file[0], tracefile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		run := trainLoop(t, interopFolder.options+" "+l.options+" "+c.wrong)
		complaints := l.compare(loopFacts(run.trace(0), ""), loopFacts(read[0], l.names))
		if !slices.ContainsFunc(complaints, func(text string) bool { return strings.HasPrefix(text, c.fact+": ") }) {
			t.Errorf("%s with %s: %q is not complained of: %q", c.loop, c.wrong, c.fact, complaints)
		}
	}
}

// renamer puts our names of optimizers in the place of PyTorch's, all at once.
func renamer(names string) *strings.Replacer {
	var pairs []string
	for _, pair := range strings.Fields(names) {
		from, to, _ := strings.Cut(pair, "=")
		pairs = append(pairs, from, to)
	}
	return strings.NewReplacer(pairs...)
}

// loopFacts are the facts of one rank's trace as text, sizes as multiples of the
// parameters' own. What may change from step to step is a list of what there is.
func loopFacts(tr *trace.Trace, names string) map[string]string {
	r := analyze.Run([]analyze.Input{{Trace: tr}}, analyze.Options{Rules: rules.All()})
	rank := facts.Compute(timeline.New(tr))[0]
	list := map[string]string{
		"steps":              fmt.Sprint(len(r.Steps)),
		"accumulation steps": orNull(r.AccumulationSteps),
		"wrong by the rules": wrongRules(r),
	}
	name := renamer(names).Replace
	stepFacts(list, r, name)
	passFacts(list, r, rank, name)
	syncFacts(list, r, rank, name)
	return list
}

// ofTheLoop are rules that find what a loop does whatever it costs: gradients cleared or
// clipped in every micro-batch, one backward over all, an optimizer in every backward.
var ofTheLoop = []string{"GS007", "CL004", "AC005", "OP002"}

func wrongRules(r *report.Report) string {
	var ids []string
	for _, f := range r.Findings {
		if slices.Contains(ofTheLoop, f.Rule) {
			ids = append(ids, f.Rule)
		}
	}
	return distinct(ids)
}

func orNull[T any](p *T) string {
	if p == nil {
		return "null"
	}
	return fmt.Sprint(*p)
}

// stepFacts are the micro-batches and optimizers that complete steps have.
func stepFacts(list map[string]string, r *report.Report, name func(string) string) {
	var micros, optimizers []string
	for _, s := range r.Steps {
		if !s.Complete {
			continue
		}
		micros = append(micros, orNull(s.MicroBatches))
		var names []string
		for _, o := range s.Optimizers {
			text := name(o.Name) + " " + orNull(o.Accumulation)
			if o.InBackward {
				text += " in backward"
			}
			names = append(names, text)
		}
		slices.Sort(names)
		optimizers = append(optimizers, strings.Join(names, ", "))
	}
	list["micro-batches"], list["optimizers"] = distinct(micros), distinct(optimizers)
}

// distinct joins what differs, sorted.
func distinct(list []string) string {
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " | ")
}

// passFacts are the passes over gradients by kind: place, calls, tensors, bytes and
// verdict, and how many there are in a step.
func passFacts(list map[string]string, r *report.Report, rank *facts.Rank, name func(string) string) {
	count := make(map[[2]string]map[int]int) // by kind and text, by step
	for _, p := range r.GradientPasses {
		text := fmt.Sprintf("%s, %s of %s, %s, %s, %s", p.Where,
			times(int64(p.Parameters), int64(rank.Params.Count), "parameters"), name(p.Optimizer),
			times(p.Bytes, 2*rank.Params.Bytes, "gradients read and written"), calls(p), p.Verdict)
		key := [2]string{p.Kind, text}
		if count[key] == nil {
			count[key] = make(map[int]int)
		}
		count[key][p.Step]++
	}
	texts := make(map[string][]string)
	for key, steps := range count {
		var perStep []string
		for _, s := range r.Steps {
			perStep = append(perStep, fmt.Sprint(steps[s.Index]))
		}
		texts[key[0]] = append(texts[key[0]], distinct(perStep)+" x "+key[1])
	}
	for kind, all := range texts {
		list[kind+" passes"] = distinct(all)
	}
}

// calls says whether a pass is one call or one for each tensor.
func calls(p report.GradientPass) string {
	switch p.Launches {
	case 1:
		return "one call"
	case p.Parameters:
		return "a call each"
	}
	return fmt.Sprintf("%d calls", p.Launches)
}

// times is a number as a multiple of another, to two decimals.
func times(n, of int64, what string) string {
	if n == of {
		return "all " + what
	}
	return fmt.Sprintf("%.2f of the %s", float64(n)/float64(max(1, of)), what)
}

// each puts a word for one collective a parameter.
func each(list []int, parameters int) []string {
	var words []string
	for _, n := range list {
		word := fmt.Sprint(n)
		if n == parameters {
			word = "one each"
		}
		words = append(words, word)
	}
	return words
}

// syncFacts are how gradients and tokens are reduced.
func syncFacts(list map[string]string, r *report.Report, rank *facts.Rank, name func(string) string) {
	sync, tokens := r.GradientSync[0], r.TokenAllReduce[0]
	list["gradient sync"] = sync.Pattern + " " + sync.Kind
	list["reducing ranks"] = orNull(sync.Ranks)
	list["gradient collectives per micro-batch"] = fmt.Sprint(each(sync.PerMicroBatch, rank.Params.Count))
	list["token all-reduce"] = fmt.Sprintf("%s %s %d", orNull(tokens.Present), orNull(tokens.Where), tokens.PerStep)
	sites, elements := make([]string, 0), make([]int64, len(rank.Steps))
	for _, c := range rank.HostCollectives {
		if c.Gradient && c.Step >= 0 {
			sites = append(sites, fmt.Sprintf("%s in %s %s", c.Kind, c.Site.Site, name(c.Site.Name)))
			elements[c.Step] += c.Elems
		}
	}
	list["launch sites of gradient sync"] = distinct(sites)
	var perStep []string
	for _, n := range elements {
		perStep = append(perStep, fmt.Sprintf("%.1f", float64(n)/float64(rank.Params.Numel)))
	}
	list["elements reduced in a step, of those of the parameters"] = distinct(perStep)
}
