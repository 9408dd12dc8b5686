package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/straggler"
	"github.com/gaprof/gaprof/internal/units"
)

// StragglerText writes what slow workers cost a job for a terminal.
func StragglerText(w io.Writer, r *straggler.Result, o Options) error {
	b := o.sheet()
	b.WriteString("gaprof whatif  " + stragglerHeadline(r) + "\n")
	since := b.line()
	sayAll(b, stragglerSentences(r))
	b.repeat(since)
	if !o.Quiet {
		for _, t := range stragglerTables(r) {
			drawText(b, t)
		}
	}
	return b.flush(w)
}

// StragglerMarkdown writes the same for a pull request.
func StragglerMarkdown(w io.Writer, r *straggler.Result, o Options) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# gaprof whatif\n\n%s\n\n", markdownText(stragglerHeadline(r)))
	for _, s := range stragglerSentences(r) {
		fmt.Fprintf(&b, "- **%s** %s\n", s.head, markdownText(s.text))
	}
	if !o.Quiet {
		for _, t := range stragglerTables(r) {
			drawMarkdown(&b, t)
		}
	}
	return flush(w, &b)
}

func stragglerHeadline(r *straggler.Result) string {
	return strings.Join([]string{
		units.Count(len(r.Workers), "worker"), units.Count(r.Stages, "pipeline stage"),
		units.Count(r.DataParallel, "data parallel rank"), units.Count(len(r.Steps), "step"),
		units.Count(r.Operations, "operation"),
	}, " · ")
}

// mostOf is the share of a slowdown from which on it is said to be of some workers, as in the
// paper (section 5).
const mostOf = 0.5

// stragglerSentences says what is lost, where, and what to do about it.
func stragglerSentences(r *straggler.Result) []sentence {
	list := []sentence{{"VERDICT", fmt.Sprintf(
		"uneven work and slow workers cost %s of %s per step (%.1f %%): slowdown %.3f",
		units.Milliseconds(r.ReplayedNS-r.IdealNS), units.Milliseconds(r.ReplayedNS),
		100*float64(r.ReplayedNS-r.IdealNS)/float64(max(1, r.ReplayedNS)), r.Slowdown)}}
	if len(r.ByType) > 0 {
		list = append(list, sentence{"WHY", fmt.Sprintf(
			"%s alone %s; of the stages, stage %d; the last stage accounts for %s of the slowdown, %s for %s",
			r.ByType[0].Type, costs(r.ByType[0].Slowdown), r.ByStage[0].Number, shareText(r.LastStage.Removed),
			slowest(r.WorstWorkers.Ranks), shareText(r.WorstWorkers.Removed))})
	}
	list = append(list, sentence{"NEXT", advice(r)})
	if r.Doubt != "" {
		list = append(list, sentence{"NOTE", r.Doubt})
	}
	return list
}

// advice is what to change, by the shares of the slowdown.
func advice(r *straggler.Result) string {
	switch {
	case r.Slowdown < 1.02:
		return "nothing: the work is even to 2 %"
	case r.Stages > 1 && r.LastStage.Removed >= mostOf && r.LastStage.Removed >= r.WorstWorkers.Removed:
		return "give the last stage fewer layers: it computes the loss too, and all others wait for it"
	case r.WorstWorkers.Removed >= mostOf:
		return "look at the machines of " + ranksText(r.WorstWorkers.Ranks) + ": they are slow at what others do faster"
	case len(r.ByType) > 0 && strings.HasSuffix(r.ByType[0].Type, "-compute"):
		return "make the micro-batches even: the same pass takes longer for some than for others, on no worker in " +
			"particular, as with sequences of different lengths or Python's garbage collection at different times"
	}
	return "look at the communication that the tables below list first: its transfers vary, and not on one worker"
}

func costs(slowdown float64) string {
	return fmt.Sprintf("makes steps %.1f %% longer", 100*(slowdown-1))
}

func shareText(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// slowest names the workers of which M_W speaks.
func slowest(ranks []int32) string {
	if len(ranks) == 1 {
		return "the slowest worker, " + ranksText(ranks) + ","
	}
	return fmt.Sprintf("the %d slowest workers, %s,", len(ranks), ranksText(ranks))
}

// ranksText lists ranks in words, the first of many.
func ranksText(ranks []int32) string {
	const most = 8
	words := make([]string, 0, most)
	for _, rank := range ranks[:min(most, len(ranks))] {
		words = append(words, strconv.Itoa(int(rank)))
	}
	text := "rank "
	if len(ranks) > 1 {
		text = "ranks "
	}
	text += strings.Join(words, ", ")
	if len(ranks) > most {
		text += fmt.Sprintf(" and %d more", len(ranks)-most)
	}
	return text
}

// stragglerTables lists slowdowns by type, stage, data parallel rank and worker.
func stragglerTables(r *straggler.Result) []table {
	types := table{
		title: "Slowdown by type of operation", header: []string{"type", "slowdown", "ideal", "delay"}, left: 1,
		note: "Slowdown: steps in which only these operations take the time that they took, over steps in which all " +
			"are ideal. Ideal: mean of compute, median of communication without waiting. Delay: how much later they " +
			"started than the model knows a reason for; replays have none.",
	}
	for _, one := range r.ByType {
		ideal := ""
		if one.IdealNS != nil {
			ideal = units.Milliseconds(*one.IdealNS)
		}
		delay := units.Milliseconds(one.DelayNS)
		types.rows = append(types.rows, []string{one.Type, ratioText(one.Slowdown), ideal, delay})
	}
	return []table{
		types, slowdownTable("Slowdown by pipeline stage", "stage", r.ByStage),
		slowdownTable("Slowdown by data parallel rank", "data parallel rank", r.ByDP), workerTable(r.Workers),
	}
}

// mostSlow is how many rows of a table are drawn; JSON has all.
const mostSlow = 16

func slowdownTable(title, what string, list []straggler.GroupSlowdown) table {
	t := table{title: title, header: []string{what, "slowdown"}, left: 1}
	for _, one := range list[:min(mostSlow, len(list))] {
		t.rows = append(t.rows, []string{strconv.Itoa(int(one.Number)), ratioText(one.Slowdown)})
	}
	return t.cut(len(list))
}

func workerTable(workers []straggler.Worker) table {
	workers = slices.Clone(workers)
	slices.SortStableFunc(workers, func(a, b straggler.Worker) int { return cmp.Compare(b.Slowdown, a.Slowdown) })
	t := table{
		title: "Slowdown by worker", left: 1,
		header: []string{"rank", "data parallel rank", "stage", "slowdown", "alone"},
		note: "Slowdown: the smaller of those of its stage and of its data parallel rank, a bound. " +
			"Alone: by a replay of its own.",
	}
	for _, w := range workers[:min(mostSlow, len(workers))] {
		alone := ""
		if w.Alone != 0 {
			alone = ratioText(w.Alone)
		}
		t.rows = append(t.rows, []string{
			strconv.Itoa(int(w.Rank)), strconv.Itoa(int(w.DP)), strconv.Itoa(int(w.Stage)),
			ratioText(w.Slowdown), alone,
		})
	}
	return t.cut(len(workers))
}

// cut says how many rows are not drawn.
func (t table) cut(all int) table {
	if hidden := all - len(t.rows); hidden > 0 {
		t.more = append(t.more, units.Count(hidden, "row")+" more; the JSON form has all")
	}
	return t
}

func ratioText(ratio float64) string { return fmt.Sprintf("%.4f", ratio) }
