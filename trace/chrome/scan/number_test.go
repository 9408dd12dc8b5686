package scan

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// padded is s with the padding that scanning functions rely on.
func padded(s string) []byte { return append([]byte(s), make([]byte, 32)...) }

func TestMicros(t *testing.T) {
	for _, c := range []struct {
		in   string
		ns   int64
		ok   bool
		fast bool // by Micros alone
	}{
		{"0", 0, true, true},
		{"1", 1000, true, true},
		{"0.001", 1, true, true},
		{"3923968038989.372", 3923968038989372, true, true},
		{"999999999999999.999", 999999999999999999, true, true},
		{"1759300074000000000", 0, false, false}, // beyond int64 as ns
		{"1795224607218064", 1795224607218064000, true, false},
		{"9223372036854775.807", math.MaxInt64, true, false},
		{"9223372036854775.808", 0, false, false},
		{"-9223372036854775.807", -math.MaxInt64, true, false},
		{"1.5", 1500, true, false},
		{"1.0004", 1000, true, false},
		{"1.0005", 1001, true, false},
		{"-1.0005", -1001, true, false},
		{"1.00049999999999999999999999", 1000, true, false},
		{"-0", 0, true, false},
		{"-0.0001", 0, true, false},
		{"0.0005", 1, true, false},
		{"0.00049", 0, true, false},
		{"1e3", 1000000, true, false},
		{"1.5E+2", 150000, true, false},
		{"15e-4", 2, true, false},
		{"14e-4", 1, true, false},
		{"1e-400", 0, true, false},
		{"0e999999999999999999999", 0, true, false},
		{"1e400", 0, false, false},
		{"1e999999999999999999999", 0, false, false},
		{"0." + strings.Repeat("0", 5000) + "1e5003", 100000, true, false},
		{"1" + strings.Repeat("0", 5000) + "e-5000", 1000, true, false},
	} {
		text := padded(c.in + ",")
		ns, end, fast := Micros(text, 0)
		if fast != c.fast || fast && (ns != c.ns || end != len(c.in)) {
			t.Errorf("micros(%.40s) = %d, %d, %v", c.in, ns, end, fast)
		}
		if end := Number(text, 0); end != len(c.in) {
			t.Errorf("scanNumber(%.40s) = %d", c.in, end)
		}
		ns, ok := ParseDecimal([]byte(c.in), nil).Scaled(3)
		if ok != c.ok || ok && ns != c.ns {
			t.Errorf("%.40s: got %d, %v, want %d, %v", c.in, ns, ok, c.ns, c.ok)
		}
	}
}

// TestMicrosAgainstBig compares with arithmetic that cannot be wrong.
func TestMicrosAgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		text := strconv.FormatInt(rng.Int64()>>rng.IntN(64), 10)
		if n := rng.IntN(8); n > 0 {
			text += "." + strconv.Itoa(int(math.Pow10(n)) + rng.IntN(int(math.Pow10(n))))[1:]
		}
		if rng.IntN(3) == 0 {
			text += "e" + strconv.Itoa(rng.IntN(12)-6)
		}
		want, _ := new(big.Rat).SetString(text)
		want.Mul(want, big.NewRat(1000, 1))
		got, ok := ParseDecimal([]byte(text), nil).Scaled(3)
		half := big.NewRat(1, 2)
		if want.Sign() < 0 {
			half.Neg(half)
		}
		want.Add(want, half)
		rounded := new(big.Int).Quo(want.Num(), want.Denom())
		if ok != (rounded.CmpAbs(big.NewInt(math.MaxInt64)) <= 0) || ok && rounded.Int64() != got {
			t.Fatalf("%s: got %d, %v, want %v", text, got, ok, rounded)
		}
		if ns, _, fast := Micros(padded(text+"}"), 0); fast && ns != got {
			t.Fatalf("%s: micros gives %d, want %d", text, ns, got)
		}
	}
}

func TestInteger(t *testing.T) {
	for _, c := range []struct {
		in   string
		v    int64
		fast bool
	}{
		{"0", 0, true}, {"7", 7, true}, {"-1", -1, true}, {"12345678", 12345678, true}, {"123456789", 123456789, true},
		{"999999999999999", 999999999999999, true}, {"-999999999999999", -999999999999999, true},
		{"1000000000000000", 0, false}, {"12345678901234567890", 0, false},
		{"01", 0, false}, {"-0", 0, false}, {"-", 0, false}, {"", 0, false},
		{"1.5", 0, false}, {"1e3", 0, false}, {"x", 0, false},
	} {
		v, end, ok := Integer(padded(c.in+","), 0)
		if ok != c.fast || ok && (v != c.v || end != len(c.in)) {
			t.Errorf("integer(%q) = %d, %d, %v", c.in, v, end, ok)
		}
		if _, _, ok := Integer(padded(c.in), 0); ok {
			t.Errorf("integer(%q) at the end of the window is taken for whole", c.in)
		}
	}
}

func TestWhole(t *testing.T) {
	for _, s := range []string{"0", "5", "-5", "9223372036854775807", "-9223372036854775808"} {
		want, _ := strconv.ParseInt(s, 10, 64)
		if v, ok := Whole([]byte(s)); !ok || v != want {
			t.Errorf("whole(%s) = %d, %v", s, v, ok)
		}
	}
	for _, s := range []string{
		"", "-", "-0", "01", "+1", "1.0", "1e1", " 1",
		"9223372036854775808", "-9223372036854775809", "99999999999999999999",
	} {
		if v, ok := Whole([]byte(s)); ok {
			t.Errorf("whole(%q) = %d", s, v)
		}
	}
}
