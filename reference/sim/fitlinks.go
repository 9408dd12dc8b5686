package sim

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/reference/sim/nccl"
)

// From which size on a message costs little but bytes: latencies are fitted only where something smaller was recorded
// that is more than a small message.
const largeMessage = 4 << 20

// smallMessage is up to what size a message costs nothing but latency, in bytes.
const smallMessage = 64 << 10

// fitTransfers fits what NCCL's model knows of a machine to collectives: the bandwidth of a ring within a node, that
// between nodes, a factor of all latencies, and what the shortest take. It searches the figures with which the model is
// off least, by the logarithm, sizes weighted by the root of the time spent in them: the model changes its protocol and
// its algorithm with the size, so that no line holds for all of them.
func (m *Machine) fitTransfers(o *Observed) []Fitted {
	list := []Fitted{{Name: params[bus].name, Why: "no collectives within a node whose messages were recorded"},
		{Name: params[net].name, Why: "no collectives between nodes whose messages were recorded"},
		{Name: params[ncclLatency].name,
			Why: "no collectives of 64 KiB to 4 MiB, in which latency and bytes both count"},
		{Name: params[ncclLeast].name, Why: "no collectives of at most 64 KiB"}}
	var within, between []ObservedTransfer
	for _, t := range o.Transfers {
		if _, ok := collectives[t.Kind]; !ok || t.Ranks < 2 {
			continue
		}
		if m.group(t).Nodes == 1 {
			within = append(within, t)
		} else {
			between = append(between, t)
		}
	}
	all := append(within[:len(within):len(within)], between...)
	if len(all) == 0 {
		return list
	}
	m.fitLeast(all, &list[3])
	if big := larger(within); len(big) > 0 {
		m.search(big, bus)
		list[0] = m.linkFit(bus, within)
	}
	if big := larger(between); len(big) > 0 {
		m.search(big, net)
		list[1] = m.linkFit(net, between)
	}
	if big := larger(all); tellsLatency(all) {
		list[2] = m.linkFit(ncclLatency, big)
	}
	if list[3].Why == "" {
		list[3].judge(m.checks(slices.DeleteFunc(all, isLarger)))
	}
	return list
}

// tellsLatency reports whether some collective is of a size at which latency and bytes both count.
func tellsLatency(list []ObservedTransfer) bool {
	return slices.ContainsFunc(list, func(t ObservedTransfer) bool {
		return t.Bytes > smallMessage && t.Bytes < largeMessage
	})
}

// larger are those of which the bytes matter.
func larger(list []ObservedTransfer) []ObservedTransfer {
	return slices.DeleteFunc(slices.Clone(list), func(t ObservedTransfer) bool { return !isLarger(t) })
}

func isLarger(t ObservedTransfer) bool { return t.Bytes > smallMessage }

// fitLeast fits the time of the shortest collectives: the median of small messages of the kind for which it is least.
func (m *Machine) fitLeast(all []ObservedTransfer, f *Fitted) {
	of := make(map[[2]any][]weightedValue)
	for _, t := range all {
		if key := [2]any{t.Kind, t.Ranks}; !isLarger(t) {
			of[key] = append(of[key], weightedValue{t.NS, float64(t.Samples)})
			f.Samples += t.Samples
		}
	}
	least := math.Inf(1)
	for _, values := range of {
		least = min(least, weighted(values))
	}
	m.values[ncclLeast] = 0
	if len(of) > 0 {
		f.Why = ""
		f.Value, f.Text = m.settle(ncclLeast, math.Round(least))
	}
}

func (m *Machine) linkFit(p param, list []ObservedTransfer) Fitted {
	f := Fitted{Name: params[p].name}
	f.Value, f.Text = m.settle(p, m.values[p])
	for _, t := range list {
		f.Samples += t.Samples
	}
	f.judge(m.checks(list))
	return f
}

// checks are what the model says of collectives.
func (m *Machine) checks(list []ObservedTransfer) []Modelled {
	var all []Modelled
	for _, t := range list {
		what := fmt.Sprintf("%s of %s among %d", t.Kind, units.Bytes(t.Bytes), t.Ranks)
		all = append(all, Modelled{what, m.transfer(t), t.NS, t.Samples})
	}
	return all
}

// group is who takes part in a collective: ranks of as few nodes as they fit on.
func (m *Machine) group(t ObservedTransfer) nccl.Group {
	each := max(1, int(m.values[perNode]))
	return nccl.Group{Ranks: t.Ranks, Nodes: (t.Ranks + each - 1) / each}
}

