package scan

// Moment is how the last time of 13 digits, a point and three digits began: its first
// eight digits as they stand, and their value in ns. Times of one trace begin alike.
type Moment struct {
	word uint64
	ns   int64
}

// MomentLen is the bytes of such a time.
const MomentLen = 8 + 5 + 1 + 3

// Learn takes the time at i, which was read and ends at end.
func (m *Moment) Learn(b []byte, i, end int) {
	if end-i == MomentLen && b[i+13] == '.' {
		v, _ := digits8(Load(b, i))
		m.word, m.ns = Load(b, i), int64(v)*1e8
	}
}

// Read reads a time at i that begins so. It does not look at what stands behind it.
func (m *Moment) Read(b []byte, i int) (ns int64, ok bool) {
	if Load(b, i) != m.word || b[i+13] != '.' {
		return 0, false
	}
	x := Load(b, i+9) // four digits, the point, three digits
	x = (x<<32>>24 | x>>40<<40 | uint64(b[i+8])) ^ ones*'0'
	return m.ns + int64(sum8(x)), noDigits(x) == 0
}
