package units

import "testing"

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 27_123_456: "27.1 MB", 5e9: "5.00 GB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestMegabytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 8: "8 bytes", 99_999: "99999 bytes", 100_000: "0.1 MB", 27_123_456: "27.1 MB",
	} {
		if got := Megabytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	got := Count(1, "step") + ", " + Count(int64(2), "rank") + ", " + Count(0, "token") + ", " +
		Count(1, "pass") + ", " + Count(3, "pass")
	if got != "1 step, 2 ranks, 0 tokens, 1 pass, 3 passes" {
		t.Error(got)
	}
}

func TestMilliseconds(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.00 ms", 4_999: "0.00 ms", 5_000: "0.01 ms", -4_999: "0.00 ms", 3_175_000: "3.18 ms",
		-3_175_000: "-3.18 ms", 3_174_999: "3.17 ms", 12_345_678_900: "12345.68 ms",
	} {
		if got := Milliseconds(ns); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0.0 us", -999: "-1.0 us", 999_949: "999.9 us", 1_000_000: "1.0 ms",
		9_999_000_000: "9999.0 ms", 12e9: "12.0 s",
	} {
		if got := Duration(ns); got != want {
			t.Errorf("%d: %s, want %s", ns, got, want)
		}
	}
	if got := Milliseconds(1_754_000); got != "1.75 ms" {
		t.Error(got)
	}
}
