package normalization

import "math"

// Describe is the report of one step, which must have token counts.
func Describe(step int, o *Observation, d *Decision) StepReport {
	c := o.Counts
	r := StepReport{Step: step, Tokens: c.Tokens, Total: c.Total(), Mode: d.Mode, Factor: d.Factor.Name, Basis: d.Basis,
		Evidence: d.Evidence, Weights: d.Weights, Modes: []*Weights{}, Losses: []Loss{}}
	if !o.Whole {
		r.Modes = append(r.Modes, c.AllWeights()...)
	}
	if o.Sums != nil && !o.Whole {
		r.Losses = append(r.Losses, c.LossesOf(o.Sums)...)
	}
	r.Logged, r.Optimised = nameLoss(c, r.Losses, o.Logged), nameLoss(c, r.Losses, o.Optimised)
	if r.Optimised != nil && r.Optimised.Name == string(Unknown) && d.Basis == ByLoss {
		r.Optimised.Name, r.Optimised.Factor = string(d.Mode), d.Factor.Name
		if r.Optimised.Text = optimised[d.Mode]; d.Factor != One {
			r.Optimised.Text += " times " + d.Factor.Name
		}
	}
	return r
}

// nameLoss finds out which average a number of a log is, as it is or times a factor; nil
// for a number that is not there.
func nameLoss(c *Counts, list []Loss, v float64) *NamedLoss {
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
