package text

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestParseTime(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
	}{
		{"0", 0},
		{"-0", 0},
		{"7", 7},
		{"7ns", 7},
		{"007us", 7000},
		{"1us", 1000},
		{"1.us", 1000},
		{"1.5us", 1500},
		{"1.500us", 1500},
		{"1.5000000us", 1500},
		{"-0.001us", -1},
		{"-1.5ms", -1_500_000},
		{"0.000000001s", 1},
		{"3s", 3_000_000_000},
		{"9223372036.854775807s", math.MaxInt64},
		{"-9223372036.854775808s", math.MinInt64},
	} {
		if got, err := parseTime(c.in); err != nil || got != c.want {
			t.Errorf("%s: %d, error %v, want %d", c.in, got, err, c.want)
		}
	}
}

func TestParseTimeErrors(t *testing.T) {
	for _, in := range []string{
		"", "s", "us", "-", "-us", ".5us", "-.5us", "+1", "1 us", "1us ", "1e3us", "0x10", "1_000", "1,5us",
		"1.5", "1.5ns", "1.0005us", "1.2.3us", "1.-5us", "1m", "1min", "ｌ",
		"9223372036854775808", "9223372036854775808us", "NaN", "inf",
	} {
		if got, err := parseTime(in); err == nil {
			t.Errorf("%q: read as %d", in, got)
		}
	}
}

func TestAppendTime(t *testing.T) {
	for _, c := range []struct {
		ns   int64
		want string
	}{
		{0, "0"},
		{-1, "-1"},
		{999, "999"},
		{1000, "1us"},
		{-1000, "-1us"},
		{1001, "1.001us"},
		{1010, "1.01us"},
		{-1100, "-1.1us"},
		{1_000_000, "1000us"},
		{math.MaxInt64, "9223372036854775.807us"},
		{math.MinInt64, "-9223372036854775.808us"},
	} {
		if got := string(appendTime(nil, c.ns)); got != c.want {
			t.Errorf("%d: %s, want %s", c.ns, got, c.want)
		}
	}
}

// Every time is read as it was written.
func TestTimeRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10000 {
		ns := int64(r.Uint64()) >> r.IntN(64)
		if got, err := parseTime(string(appendTime(nil, ns))); err != nil || got != ns {
			t.Fatalf("%d: read as %d, error %v", ns, got, err)
		}
	}
}
