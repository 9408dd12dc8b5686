package sim

import (
	"hash/maphash"
	"slices"
	"sync"

	"github.com/gaprof/gaprof/reference/device"
)

// spanKind is what spans have in common: ranks that do the same have the same spans, step after step.
type spanKind struct {
	cat, name string
	operands  []device.Operand
}

// known are the kinds of spans and the names of all ranks. Each is kept once, since of very many ranks they would be
// most of what the collector has to look at.
type known struct {
	mu    sync.Mutex
	names map[string]string
	kinds map[uint64][]*spanKind // by hash
}

// name is the one copy of a name.
func (k *known) name(s string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if one, ok := k.names[s]; ok {
		return one
	}
	if k.names == nil {
		k.names = make(map[string]string)
	}
	k.names[s] = s
	return s
}

// span is the one copy of a kind of span.
func (k *known) span(cat, name string, operands []device.Operand) *spanKind {
	h := hashOf(cat, name, operands)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, one := range k.kinds[h] {
		if one.cat == cat && one.name == name && slices.EqualFunc(one.operands, operands, equalOperands) {
			return one
		}
	}
	if k.kinds == nil {
		k.kinds = make(map[uint64][]*spanKind)
	}
	one := &spanKind{cat, name, operands}
	k.kinds[h] = append(k.kinds[h], one)
	return one
}

func equalOperands(a, b device.Operand) bool {
	return a.Type == b.Type && a.Value == b.Value && slices.Equal(a.Shape, b.Shape) &&
		(a.List == nil) == (b.List == nil) && slices.EqualFunc(a.List, b.List, slices.Equal[[]int])
}

// hashSeed makes hashes, on which nothing that is written depends.
var hashSeed = maphash.MakeSeed()

// hashOf is a hash of all but the types of operands, which follow from the others nearly always.
func hashOf(cat, name string, operands []device.Operand) uint64 {
	h := maphash.String(hashSeed, name) + uint64(len(cat))
	for i := range operands {
		o := &operands[i]
		h = hashShape(h, o.Shape)
		for _, shape := range o.List {
			h = hashShape(h, shape)
		}
		if o.Value != "" {
			h ^= maphash.String(hashSeed, o.Value)
		}
	}
	return h
}

func hashShape(h uint64, shape []int) uint64 {
	for _, n := range shape {
		h = (h ^ uint64(n)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return (h + uint64(len(shape)) + 1) * 0x9e3779b97f4a7c15
}
