package chrome

import (
	"math"
	"math/bits"
)

// digits8 reads the digits at the head of x, at most eight: their number and
// their value. Eight digits are one word, and a word is summed in three steps.
func digits8(x uint64) (v uint64, n int) {
	x ^= ones * '0'
	other := (x + ones*0x76 | x) & highs // not a digit; the lowest mark is exact
	n = bits.TrailingZeros64(other) >> 3
	x <<= 64 - 8*n // leading zeros
	x = x*10 + x>>8
	v = (x&0x000000ff000000ff*0x000f424000000064 + x>>16&0x000000ff000000ff*0x0000271000000001) >> 32
	return v, n
}

// digitsAt counts the digits at the head of x, at most eight.
func digitsAt(x uint64) int {
	x ^= ones * '0'
	return bits.TrailingZeros64((x+ones*0x76|x)&highs) >> 3
}

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
	u, n := digits8(load(b, i))
	if n == 8 {
		low, more := digits8(load(b, i+8))
		u, n = u*pow10[more]+low, 8+more
	}
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
	if c := b[i]; c-'0' <= 9 || c == '.' || c|0x20 == 'e' || c == 0 {
		return 0, i, false
	}
	return ns, i, true
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
