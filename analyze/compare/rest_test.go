package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/analyze/report"
)

// eachWithEach pairs places as flows says that it does, by comparing each with each.
func eachWithEach(p *pair) (moved []string) {
	lost, gained := map[placeKey]int{}, map[placeKey]int{}
	spots := p.spots()
	for i := range spots {
		b, n := p.amounts(&spots[i])
		lost[spots[i].placeKey], gained[spots[i].placeKey] = b-min(b, n), n-min(b, n)
	}
	bytes := func(from, to placeKey) bool {
		b, n := p.base.places[from].perStep(p.base.rankSteps), p.new.places[to].perStep(p.new.rankSteps)
		return b != nil && n != nil && *b == *n
	}
	for pass := range 3 {
		for i := range spots {
			for j := range spots {
				from, to := spots[i].placeKey, spots[j].placeKey
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
				got = append(got, fmt.Sprint(f.from.placeKey, f.to.place, f.amount))
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

// The kernels of a place are those that it launched most often, of equals the first by name.
func TestSequences(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "a,b": "a,b", "b;a": "a", "a;b;b": "b", "b;b;a": "b", "a,b;a b;a,b": "a,b", "c;b;c;b;a;a": "a",
	} {
		var s sequences
		for _, one := range strings.Split(text, ";") {
			s.add(strings.Split(one, ","))
		}
		if got := strings.Join(s.most(), ","); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Counts that no number holds do not turn negative.
func TestEndlessCounts(t *testing.T) {
	most := math.MaxInt
	p := &pair{&pool{names: "A", rankSteps: 7, places: map[placeKey]*placeSum{}},
		&pool{names: "A", rankSteps: 3, places: map[placeKey]*placeSum{}}}
	bytes := int64(math.MaxInt64)
	for range 3 {
		p.base.addGroup(&report.CollectiveGroup{Kind: "x", Site: "s", Count: most, Bytes: &bytes})
		p.new.addGroup(&report.CollectiveGroup{Kind: "x", Site: "t", Count: most / 2, Bytes: &bytes})
		p.new.addGroup(&report.CollectiveGroup{Kind: "x", Site: "s", Count: -1, Bytes: &bytes})
	}
	flows, changes := p.flows()
	d := &Diff{}
	for _, f := range flows {
		d.addMove(p, f, nil)
	}
	for _, m := range d.Moves {
		if m.Base < 0 || m.New < 0 {
			t.Errorf("%+v", m)
		}
	}
	for _, c := range changes {
		if c.PerStep < 0 || *c.BaseBytes < 0 {
			t.Errorf("%+v", c)
		}
	}
}
