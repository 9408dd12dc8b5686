package analyze

import "slices"

// Rule is one thing that gaprof looks for. It is a plain value; analyze/rules has
// the list, in the order in which rules may claim time: specific before general.
type Rule struct {
	ID    string // two letters of the family and three digits
	Doc   Doc
	Scope Scope       // whether it looks at one rank at a time; the zero value is AllRanks
	Needs []Need      // all must be met, else the rule is reported as skipped
	Run   func(*Pass) // claims time and reports findings through the Pass

	// Edit names the edit of package whatif that does what Doc.Fix says: the saving of its
	// findings is then that of a replay where one can be made. "" for none.
	Edit string

	// Weighs says of a finding that gradients of micro-batches do not add up as losses do. Then
	// no log of losses tells how much a token counts.
	Weighs bool
}

// Scope says what a rule has to see at a time.
type Scope uint8

const (
	// AllRanks rules need what ranks say together: Pass.Matched, Pass.Normalized, or the
	// ranks beside each other.
	AllRanks Scope = iota

	// PerRank rules look at one rank at a time: what such a rule finds and claims on a rank
	// does not depend on which others are there. Of several ranks it reports once what it
	// found on any; the cost is the mean over the steps of all, and counts are sums. It can
	// run where the facts of a single rank are.
	PerRank
)

// Doc is a rule's page: explain prints it and docs/rules is generated from it,
// together with the rule's examples.
type Doc struct {
	Title string // what is found, in a few words
	Why   string // why it costs or endangers
	Fix   string // what to change, naming the API

	// The line of code that matters, as it stands and as it should: an example in PyTorch.
	Before, After string
}

// skipReason is why a rule cannot run on any of the ranks of a pass, or empty.
func (rule *Rule) skipReason(p *Pass) string {
	for _, need := range rule.Needs {
		met := need.All != nil && need.All(p) || need.Met != nil && slices.ContainsFunc(p.Ranks, need.Met)
		if !met {
			return need.Missing
		}
	}
	return ""
}

// applies reports whether all needs of the rule are met on rank r.
func (rule *Rule) applies(r *Rank) bool {
	for _, need := range rule.Needs {
		if need.Met != nil && !need.Met(r) {
			return false
		}
	}
	return true
}
