package gate

import "github.com/gaprof/gaprof/internal/choice"

// nameChoices replaces the choices in the advice of a result by the caller's names for them.
func (r *Result) nameChoices(names map[string]string) {
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Reason, row.Next = choice.Name(row.Reason, names), choice.Name(row.Next, names)
	}
	for i := range r.Notes {
		r.Notes[i] = choice.Name(r.Notes[i], names)
	}
}
