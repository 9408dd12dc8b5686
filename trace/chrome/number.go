package chrome

import (
	"math"
	"math/bits"
)

// digits8 reads the digits at the head of x, at most eight: their number and
// their value.
func digits8(x uint64) (v uint64, n int) {
	x ^= ones * '0'
	n = digitsIn(x)
	return sum8(x << (64 - 8*n)), n // leading zeros
}

// sum8 is the value of eight digits, a byte each, as values and not as letters. A word
// is summed in three steps.
func sum8(x uint64) uint64 {
	x = x*10 + x>>8
	return (x&0x000000ff000000ff*0x000f424000000064 + x>>16&0x000000ff000000ff*0x0000271000000001) >> 32
}

// digitsIn counts the digits at the head of x, at most eight; digits are values.
func digitsIn(x uint64) int { return bits.TrailingZeros64(noDigits(x)) >> 3 }

// noDigits marks the bytes of x that are no digits; the lowest mark is exact.
func noDigits(x uint64) uint64 { return (x + ones*0x76 | x) & highs }

// digitsAt counts the digits at i, at most eight.
func digitsAt(b []byte, i int) int { return digitsIn(load(b, i) ^ ones*'0') }

// digits16 reads up to sixteen digits at i; n is 16 too where there are more.
func digits16(b []byte, i int) (v uint64, n int) {
	if v, n = digits8(load(b, i)); n < 8 {
		return v, n
	}
	low, more := digits8(load(b, i+8))
	return v*pow10[more] + low, 8 + more
}

var pow10 = [9]uint64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}

// integer reads a plain integer of at most 15 digits at i: no fraction, no
// exponent, no leading zero. ok is false for anything else, the end of the
// window included.
func integer(b []byte, i int) (v int64, end int, ok bool) {
	neg := b[i] == '-'
	if neg {
		i++
	}
	u, n := digits8(load(b, i))
	if n == 8 {
		u, n = digits16(b, i)
	}
	if n == 0 || n > 15 || b[i] == '0' && (n > 1 || neg) {
		return 0, i, false
	}
	v, i = int64(u), i+n
	if c := b[i]; c == '.' || c|0x20 == 'e' || c == 0 {
		return 0, i, false
	}
	if neg {
		v = -v
	}
	return v, i, true
}

// micros reads a number of microseconds as Kineto writes it, at most 15 digits
// before and exactly three after the point, or none, as nanoseconds. ok is false
// for any other form.
func micros(b []byte, i int) (ns int64, end int, ok bool) {
	if ns, end, ok = fewMicros(b, i); !ok {
		ns, end, ok = manyMicros(b, i)
	}
	if c := b[end]; c-'0' <= 9 || c == '.' || c|0x20 == 'e' || c == 0 {
		return 0, i, false
	}
	return ns, end, ok
}

// fewMicros reads one to four digits, a point and three digits: with the point taken
// out they are one word.
func fewMicros(b []byte, i int) (ns int64, end int, ok bool) {
	x := load(b, i) ^ ones*'0'
	n := digitsIn(x)
	if uint(n-1) > 3 || byte(x>>(8*n)) != '.'^'0' {
		return 0, i, false
	}
	x = x&(1<<(8*n)-1) | x>>(8*n+8)&0xffffff<<(8*n)
	if noDigits(x) != 0 || x&0xff == 0 && n > 1 {
		return 0, i, false
	}
	return int64(sum8(x << (40 - 8*n))), i + n + 4, true
}

func manyMicros(b []byte, i int) (ns int64, end int, ok bool) {
	u, n := digits16(b, i)
	if n == 0 || n > 15 || b[i] == '0' && n > 1 {
		return 0, i, false
	}
	ns, i = int64(u)*1000, i+n
	if b[i] == '.' {
		x, y, z := b[i+1]-'0', b[i+2]-'0', b[i+3]-'0'
		if x > 9 || y > 9 || z > 9 {
			return 0, i, false
		}
		ns += int64(x)*100 + int64(y)*10 + int64(z)
		i += 4
	}
	return ns, i, true
}

