package inflate

// Blocks with codes of their own describe them by the length of each code, and write these
// lengths in a code of their own (RFC 1951, 3.2.7), whose lengths come first.

// lengthBits is how many bits a code of that inner alphabet takes at most.
const lengthBits = 7

// order is that in which the lengths of the inner codes stand: those that are rarely used
// last, so that they can be left out.
var order = [...]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// lengthSymbols are the entries of the inner alphabet, all as if they were literals.
var lengthSymbols = func() (s [len(order)]uint32) {
	for i := range s {
		s[i] = 1<<5 | uint32(i)<<8
	}
	return s
}()

// read reads the codes of a block from its head.
func (c *codes) read(in *input) error {
	if !in.need(5 + 5 + 4) {
		return in.cut()
	}
	lit, dist, n := int(in.take(5))+257, int(in.take(5))+1, int(in.take(4))+4
	if lit > 286 || dist > 30 { // what the fields could hold beyond has no meaning
		return in.damaged(errCodes)
	}
	l := lengthReader{in: in}
	if err := l.readCode(n); err != nil {
		return err
	}
	c.fixed = false
	for i := 0; i < lit+dist; {
		n, err := l.read(c.lengths[i:lit+dist], c.lengths[:i])
		if err != nil {
			return err
		}
		i += n
	}
	if !c.make(lit, dist) {
		return in.damaged(errCodes)
	}
	return nil
}

// lengthReader reads the lengths of the codes of one block.
type lengthReader struct {
	in    *input
	table [1 << lengthBits]uint32 // of the inner code
	least uint                    // bits of its shortest code
}

// readCode reads the inner code, of which the lengths of n symbols are given.
func (l *lengthReader) readCode(n int) error {
	var lengths [len(order)]uint8
	for _, k := range order[:n] {
		if !l.in.need(3) {
			return l.in.cut()
		}
		lengths[k] = uint8(l.in.take(3))
	}
	var ok bool
	if _, l.least, ok = fillTable(l.table[:], lengthBits, lengths[:], lengthSymbols[:]); !ok {
		return l.in.damaged(errCodes)
	}
	return nil
}

// read reads one or more lengths to the head of to, behind those that are known, and
// returns how many.
func (l *lengthReader) read(to, known []uint8) (int, error) {
	symbol, err := l.symbol()
	if err != nil {
		return 0, err
	}
	n, extra, repeated := 3, uint(2), uint8(0)
	switch symbol {
	default:
		to[0] = symbol
		return 1, nil
	case 16:
		if len(known) == 0 {
			return 0, l.in.damaged(errCodes)
		}
		repeated = known[len(known)-1]
	case 17:
		extra = 3
	case 18:
		n, extra = 11, 7
	}
	if !l.in.need(extra) {
		return 0, l.in.cut()
	}
	if n += int(l.in.take(extra)); n > len(to) {
		return 0, l.in.damaged(errCodes)
	}
	for k := range n {
		to[k] = repeated
	}
	return n, nil
}

// symbol reads one symbol of the inner alphabet: a length, or how to repeat one.
func (l *lengthReader) symbol() (uint8, error) {
	for n := l.least; ; {
		if !l.in.need(n) {
			return 0, l.in.cut()
		}
		e := l.table[l.in.peek(lengthBits)]
		if e == noCode {
			return 0, l.in.damaged(errCodes)
		}
		if n = uint(e & bitsMask); n <= l.in.nb {
			l.in.take(n)
			return uint8(e >> 8), nil
		}
	}
}
