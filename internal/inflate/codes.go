package inflate

import "math/bits"

const (
	litBits  = 11 // of the main table for literals and lengths: 8 KiB, a quarter of the L1 cache
	distBits = 9  // of the main table for distances
	maxBits  = 15 // of a code

	maxLit, maxDist = 288, 32 // symbols, with those that have no meaning
	endOfBlock      = 256

	// A prefix of a main table that stands for longer codes leads to a second table,
	// and has two symbols at least.
	litRoom  = 1<<litBits + maxLit/2<<(maxBits-litBits)
	distRoom = 1<<distBits + maxDist/2<<(maxBits-distBits)
)

// An entry of a table is what the next bits of a stream say. All of it is in one number,
// so that a symbol costs one load; fields of a struct would be masked and shifted likewise.
//
//	bits 0-4    how many bits that takes, with those behind a code that extend it
//	bits 5-6    how many literals it is, which stand in bits 8-31
//	bit 7       it is special
//	bits 8-11   else: how many bits of it are the code, 0 where there is no such code
//	bit 12      special: the rest of the code is looked up from bits 16-31 on
//	bit 13      special: the end of the block
//	bits 16-31  else: the least length or distance that the code stands for
const (
	bitsMask = 31
	literals = 3 << 5
	special  = 1 << 7
	link     = 1 << 12
	blockEnd = 1 << 13
	noCode   = special
)

// codes are the codes of a block. The tables are part of the struct and not slices, so
// that fast needs no check of bounds where it looks up by a fixed number of bits.
type codes struct {
	lit      [litRoom]uint32  // literals and lengths
	dist     [distRoom]uint32 // distances
	litRest  uint             // bits that second tables of lit are looked up by, 0 where it has none
	distRest uint             // the same for dist

	// How many bits of a symbol are asked for before it is looked up. It is counted as
	// compress/flate does: a cut stream must end at the same symbol. In lit that is at
	// least as much as the end of the block takes.
	least, distLeast uint

	fixed   bool                    // they are those of blocks that bring none
	lengths [maxLit + maxDist]uint8 // of the codes, in bits: literals and lengths, then distances
}

// litSymbols and distSymbols are the entries of all symbols, without their codes: least
// value and extra bits by the tables of RFC 1951, 3.2.5, which follow a rule.
var litSymbols, distSymbols = symbols()

func symbols() (lit [maxLit]uint32, dist [maxDist]uint32) {
	for i := range lit {
		switch {
		case i < endOfBlock:
			lit[i] = 1<<5 | uint32(i)<<8
		case i == endOfBlock:
			lit[i] = special | blockEnd
		case i < 265:
			lit[i] = uint32(i-254) << 16
		case i < 285:
			extra := uint32(i-261) / 4
			lit[i] = extra | (3+(4+uint32(i-261)%4)<<extra)<<16
		case i == 285:
			lit[i] = 258 << 16
		default:
			lit[i] = special
		}
	}
	for i := range dist {
		switch {
		case i < 4:
			dist[i] = uint32(i+1) << 16
		case i < 30:
			extra := uint32(i-2) / 2
			dist[i] = extra | (1+(2+uint32(i)%2)<<extra)<<16
		default:
			dist[i] = special
		}
	}
	return lit, dist
}

// fix sets the codes of blocks that bring none. Writers use them for a few bytes at a
// time, many blocks in a row, so they are kept until other codes are read.
func (c *codes) fix() {
	if c.fixed {
		return
	}
	for i := range c.lengths {
		switch {
		case i < 144:
			c.lengths[i] = 8
		case i < 256:
			c.lengths[i] = 9
		case i < 280:
			c.lengths[i] = 7
		case i < maxLit:
			c.lengths[i] = 8
		default:
			c.lengths[i] = 5
		}
	}
	c.make(maxLit, maxDist)
	c.fixed = true
}