// transfer is what the model says of a collective, in ns.
func (m *Machine) transfer(t ObservedTransfer) float64 {
	return m.fabric().Time(collectives[t.Kind], t.Bytes, m.group(t)).NS
}

// The search tries so many values of each figure, from lowest to highest, then as many around the best one, each time
// nearer, until neighbours are as near as they need to be.
const (
	tried  = 17
	rounds = 18
)

// search finds the bandwidth, and the latency, with which the model is off least.
func (m *Machine) search(list []ObservedTransfer, bandwidth param) {
	best := math.Inf(1)
	rate, latency := params[bandwidth].from, 0.0
	for _, t := range list {
		rate = max(rate, float64(t.Bytes)/t.NS*1e9)
	}
	spanRate, spanLatency := math.Log(8), math.Log(16)
	if latency = m.values[ncclLatency]; !tellsLatency(list) {
		spanLatency = 0
	}
	for range rounds {
		middleRate, middleLatency := math.Log(rate), math.Log(latency)
		for i := range tried {
			for j := range tried {
				m.values[bandwidth] = math.Exp(middleRate + spanRate*(2*float64(i)/(tried-1)-1))
				m.values[ncclLatency] = math.Exp(middleLatency + spanLatency*(2*float64(j)/(tried-1)-1))
				if off := m.off(list); off < best {
					best, rate, latency = off, m.values[bandwidth], m.values[ncclLatency]
				}
			}
		}
		spanRate, spanLatency = spanRate/2, spanLatency/2
	}
	m.values[bandwidth], m.values[ncclLatency] = rate, latency
}

// off is how far the model is from what was observed.
func (m *Machine) off(list []ObservedTransfer) float64 {
	sum := 0.0
	for _, t := range list {
		sum += math.Abs(math.Log(m.transfer(t)/t.NS)) * math.Sqrt(t.NS*float64(t.Samples))
	}
	return sum
}

func (m *Machine) fitUneven(o *Observed) Fitted {
	f := Fitted{Name: params[uneven].name, Why: o.WhyUneven, Samples: o.Steps}
	if o.Uneven >= 0 && f.Why == "" {
		f.Value, f.Text = m.settle(uneven, math.Round(o.Uneven*1e4)/1e4)
	}
	return f
}

// Preset writes fitted figures as a preset: a device that is like another one but for them. source says where they
// are from. Names and sources are quoted, because both may come from a trace.
func Preset(name, is, from, source string, list []Fitted) string {
	text := fmt.Sprintf("%s:\n  is: %s\n  from: [%s]\n", name, strconv.QuoteToASCII(is), from)
	least := eagerOf(from, list)
	if least != "" {
		text += fmt.Sprintf("  eager: [%s, %s]\n", strconv.QuoteToASCII(least),
			strconv.QuoteToASCII(source+": no less than a launch, which is a part of it"))
	}
	for _, f := range list {
		if f.Why != "" || least != "" && f.Name == params[eager].name {
			continue
		}
		text += fmt.Sprintf("  %s: [%s, %s]\n", f.Name, strconv.QuoteToASCII(f.Text),
			strconv.QuoteToASCII(source+": "+f.origin()))
	}
	return text
}

// eagerOf is the figure of an operator as a preset needs it beside fitted figures: that of a launch where it would be
// less; else "".
func eagerOf(from string, list []Fitted) string {
	m := &Machine{}
	if known, err := presets(); err != nil || m.take(known, from, nil) != nil {
		return ""
	}
	text := ""
	for _, f := range list {
		if p, ok := find(f.Name); ok && f.Why == "" && (p == eager || p == launch) {
			m.values[p] = f.Value
			if p == launch {
				text = f.Text
			}
		}
	}
	if m.values[launch] > m.values[eager] {
		return text
	}
	return ""
}

// origin says what a figure was fitted to and how well it fits.
func (f *Fitted) origin() string {
	if f.Name == params[uneven].name {
		return "waits for ranks in " + units.Count(f.Samples, "step")
	}
	if f.Sizes == 0 {
		return fmt.Sprintf("median of %d, half within %.0f %%, 90 %% within %.0f %%", f.Samples, 100*f.Middle,
			100*f.P90)
	}
	return fmt.Sprintf("%d of %s, half off by at most %.0f %%, 90 %% by %.0f %%", f.Samples,
		units.Count(f.Sizes, "size"), 100*f.Middle, 100*f.P90)
}
