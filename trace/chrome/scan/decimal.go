package scan

import "math"

// Decimal is a JSON number taken apart.
type Decimal struct {
	Digits []byte // without point and leading zeros
	neg    bool   // it is below zero
	point  int    // how many digits stand before the point; may be negative, or more than there are
}

// ParseDecimal takes a valid number apart, using scratch for the digits.
func ParseDecimal(s, scratch []byte) Decimal {
	d := Decimal{Digits: scratch[:0]}
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
		if c != '0' || len(d.Digits) > 0 {
			d.Digits = append(d.Digits, c)
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

// Scaled is the number times ten to the power of shift as an integer, rounded
// half away from zero; ok is false where it does not fit an int64.
func (d Decimal) Scaled(shift int) (v int64, ok bool) {
	n := d.point + shift // digits before the point
	switch {
	case len(d.Digits) == 0 || n < 0:
		return 0, true
	case n > 19:
		return 0, false
	}
	u := uint64(0)
	for i := range n {
		u *= 10
		if i < len(d.Digits) {
			u += uint64(d.Digits[i] - '0')
		}
	}
	if n < len(d.Digits) && d.Digits[n] >= '5' {
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

// Whole reads s as an int64; ok is false where s is not a canonical integer, the
// way that strconv would write it.
func Whole(s []byte) (v int64, ok bool) {
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