// moment is how the last time of 13 digits, a point and three digits began: its first
// eight digits as they stand, and their value in ns. Times of one trace begin alike.
type moment struct {
	word uint64
	ns   int64
}

const momentLen = 8 + 5 + 1 + 3 // bytes of such a time

// learn takes the time at i, which was read and ends at end.
func (m *moment) learn(b []byte, i, end int) {
	if end-i == momentLen && b[i+13] == '.' {
		v, _ := digits8(load(b, i))
		m.word, m.ns = load(b, i), int64(v)*1e8
	}
}

// read reads a time at i that begins so. It does not look at what stands behind it.
func (m *moment) read(b []byte, i int) (ns int64, ok bool) {
	if load(b, i) != m.word || b[i+13] != '.' {
		return 0, false
	}
	x := load(b, i+9) // four digits, the point, three digits
	x = (x<<32>>24 | x>>40<<40 | uint64(b[i+8])) ^ ones*'0'
	return m.ns + int64(sum8(x)), noDigits(x) == 0
}

// decimal is a number of JSON taken apart: digits with the point after the first
// point of them; point may be negative or beyond the digits.
type decimal struct {
	neg    bool
	digits []byte // without a point; leading zeros taken off
	point  int
}

// parseDecimal takes a valid number apart, using scratch for the digits.
func parseDecimal(s, scratch []byte) decimal {
	d := decimal{digits: scratch[:0]}
	if d.neg = s[0] == '-'; d.neg {
		s = s[1:]
	}
	seenPoint := false
	for i, c := range s {
		switch {
		case c == '.':
			seenPoint = true
			continue
		case c|0x20 == 'e':
			d.point += exponent(s[i+1:])
			return d
		}
		if c != '0' || len(d.digits) > 0 {
			d.digits = append(d.digits, c)
			if !seenPoint {
				d.point++
			}
		} else if seenPoint {
			d.point--
		}
	}
	return d
}

// exponent reads an exponent, held within what no input can reach by its digits.
func exponent(s []byte) int {
	const far = 1 << 40
	neg, v := false, 0
	for _, c := range s {
		switch c {
		case '-':
			neg = true
		case '+':
		default:
			v = min(v*10+int(c-'0'), far)
		}
	}
	if neg {
		return -v
	}
	return v
}

// scaled is the number times ten to the power of shift as an integer, rounded
// half away from zero; ok is false where it does not fit an int64.
func (d decimal) scaled(shift int) (v int64, ok bool) {
	n := d.point + shift // digits before the point
	switch {
	case len(d.digits) == 0 || n < 0:
		return 0, true
	case n > 19:
		return 0, false
	}
	u := uint64(0)
	for i := range n {
		u *= 10
		if i < len(d.digits) {
			u += uint64(d.digits[i] - '0')
		}
	}
	if n < len(d.digits) && d.digits[n] >= '5' {
		u++
	}
	if u > math.MaxInt64 {
		return 0, false
	}
	if d.neg {
		return -int64(u), true
	}
	return int64(u), true
}

// whole reads s as an int64; ok is false where s is not a canonical integer, the
// way that strconv would write it.
func whole(s []byte) (v int64, ok bool) {
	digits := s
	neg := len(s) > 0 && s[0] == '-'
	if neg {
		digits = s[1:]
	}
	if len(digits) == 0 || len(digits) > 19 || digits[0] == '0' && (neg || len(digits) > 1) {
		return 0, false
	}
	u := uint64(0)
	for _, c := range digits {
		if c-'0' > 9 {
			return 0, false
		}
		u = u*10 + uint64(c-'0')
	}
	if u > math.MaxInt64 {
		return math.MinInt64, neg && u == -math.MinInt64
	}
	if neg {
		return -int64(u), true
	}
	return int64(u), true
}
