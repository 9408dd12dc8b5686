package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// randomMachine gives nodes of a graph roles by chance.
func randomMachine(g *Graph, random *rand.Rand) *Machine {
	m := &Machine{Slow: 1000}
	for range g.Len() {
		m.Role = append(m.Role, Role(random.IntN(4)))
	}
	for range g.Resources() {
		m.Domain = append(m.Domain, int32(random.IntN(3))-1)
		m.Priority = append(m.Priority, int8(random.IntN(2)))
	}
	return m
}

// Where nothing gets in the way of anything, a run is a replay.
func TestRunIsReplay(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	ran := 0
	for i := range 4000 {
		data := make([]byte, random.IntN(600))
		for j := range data {
			data[j] = byte(random.Uint32())
		}
		g := randomGraph(data, i%8 == 0)
		p, err := g.Plan()
		got, wrong := g.Run(randomMachine(g, random))
		if (err == nil) != (wrong == nil) {
			t.Fatalf("graph %d: a replay says %v, a run %v", i, err, wrong)
		}
		if err != nil {
			continue
		}
		ran++
		if want := p.Replay(); !slices.Equal(got.Start, want.Start) || !slices.Equal(got.End, want.End) {
			t.Fatalf("graph %d:\nrun    %v %v\nreplay %v %v", i, got.Start, got.End, want.Start, want.End)
		}
	}
	if ran < 2000 {
		t.Errorf("only %d graphs could be run", ran)
	}
}

// In the way of each other, nodes can only end later, and a run is the same every time.
func TestRunIsLater(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	later := 0
	for i := range 2000 {
		data := make([]byte, 200+random.IntN(400))
		for j := range data {
			data[j] = byte(random.Uint32())
		}
		g := randomGraph(data, false)
		p, err := g.Plan()
		if err != nil {
			continue
		}
		m := randomMachine(g, random)
		m.Slow, m.Exclude = 1300, true
		got, err := g.Run(m)
		if err != nil {
			t.Fatalf("graph %d: %v", i, err)
		}
		again, _ := g.Run(m)
		if !slices.Equal(got.End, again.End) {
			t.Fatalf("graph %d: two runs differ", i)
		}
		want := p.Replay()
		for n := range got.End {
			if got.Start[n] < want.Start[n] || got.End[n] < want.End[n] {
				t.Fatalf("graph %d: node %d runs %d-%d, before %d-%d", i, n, got.Start[n], got.End[n], want.Start[n],
					want.End[n])
			}
			later += oneIf(got.End[n] > want.End[n])
		}
	}
	if later < 1000 {
		t.Errorf("only %d nodes were in the way of others", later)
	}
}

// pair is a device with a stream that computes and one that communicates.
type pair struct {
	g             Graph
	m             Machine
	compute, comm int32
}

func newPair() *pair {
	p := &pair{m: Machine{Slow: 1000, Exclude: true}}
	p.device()
	return p
}

// device adds a device; compute and comm are its streams.
func (p *pair) device() {
	p.compute, p.comm = p.g.AddResource(), p.g.AddResource()
	d := int32(len(p.m.Domain) / 2)
	p.m.Domain, p.m.Priority = append(p.m.Domain, d, d), append(p.m.Priority, 0, 0)
}

func (p *pair) add(resource int32, role Role, release, work int64) Node {
	n := p.g.Add(resource, work)
	p.g.Release[n] = release
	p.m.Role = append(p.m.Role, role)
	return n
}

// show runs and lists when nodes start and end.
func (p *pair) show(t *testing.T) string {
	t.Helper()
	got, err := p.g.Run(&p.m)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for n := range got.Start {
		text += fmt.Sprintf(" %d-%d", got.Start[n], got.End[n])
	}
	return text[1:]
}

