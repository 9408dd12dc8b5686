package analyze

import (
	"slices"
	"strings"

	"github.com/gaprof/gaprof/analyze/gradients"
	"github.com/gaprof/gaprof/analyze/report"
	"github.com/gaprof/gaprof/analyze/timeline"
)

// Pass is what a rule sees while it runs: the ranks on which its needs are met,
// the problems of the inputs, and what is left unclaimed of every ledger.
type Pass struct {
	Ranks         []*Rank          // in the order of their numbers
	Problems      []report.Problem // damage of all inputs
	UniformTokens bool             // the user declares equal token counts on all ranks
	Normalized    []NormalizedStep // nil for PerRank rules

	peak      int64 // memory bandwidth in bytes/s that goes before the table of devices; 0 none
	matched   *Matched
	rule      *Rule
	claims    claims
	explained map[explainedKey]int64               // what rules have told of in the place of others
	taken     map[*gradients.Pass]string           // the rule that has a pass over the gradients
	named     map[string][]timeline.CollectiveKind // by rule: see Names
	out       []costed
}

// claimKey is one bucket of one step's window.
type claimKey struct {
	rank   *Rank
	step   int
	window int
	bucket timeline.Bucket
}

// claims notes which rules took how many ns of each bucket.
type claims map[claimKey]*claimed

type claimed struct {
	ns    int64
	rules []string
	by    map[string]int64 // ns by rule
}

// family is the ns of the rules whose IDs begin with the same letters.
func (c *claimed) family(letters string) (ns int64) {
	for id, got := range c.by {
		if strings.HasPrefix(id, letters) {
			ns += got
		}
	}
	return ns
}

// Claim takes up to ns of a bucket for the running rule and returns what it got;
// time that others hold is not given twice. Others names the rules that hold the
// rest.
func (p *Pass) Claim(r *Rank, step, window int, bucket timeline.Bucket, ns int64) (got int64, others []string) {
	c := p.claimedOf(claimKey{r, step, window, bucket})
	got = max(0, min(ns, r.Steps[step].Windows[window].Ledger[bucket]-c.ns))
	if got < ns {
		others = slices.Clone(c.rules)
	}
	c.ns += got
	if got > 0 {
		c.rules = append(c.rules, p.rule.ID)
		c.by[p.rule.ID] += got
	}
	return got, others
}

// ClaimRest is Claim for rules of one family that share a bucket without overlap, as
// causes of idle time do: any of the time that rules of other families hold may be the
// same, so it is taken off.
func (p *Pass) ClaimRest(r *Rank, step, window int, bucket timeline.Bucket, ns int64) (got int64, others []string) {
	c := p.claimedOf(claimKey{r, step, window, bucket})
	held := c.ns - c.family(family(p.rule))
	if held > 0 {
		own := func(id string) bool { return strings.HasPrefix(id, family(p.rule)) }
		others = slices.DeleteFunc(slices.Clone(c.rules), own)
	}
	got, _ = p.Claim(r, step, window, bucket, max(0, ns-held))
	return got, others
}

// Explain says that the running rule tells of so many ns per step of a rank, which the rule of that id
// would find as well: they need no second finding.
func (p *Pass) Explain(r *Rank, rule string, ns int64) {
	if p.explained == nil {
		p.explained = make(map[explainedKey]int64)
	}
	p.explained[explainedKey{r, rule}] += ns
}

// Explained is what rules before the running one have told of in its place, in ns per step of a rank.
func (p *Pass) Explained(r *Rank) int64 { return p.explained[explainedKey{r, p.rule.ID}] }

type explainedKey struct {
	rank *Rank
	rule string
}

func (p *Pass) claimedOf(key claimKey) *claimed {
	c := p.claims[key]
	if c == nil {
		c = &claimed{by: make(map[string]int64)}
		p.claims[key] = c
	}
	return c
}

// family is the two letters that the ID of a rule begins with.
func family(rule *Rule) string { return rule.ID[:min(2, len(rule.ID))] }

// TakePass gives a pass over the gradients to the running rule. Where another rule has
// it, ok is false and owner names that rule: what a pass costs is charged once.
func (p *Pass) TakePass(gp *gradients.Pass) (owner string, ok bool) {
	if owner, taken := p.taken[gp]; taken {
		return owner, owner == p.rule.ID
	}
	p.taken[gp] = p.rule.ID
	return p.rule.ID, true
}

// Names says which kinds of collectives the running rule speaks of. Where it claims of a
// bucket that several kinds share, the time is that of these.
func (p *Pass) Names(kinds ...timeline.CollectiveKind) { p.named[p.rule.ID] = kinds }

// Remark says that the running rule applies, too, to time that the named rules
// have claimed.
func (p *Pass) Remark(rules []string) {
	for i := range p.out {
		if slices.Contains(rules, p.out[i].Rule) && !slices.Contains(p.out[i].Also, p.rule.ID) {
			p.out[i].Also = append(p.out[i].Also, p.rule.ID)
		}
	}
}

// Bandwidth is the peak memory bandwidth of a rank's device in bytes/s, 0 unknown.
func (p *Pass) Bandwidth(r *Rank) int64 { return bandwidthOf(r.Rank, p.peak) }

// Matched is what the collectives of all ranks say together. It is not for PerRank rules.
func (p *Pass) Matched() *Matched {
	if p.rule.Scope == PerRank {
		panic("analyze: " + p.rule.ID + " runs on one rank at a time and asks what ranks say together")
	}
	return p.matched
}

// Notes are the limits of what the ranks say together, for caveats.
func (p *Pass) Notes() []string { return matchNotes(p.Matched()) }

// WaitsKnown reports whether waiting is known of any rank.
func (p *Pass) WaitsKnown() bool { return p.matched.WaitsKnown() }

// AllRanks reports whether waiting is known and a trace of every member of the groups
// was given, so that what is left of a collective is transfer. PerRank rules may put it
// into a caveat.
func (p *Pass) AllRanks() bool { return p.matched.Whole() }
