package compare

import (
	"fmt"
	"strings"
	"testing"
)

// TestMatchOfKinds: kinds are paired by optimizers with their accumulation, and by the
// optimizers alone only where one is left of them on either side. A kind is NAME/ACCUMULATION.
func TestMatchOfKinds(t *testing.T) {
	sideOf := func(kinds string) *side {
		s := &side{}
		for _, key := range strings.Fields(kinds) {
			name, _, _ := strings.Cut(key, "/")
			s.pools = append(s.pools, &pool{key: key, names: name})
		}
		return s
	}
	key := func(p *pool) string {
		if p == nil {
			return "-"
		}
		return p.key
	}
	for _, c := range []struct{ base, new, want string }{
		{"A/1", "A/1", "A/1=A/1"},
		{"A/1 B/1", "B/1 A/1", "A/1=A/1 B/1=B/1"},
		{"A/1", "A/2", "A/1=A/2"},
		{"A/1 A/2", "A/2 A/3", "A/1=A/3 A/2=A/2"},
		{"A/1", "A/2 A/3", "A/1=- -=A/2 -=A/3"},
		{"A/1 A/2", "A/3", "A/1=- A/2=- -=A/3"},
		{"A/1 A/2", "A/3 A/4", "A/1=- A/2=- -=A/3 -=A/4"},
		{"A/1 B/1", "A/2 B/3", "A/1=A/2 B/1=B/3"},
		{"A/1", "B/1", "A/1=- -=B/1"},
		{"", "A/1", "-=A/1"},
		{"A/1", "", "A/1=-"},
		{"", "", ""},
	} {
		var got []string
		for _, p := range match(sideOf(c.base), sideOf(c.new)) {
			got = append(got, key(p.base)+"="+key(p.new))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%q and %q: %s, want %s", c.base, c.new, text, c.want)
		}
	}
}

// TestFlows: what stayed, moved, went and came, of two steps against three. A place is its
// site with a count and the bytes of a step.
func TestFlows(t *testing.T) {
	type at struct {
		site         string
		count, bytes int
	}
	poolOf := func(steps int, places []at) *pool {
		p := &pool{names: "A", rankSteps: steps, places: make(map[placeKey]*placeSum)}
		for _, a := range places {
			p.places[placeKey{"all_reduce", Place{Site: a.site}}] = &placeSum{
				count: a.count * steps, bytes: int64(a.bytes * steps)}
		}
		return p
	}
	for _, c := range []struct {
		name      string
		base, new []at
		want      string
	}{
		{"nothing changed", []at{{"step", 4, 8}}, []at{{"step", 4, 8}}, "step to step 4"},
		{"all moved", []at{{"step", 4, 8}}, []at{{"hook", 4, 8}}, "step to hook 4"},
		{"some moved", []at{{"step", 4, 8}}, []at{{"step", 1, 2}, {"hook", 3, 6}}, "step to step 1, step to hook 3"},
		{"one gone", []at{{"step", 4, 8}}, []at{{"step", 3, 6}}, "step to step 3; gone step 1"},
		{"one added", []at{{"step", 3, 6}}, []at{{"step", 4, 8}}, "step to step 3; added step 1"},
		{"larger", []at{{"step", 4, 8}}, []at{{"step", 4, 9}}, "step to step 4; resized step 4"},
		{"number and bytes agree before the order", []at{{"a", 2, 8}, {"b", 2, 6}}, []at{{"y", 2, 6}, {"z", 2, 8}},
			"a to z 2, b to y 2"},
		{"the number agrees before the order", []at{{"a", 2, 8}, {"b", 3, 6}}, []at{{"y", 3, 1}, {"z", 2, 1}},
			"a to z 2, b to y 3; resized z 2; resized y 3"},
	} {
		p := &pair{poolOf(2, c.base), poolOf(3, c.new)}
		flows, changes := p.flows()
		var moved, got []string
		d := &Diff{}
		for _, f := range flows {
			moved = append(moved, fmt.Sprintf("%s to %s %g", f.from.place.Site, f.to.place.Site, p.perStep(f.amount)))
			d.addMove(p, f, map[moveKey]int{})
		}
		got = append(got, strings.Join(moved, ", "))
		for _, one := range changes {
			got = append(got, fmt.Sprintf("%s %s %g", one.Change, one.Place.Site, one.PerStep))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
		for i, m := range d.Moves { // on either side as many as its steps launch
			if per := p.perStep(flows[i].amount); float64(m.Base) != 2*per || float64(m.New) != 3*per ||
				len(m.Kinds) != 1 || m.Kinds[0].PerStep != per || m.Stayed() != (m.From == m.To) {
				t.Errorf("%s: %+v", c.name, m)
			}
		}
	}
}

// TestSortMoves: what moved stands before what stayed, most of it first.
func TestSortMoves(t *testing.T) {
	here, there := Place{Site: "a"}, Place{Site: "b"}
	moves := []Move{
		{Collective: "x", From: here, To: here, New: 9}, {Collective: "b", From: here, To: there, New: 2},
		{Collective: "a", From: there, To: here, New: 2}, {Collective: "c", From: here, To: there, New: 5},
		{Collective: "y", From: there, To: there, New: 10},
	}
	sortMoves(moves)
	got := ""
	for _, m := range moves {
		got += m.Collective
	}
	if got != "cabyx" {
		t.Errorf("%s", got)
	}
}
