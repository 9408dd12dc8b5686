package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// eachWithEach pairs places as flows says that it does, by comparing each with each.
func eachWithEach(p *pair) (moved []string) {
	lost, gained := map[placeKey]int{}, map[placeKey]int{}
	for _, k := range p.placeKeys() {
		b, n := p.amounts(k)
		lost[k], gained[k] = b-min(b, n), n-min(b, n)
	}
	bytes := func(from, to placeKey) bool {
		b, n := p.base.places[from].perStep(p.base.rankSteps), p.new.places[to].perStep(p.new.rankSteps)
		return b != nil && n != nil && *b == *n
	}
	for pass := range 3 {
		for _, from := range p.placeKeys() {
			for _, to := range p.placeKeys() {
				n := min(lost[from], gained[to])
				if n > 0 && from.collective == to.collective && (pass == 2 || lost[from] == gained[to]) &&
					(pass > 0 || bytes(from, to)) {
					moved = append(moved, fmt.Sprint(from, to.place, n))
					lost[from], gained[to] = lost[from]-n, gained[to]-n
				}
			}
		}
	}
	return moved
}

// TestFlowsOfMany: what is found without comparing each place with each is the same.
func TestFlowsOfMany(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	poolOf := func() *pool {
		p := &pool{names: "A", rankSteps: 1 + random.IntN(3), places: make(map[placeKey]*placeSum)}
		for range random.IntN(9) {
			k := placeKey{[]string{"all_gather", "all_reduce", "broadcast"}[random.IntN(3)],
				Place{Site: string(rune('a' + random.IntN(8)))}}
			p.places[k] = &placeSum{count: random.IntN(4), bytes: int64(random.IntN(3)), unsized: random.IntN(5) == 0}
		}
		return p
	}
	some := 0
	for round := range 3000 {
		p := &pair{poolOf(), poolOf()}
		var got []string
		flows, _ := p.flows()
		for _, f := range flows {
			if f.from != f.to {
				got = append(got, fmt.Sprint(placeKey{f.collective, f.from}, f.to, f.amount))
			}
		}
		want := eachWithEach(p)
		if some += len(want); !slices.Equal(got, want) {
			t.Fatalf("round %d: %q, want %q", round, got, want)
		}
	}
	if some < 3000 {
		t.Errorf("%d moves in all", some)
	}
}