func TestExclusion(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(p *pair)
		want string
	}{
		{"a collective waits for the kernel that fills the device, and starts before the next", func(p *pair) {
			p.add(p.compute, Filling, 0, 100)
			next := p.add(p.compute, Filling, 0, 100)
			p.g.Lag[p.g.Before[next]] = 2
			p.add(p.comm, Transfer, 30, 40)
		}, "0-100 102-202 100-140"},
		{"one that leaves room is in nobody's way", func(p *pair) {
			p.add(p.compute, Compute, 0, 100)
			p.add(p.comm, Transfer, 30, 40)
		}, "0-100 30-70"},
		{"of a higher priority it does not wait", func(p *pair) {
			p.m.Priority[p.comm] = 1
			p.add(p.compute, Filling, 0, 100)
			p.add(p.comm, Transfer, 30, 40)
		}, "0-100 30-70"},
		{"where kernels follow without a gap, it is the first one that it waits for", func(p *pair) {
			p.add(p.compute, Filling, 0, 50)
			p.add(p.compute, Filling, 0, 50)
			p.add(p.comm, Transfer, 50, 40)
		}, "0-50 50-100 100-140"},
		{"what is held back keeps what comes after it waiting", func(p *pair) {
			p.add(p.compute, Filling, 0, 100)
			p.add(p.comm, Transfer, 30, 40)
			p.add(p.comm, Transfer, 0, 10)
		}, "0-100 100-140 140-150"},
		{"a peer that is held back holds all back, and only moves data then", func(p *pair) {
			p.m.Slow = 2000
			p.add(p.compute, Filling, 0, 100)
			a := p.add(p.comm, Transfer, 30, 40)
			p.device()
			p.add(p.compute, Filling, 20, 100) // it starts after the collective, which waits until 100
			b := p.add(p.comm, Transfer, 10, 40)
			p.g.Join(a, b)
		}, "0-100 100-140 20-140 10-140"},
	} {
		p := newPair()
		if c.make(p); p.show(t) != c.want {
			t.Errorf("%s: %s, want %s", c.name, p.show(t), c.want)
		}
	}
}

func TestSlowdown(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(p *pair)
		want string
	}{
		{"while data moves, and no longer", func(p *pair) {
			p.add(p.compute, Compute, 0, 100)
			p.add(p.comm, Transfer, 20, 30) // of which 20 are worked off
		}, "0-110 20-50"},
		{"what starts beside a transfer", func(p *pair) {
			p.add(p.comm, Transfer, 0, 300)
			p.add(p.compute, Compute, 10, 100)
		}, "0-300 10-160"},
		{"two transfers slow no more than one", func(p *pair) {
			other := p.g.AddResource()
			p.m.Domain, p.m.Priority = append(p.m.Domain, 0), append(p.m.Priority, 0)
			p.add(p.comm, Transfer, 0, 30)
			p.add(other, Transfer, 15, 30)
			p.add(p.compute, Compute, 0, 100)
		}, "0-30 15-45 0-115"},
		{"copies are not slowed", func(p *pair) {
			p.add(p.comm, Transfer, 0, 300)
			p.add(p.compute, Light, 10, 100)
		}, "0-300 10-110"},
		{"nor is another device", func(p *pair) {
			p.add(p.comm, Transfer, 0, 300)
			p.device()
			p.add(p.compute, Compute, 10, 100)
		}, "0-300 10-110"},
	} {
		p := newPair()
		p.m.Slow = 1500
		if c.make(p); p.show(t) != c.want {
			t.Errorf("%s: %s, want %s", c.name, p.show(t), c.want)
		}
	}
}

// benchMachine is the machine of benchGraph: one stream computes, the other communicates.
func benchMachine(g *Graph) *Machine {
	m := &Machine{Domain: []int32{None, 0, 0}, Slow: 1050, Exclude: true}
	for _, resource := range g.Resource {
		m.Role = append(m.Role, [...]Role{Light, Filling, Transfer}[resource])
	}
	return m
}

// BenchmarkRun shows how the time of a run grows, beside that of a replay.
func BenchmarkRun(b *testing.B) {
	last := 0.0
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			g := benchGraph(n)
			m := benchMachine(g)
			b.ReportAllocs()
			begin := time.Now()
			for b.Loop() {
				if _, err := g.Run(m); err != nil {
					b.Fatal(err)
				}
			}
			each := float64(time.Since(begin).Nanoseconds()) / float64(b.N) / float64(n)
			b.ReportMetric(each, "ns/node")
			if last > 0 {
				b.ReportMetric(each/last, "growth")
			}
			last = each
		})
	}
}
