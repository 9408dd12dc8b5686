package scan

import "math/bits"

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

// Digits counts the digits at i, at most eight.
func Digits(b []byte, i int) int { return digitsIn(Load(b, i) ^ ones*'0') }

// digits16 reads up to sixteen digits at i; n is 16 too where there are more.
func digits16(b []byte, i int) (v uint64, n int) {
	if v, n = digits8(Load(b, i)); n < 8 {
		return v, n
	}
	low, more := digits8(Load(b, i+8))
	return v*pow10[more] + low, 8 + more
}

var pow10 = [9]uint64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}

// Integer reads a plain integer of at most 15 digits at i: no fraction, no
// exponent, no leading zero. ok is false for anything else, the end of the
// window included.
func Integer(b []byte, i int) (v int64, end int, ok bool) {
	neg := b[i] == '-'
	if neg {
		i++
	}
	u, n := digits8(Load(b, i))
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

// Micros reads a number of microseconds as Kineto writes it, at most 15 digits
// before and exactly three after the point, or none, as nanoseconds. ok is false
// for any other form.
func Micros(b []byte, i int) (ns int64, end int, ok bool) {
	if ns, end, ok = FewMicros(b, i); !ok {
		ns, end, ok = manyMicros(b, i)
	}
	if c := b[end]; c-'0' <= 9 || c == '.' || c|0x20 == 'e' || c == 0 {
		return 0, i, false
	}
	return ns, end, ok
}

// FewMicros reads one to four digits, a point and three digits: with the point taken
// out they are one word.
func FewMicros(b []byte, i int) (ns int64, end int, ok bool) {
	x := Load(b, i) ^ ones*'0'
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
