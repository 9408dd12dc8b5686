package compare

import (
	"fmt"
	"slices"
	"strings"
)

// addOrder compares the kernels of a group on both sides by start on the device. Groups
// of which only a part moved, or that differ in number, have no order to compare.
func (d *Diff) addOrder(p *pair, f flow, at map[string]int) {
	if !f.whole {
		return
	}
	base, new := f.from.base.kernels.most(), f.to.new.kernels.most()
	if len(base) != len(new) || slices.Equal(base, new) {
		return
	}
	change := "kernels"
	if slices.Equal(slices.Sorted(slices.Values(base)), slices.Sorted(slices.Values(new))) {
		change = "order"
	}
	prefix, suffix := common(append(slices.Clone(base), new...))
	one := OrderChange{
		Change:     change,
		Kinds:      []string{p.name()},
		Collective: f.from.collective,
		From:       f.from.place,
		To:         f.to.place,
		Base:       runs(base, prefix, suffix),
		New:        runs(new, prefix, suffix),
	}
	if at != nil {
		key := orderKey(&one)
		if i, found := at[key]; found {
			d.Orders[i].Kinds = append(d.Orders[i].Kinds, one.Kinds...)
			return
		}
		at[key] = len(d.Orders)
	}
	d.Orders = append(d.Orders, one)
}

// orderKey is the same text for changes that differ in the kinds of steps alone.
func orderKey(o *OrderChange) string {
	return fmt.Sprintf("%#v %#v %#v %#v %#v", o.Collective, o.From, o.To, o.Base, o.New)
}

// runs puts equal neighbours together.
func runs(kernels []string, prefix, suffix int) []Run {
	var list []Run
	for _, k := range kernels {
		k = k[prefix : len(k)-suffix]
		if n := len(list); n > 0 && list[n-1].Kernel == k {
			list[n-1].Count++
		} else {
			list = append(list, Run{k, 1})
		}
	}
	return list
}

// common returns the length in bytes of the prefix and the suffix that all names share, cut
// at underscores so that at least one word is left of each name.
func common(names []string) (prefix, suffix int) {
	words := make([][]string, len(names))
	least := len(strings.Split(names[0], "_"))
	for i, n := range names {
		words[i] = strings.Split(n, "_")
		least = min(least, len(words[i]))
	}
	first := words[0]
	head := 0
	for head < least-1 && all(words, func(w []string) bool { return w[head] == first[head] }) {
		prefix += len(first[head]) + 1
		head++
	}
	for tail := 1; head+tail < least; tail++ {
		last := first[len(first)-tail]
		if !all(words, func(w []string) bool { return w[len(w)-tail] == last }) {
			break
		}
		suffix += len(last) + 1
	}
	return prefix, suffix
}

func all(words [][]string, ok func([]string) bool) bool {
	return !slices.ContainsFunc(words, func(w []string) bool { return !ok(w) })
}