// make makes the tables from c.lengths, of which lit are for literals and lengths and
// dist, behind those, for distances. It reports whether both are prefix codes.
func (c *codes) make(lit, dist int) (ok bool) {
	c.fixed = false
	var okLit, okDist bool
	c.litRest, c.least, okLit = fillTable(c.lit[:], litBits, c.lengths[:lit], litSymbols[:])
	c.distRest, c.distLeast, okDist = fillTable(c.dist[:], distBits, c.lengths[lit:lit+dist], distSymbols[:])
	if !okLit || !okDist {
		return false
	}
	c.least = max(c.least, uint(c.lengths[endOfBlock]))
	c.pack()
	return true
}

// pack puts up to three literals into the entries of the main table whose bits hold
// them. It goes down, because what follows the first literal of entry i is entry i>>n:
// that one must still be a single literal.
func (c *codes) pack() {
	for i := 1<<litBits - 1; i >= 0; i-- {
		e := c.lit[i]
		if e&(literals|special) != 1<<5 {
			continue
		}
		for k := uint32(1); k < 3; k++ {
			n := e & bitsMask
			next := c.lit[i>>n]
			if next&(literals|special) != 1<<5 || n+next&bitsMask > litBits {
				break
			}
			e += 1<<5 + next&bitsMask + next>>8<<(8+8*k)
		}
		c.lit[i] = e
	}
}

// fillTable makes the table, of width bits and with second tables of rest bits behind,
// for the canonical code whose lengths are given; ok is false where that is no prefix
// code, or leaves some bits without meaning. least is the length of the shortest code. As
// in other libraries one code of one bit is complete, and no code at all is fine until one
// is asked for.
func fillTable(table []uint32, width uint, lengths []uint8, symbols []uint32) (rest, least uint, ok bool) {
	var count [maxBits + 1]int
	for _, n := range lengths {
		count[n]++
	}
	var next [maxBits + 1]int // by length: the next code
	code, longest := 0, uint(0)
	for n := uint(1); n <= maxBits; n++ {
		code <<= 1
		next[n] = code
		if code += count[n]; count[n] == 0 {
			continue
		}
		if longest = n; least == 0 {
			least = n
		}
	}
	if code != 1<<maxBits && (longest > 1 || count[1] > 1) {
		return 0, 0, false
	}
	if longest > width {
		rest = longest - width
	}
	place(table, width, rest, lengths, symbols, &next)
	return rest, least, true
}

// place puts the entries of all symbols into a table; next are the first codes by
// length. Short codes go first: what is still empty then belongs to prefixes of long ones,
// which get second tables in the order in which they turn up.
func place(table []uint32, width, rest uint, lengths []uint8, symbols []uint32, next *[maxBits + 1]int) {
	main := table[:1<<width]
	for i := range main {
		main[i] = noCode
	}
	for symbol, n := range lengths {
		if n > 0 && uint(n) <= width {
			spread(main, take(next, n), uint(n), entryOf(symbols[symbol], n))
		}
	}
	free := 1 << width // where the next second table begins
	for symbol, n := range lengths {
		if uint(n) <= width {
			continue
		}
		code := take(next, n)
		first := &main[code&(1<<width-1)]
		if *first == noCode {
			*first = special | link | uint32(free)<<16
			free += 1 << rest
		}
		second := table[*first>>16:][:1<<rest]
		spread(second, code>>width, uint(n)-width, entryOf(symbols[symbol], n))
	}
}

// take returns the next code of n bits, its first bit lowest.
func take(next *[maxBits + 1]int, n uint8) int {
	code := bits.Reverse16(uint16(next[n])) >> (16 - n)
	next[n]++
	return int(code)
}

// entryOf is the entry of a symbol that has a code of n bits.
func entryOf(symbol uint32, n uint8) uint32 {
	if symbol&literals == 0 {
		symbol |= uint32(n) << 8
	}
	return symbol + uint32(n)
}

// spread puts an entry wherever the lowest n bits of the place are code.
func spread(table []uint32, code int, n uint, entry uint32) {
	for i := code; i < len(table); i += 1 << n {
		table[i] = entry
	}
}
