package oracle

import (
	"errors"
	"fmt"
	"slices"
)

// Bounds that keep a damaged case from asking for absurd amounts of memory.
const (
	maxRanks = 1 << 16
	maxSteps = 1 << 20
)

func (h *Head) check(kind string) error {
	switch {
	case h.Schema != Schema:
		return fmt.Errorf("schema is %q, not %s", h.Schema, Schema)
	case h.Kind != kind:
		return fmt.Errorf("kind is %q, not %s", h.Kind, kind)
	case h.WorldSize < 1 || h.WorldSize > maxRanks:
		return fmt.Errorf("world_size is %d", h.WorldSize)
	case h.Accumulation < 1 || h.Accumulation > maxSteps:
		return fmt.Errorf("accumulation_steps is %d", h.Accumulation)
	case len(h.Params) == 0:
		return fmt.Errorf("param_order is empty")
	}
	seen := make(map[string]bool)
	for _, p := range h.Params {
		if seen[p.Name] || p.Name == "" {
			return fmt.Errorf("param_order names %q twice, or not at all", p.Name)
		}
		seen[p.Name] = true
		for _, d := range p.Shape {
			if d < 1 {
				return fmt.Errorf("%s has the shape %v", p.Name, p.Shape)
			}
		}
	}
	return nil
}

// checkTensors wants exactly the parameters, each with its number of elements.
func (h *Head) checkTensors(what string, tensors map[string]Floats) error {
	for _, p := range h.Params {
		if got := len(tensors[p.Name]); got != p.Numel() {
			return fmt.Errorf("%s: %s has %d numbers, its shape %v wants %d", what, p.Name, got, p.Shape, p.Numel())
		}
	}
	if len(tensors) != len(h.Params) {
		return fmt.Errorf("%s: %d tensors of %d parameters", what, len(tensors), len(h.Params))
	}
	return nil
}

func (in *Inputs) check() error {
	if err := in.Head.check("inputs"); err != nil {
		return err
	}
	if err := in.checkTensors("weights", in.Weights); err != nil {
		return err
	}
	total := int64(0)
	if len(in.Data) != in.WorldSize {
		return fmt.Errorf("data has %d ranks of %d", len(in.Data), in.WorldSize)
	}
	for r, batches := range in.Data {
		if len(batches) != in.Accumulation {
			return fmt.Errorf("rank %d has %d micro-batches of %d", r, len(batches), in.Accumulation)
		}
		for j := range batches {
			if err := in.checkBatch(&batches[j]); err != nil {
				return fmt.Errorf("rank %d micro-batch %d: %w", r, j, err)
			}
			total += batches[j].Valid
		}
	}
	if total != in.ValidTokens {
		return fmt.Errorf("total_valid_tokens is %d, the micro-batches have %d", in.ValidTokens, total)
	}
	return nil
}

// checkBatch wants B rows of T tokens of the vocabulary, and as many valid targets as said.
func (in *Inputs) checkBatch(b *Batch) error {
	c := &in.Config
	for _, part := range []struct {
		name   string
		rows   [][]int
		ignore bool
	}{{"tokens", b.Tokens, false}, {"targets", b.Targets, true}} {
		if len(part.rows) != c.B {
			return fmt.Errorf("%s has %d rows of %d", part.name, len(part.rows), c.B)
		}
		for _, row := range part.rows {
			if len(row) != c.T {
				return fmt.Errorf("a row of %s has %d positions of %d", part.name, len(row), c.T)
			}
			for _, token := range row {
				if (token < 0 || token >= c.V) && !(part.ignore && token == c.IgnoreIndex) {
					return fmt.Errorf("%s holds %d, the vocabulary has %d", part.name, token, c.V)
				}
			}
		}
	}
	valid := int64(0)
	for _, row := range b.Targets {
		for _, token := range row {
			if token != c.IgnoreIndex {
				valid++
			}
		}
	}
	if valid != b.Valid {
		return fmt.Errorf("n_valid is %d, %d targets are valid", b.Valid, valid)
	}
	return nil
}

func (e *Expected) check(dtype string, in *Inputs) error {
	if err := e.Head.check("expected"); err != nil {
		return err
	}
	if e.Dtype != dtype {
		return fmt.Errorf("dtype is %q, the file's name says %s", e.Dtype, dtype)
	}
	if e.WorldSize != in.WorldSize || e.Accumulation != in.Accumulation || e.ValidTokens != in.ValidTokens ||
		!slices.EqualFunc(e.Params, in.Params, sameParam) {
		return errors.New("world_size, accumulation_steps, total_valid_tokens or param_order " +
			"differ from those of the inputs")
	}
	if !e.rectangular(len(e.Micro), func(r int) int { return len(e.Micro[r]) }) {
		return fmt.Errorf("micro is not of %d ranks with %d micro-batches each", e.WorldSize, e.Accumulation)
	}
	for name, v := range e.Variants {
		if !e.rectangular(len(v.Coeff), func(r int) int { return len(v.Coeff[r]) }) {
			return fmt.Errorf("coeff of %s is not of %d ranks with %d micro-batches each",
				name, e.WorldSize, e.Accumulation)
		}
	}
	return nil
}

func sameParam(a, b Param) bool { return a.Name == b.Name && slices.Equal(a.Shape, b.Shape) }

// rectangular reports whether a table has a row a rank and a cell a micro-batch.
func (h *Head) rectangular(rows int, cells func(int) int) bool {
	for r := range rows {
		if cells(r) != h.Accumulation {
			return false
		}
	}
	return rows == h.WorldSize
}

// fill gives gradients to the variants that are multiples of another, and rounds
// those of f32, which are the shortest decimals, to the float32 they stand for.
func (e *Expected) fill() error {
	for _, name := range e.VariantNames() {
		v := e.Variants[name]
		if v.Multiple == nil {
			if err := e.checkTensors("gradients of "+name, v.Grads); err != nil {
				return err
			}
			if e.Dtype == "f32" {
				round32(v.Grads)
			}
		}
	}
	for _, name := range e.VariantNames() {
		v := e.Variants[name]
		if v.Multiple == nil {
			continue
		}
		base, ok := e.Variants[v.Multiple.Variant]
		if !ok || base.Multiple != nil {
			return fmt.Errorf("%s is a multiple of %q, which has no gradients", name, v.Multiple.Variant)
		}
		v.Grads = scaled(base.Grads, v.Multiple.Factor)
		e.Variants[name] = v
	}
	return nil
}

func round32(tensors map[string]Floats) {
	for _, t := range tensors {
		for i, x := range t {
			t[i] = float64(float32(x))
		}
	}
}

func scaled(tensors map[string]Floats, factor float64) map[string]Floats {
	out := make(map[string]Floats, len(tensors))
	for name, t := range tensors {
		list := make(Floats, len(t))
		for i, x := range t {
			list[i] = factor * x
		}
		out[name] = list
	}
	return out
}
