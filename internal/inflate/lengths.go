package inflate

// lengthBits is the length of the codes that stand for lengths of codes, at most.
const lengthBits = 7

// lengthSymbols are the entries of the symbols of which lengths of codes are made, all
// as if they were literals.
var lengthSymbols = func() (s [len(order)]uint32) {
	for i := range s {
		s[i] = 1<<5 | uint32(i)<<8
	}
	return s
}()

// codesHead reads the codes of a block.
func (r *Reader) codesHead() error {
	if !r.need(5 + 5 + 4) {
		return r.cut()
	}
	lit, dist, n := int(r.take(5))+257, int(r.take(5))+1, int(r.take(4))+4
	if lit > 286 || dist > 30 {
		return r.damaged(errCodes)
	}
	var lengths [len(order)]uint8
	for _, k := range order[:n] {
		if !r.need(3) {
			return r.cut()
		}
		lengths[k] = uint8(r.take(3))
	}
	var table [1 << lengthBits]uint32
	_, least, ok := fillTable(table[:], lengthBits, lengths[:], lengthSymbols[:])
	if !ok {
		return r.damaged(errCodes)
	}
	r.codes.fixed = false
	for i := 0; i < lit+dist; {
		n, err := r.codeLength(&table, &lengths, least, r.codes.lengths[i:lit+dist], i)
		if err != nil {
			return err
		}
		i += n
	}
	if !r.codes.make(lit, dist) {
		return r.damaged(errCodes)
	}
	return nil
}

// codeLength reads one or more lengths of codes, i of which are known, to the head of
// to, and returns how many.
func (r *Reader) codeLength(
	table *[1 << lengthBits]uint32, lengths *[len(order)]uint8, least uint, to []uint8, i int,
) (int, error) {
	symbol, err := r.lengthSymbol(table, least)
	if err != nil {
		return 0, err
	}
	if symbol < 16 {
		to[0] = symbol
		return 1, nil
	}
	n, extra, repeated := 3, uint(2), uint8(0)
	switch symbol {
	case 16:
		if i == 0 {
			return 0, r.damaged(errCodes)
		}
		repeated = r.codes.lengths[i-1]
	case 17:
		extra = 3
	case 18:
		n, extra = 11, 7
	}
	if !r.need(extra) {
		return 0, r.cut()
	}
	if n += int(r.take(extra)); n > len(to) {
		return 0, r.damaged(errCodes)
	}
	for k := range n {
		to[k] = repeated
	}
	return n, nil
}

// lengthSymbol reads one symbol of which lengths of codes are made.
func (r *Reader) lengthSymbol(table *[1 << lengthBits]uint32, least uint) (uint8, error) {
	for n := least; ; {
		if !r.need(n) {
			return 0, r.cut()
		}
		e := table[r.b&(1<<lengthBits-1)]
		if e == noCode {
			return 0, r.damaged(errCodes)
		}
		if n = uint(e & bitsMask); n <= r.nb {
			r.take(n)
			return uint8(e >> 8), nil
		}
	}
}
