package scan

// Moment is how the last time of 13 digits, a point and three digits began: its first
// eight digits as they stand, and their value in ns. Times of one trace begin alike. The
// zero value knows of none.
type Moment struct {
	word uint64
	ns   int64
}

const momentLen = 8 + 5 + 1 + 3 // bytes of such a time

// Read reads a time at i, as Micros does, and learns how it begins. Where it begins as
// the one before, what follows it is not looked at: the caller knows what must.
func (m *Moment) Read(b []byte, i int) (ns int64, end int, ok bool) {
	if Load(b, i) == m.word && b[i+13] == '.' {
		x := Load(b, i+9) // four digits, the point, three digits
		x = (x<<32>>24 | x>>40<<40 | uint64(b[i+8])) ^ ones*'0'
		if noDigits(x) == 0 {
			return m.ns + int64(sum8(x)), i + momentLen, true
		}
	}
	if ns, end, ok = Micros(b, i); ok {
		m.learn(b, i, end)
	}
	return ns, end, ok
}

// learn takes the time at i, which was read and ends at end.
func (m *Moment) learn(b []byte, i, end int) {
	if end-i == momentLen && b[i+13] == '.' {
		v, _ := digits8(Load(b, i))
		m.word, m.ns = Load(b, i), int64(v)*1e8
	}
}
