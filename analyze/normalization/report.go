package normalization

import "math"

// Schema names the contract of Report's JSON form. Fields may be added to it and are
// never renamed; what is unknown is null or "unknown".
const Schema = "gaprof.norm/1"

// Report is everything that the audit says of the normalization of a run.
type Report struct {
	Schema    string           `json:"schema"`
	Version   string           `json:"gaprof_version"`
	Files     []string         `json:"files"` // traces, logs and folders of gradients
	Verdict   Judgement        `json:"verdict"`
	Findings  []Judgement      `json:"findings"`
	Steps     []StepReport     `json:"steps"`
	Gradients []GradientReport `json:"gradients"`
	Notes     []string         `json:"notes"` // what cannot be said, and why
	Exit      Exit             `json:"exit"`
}

// Judgement is a finding in short, or that there is none.
type Judgement struct {
	Rule     string `json:"rule"` // "" where nothing is wrong or known
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Why      string `json:"why"`
	Fix      string `json:"fix"`
}

// Exit is the exit code of the command and its reason.
type Exit struct {
	Code   int    `json:"code"`
	Reason string `json:"reason"`
}

// StepReport is how one step is normalized, and how it would be under every mode.
type StepReport struct {
	Step      int        `json:"step"`
	Tokens    [][]int64  `json:"tokens"` // by rank and micro-batch
	Total     int64      `json:"total_tokens"`
	Mode      Mode       `json:"mode"`
	Factor    string     `json:"factor"`
	Basis     Basis      `json:"basis"`
	Evidence  string     `json:"evidence"`
	Weights   *Weights   `json:"weights"` // null where mode, factor or counts are not known
	Modes     []*Weights `json:"weights_by_mode"`
	Losses    []Loss     `json:"losses"`
	Logged    *NamedLoss `json:"logged_loss"`
	Optimised *NamedLoss `json:"optimized_loss"`
}

// NamedLoss is a loss of a log and which average of the losses of micro-batches it is;
// Name is "unknown" where it is none.
type NamedLoss struct {
	Value  float64 `json:"value"`
	Name   string  `json:"name"`
	Factor string  `json:"factor"` // that the average is multiplied by
	Text   string  `json:"text"`
}

// GradientReport is the gradients of one rank and step against the right ones.
type GradientReport struct {
	Step    int64  `json:"step"`
	Rank    int64  `json:"rank"`
	File    string `json:"file"`
	Against string `json:"against"` // a file, or that micro-batches give the right ones
	*Verdict
}

// Describe is the report of one step.
func Describe(step int, o *Observation, d *Decision) StepReport {
	c := o.Case
	r := StepReport{Step: step, Tokens: c.Tokens, Total: c.Total(), Mode: d.Mode, Factor: d.Factor.Name, Basis: d.Basis, Evidence: d.Evidence,
		Weights: d.Weights, Modes: []*Weights{}, Losses: []Loss{}}
	if !o.Whole {
		r.Modes = append(r.Modes, c.AllWeights()...)
	}
	if o.Sums != nil && !o.Whole {
		r.Losses = append(r.Losses, c.LossesOf(o.Sums)...)
	}
	r.Logged, r.Optimised = c.nameLoss(r.Losses, o.Logged), c.nameLoss(r.Losses, o.Optimised)
	return r
}

// nameLoss finds out which average a number of a log is, as it is or times a factor; nil
// for a number that is not there.
func (c *Case) nameLoss(list []Loss, v float64) *NamedLoss {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	if l, ok := NameLoss(list, v); ok {
		return &NamedLoss{v, l.Name, "1", l.Text}
	}
	for _, l := range list {
		if hits := nameFactors(c.Factors(), v/l.Value, lossTolerance); len(hits) > 0 {
			return &NamedLoss{v, l.Name, hits[0].Name, l.Text + " times " + hits[0].Name}
		}
	}
	return &NamedLoss{v, string(Unknown), "", "none of the averages of the micro-batches' losses"}
}
