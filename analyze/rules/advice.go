package rules

import "github.com/gaprof/gaprof/analyze/report"

// advice is what to change: in words, and in a line of PyTorch before and after. Without words it is what
// the rule says; without lines the rule's lines fit it, too.
type advice struct {
	fix, before, after string
	wordsOnly          bool // no line fits
}

// give puts an advice into a finding.
func (a advice) give(f *report.Finding) {
	f.Fix = a.fix
	if a.wordsOnly || a.after != "" {
		f.Change = &report.Change{Before: a.before, After: a.after}
	}
}

// fromHooks is the advice to reduce gradients of a kind from hooks.
func fromHooks(fix, reduction string) advice {
	return advice{fix: fix, before: reduction + "  # after backward, or in step()",
		after: "p.register_post_accumulate_grad_hook(reduce)  # as soon as its gradient is ready"}
}
