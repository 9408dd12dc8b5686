// Package units formats quantities for people, the same way in all reports and
// messages. Times are integer nanoseconds, sizes bytes. Sizes are decimal: a MB is a
// million bytes.
package units

import (
	"fmt"
	"strings"
)

// Count is "1 step" or "n steps", "1 pass" or "n passes".
func Count[N ~int | ~int64](n N, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "s"):
		return fmt.Sprintf("%d %ses", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Bytes is n bytes in the decimal unit that suits it: 999 B, 1.0 kB, 27.1 MB, 5.00 GB.
func Bytes(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1e6:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.2f GB", float64(n)/1e9)
}

// MB is n bytes in megabytes, to be printed with a unit or under a heading that has it.
func MB(n int64) float64 { return float64(n) / 1e6 }

// Megabytes is "27.1 MB", and below a tenth of one the bytes themselves: messages of a
// few bytes are counts of tokens and the like, whose exact size tells what they are.
func Megabytes(n int64) string {
	if n < 100_000 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f MB", MB(n))
}

// MS is ns in milliseconds, to be printed with a unit or under a heading that has it.
func MS(ns int64) float64 { return float64(ns) / 1e6 }

// Milliseconds is "1.75 ms", the unit of all costs. Halves are rounded away from zero, as
// people do.
func Milliseconds(ns int64) string {
	const digit = 10_000 // ns of the last one
	if ns < 0 {
		return fmt.Sprintf("%.2f ms", float64((ns-digit/2)/digit)/100)
	}
	return fmt.Sprintf("%.2f ms", float64((ns+digit/2)/digit)/100)
}

// US is ns in microseconds, the unit of viewers of traces.
func US(ns int64) float64 { return float64(ns) / 1e3 }

// Microseconds is "12.3 us".
func Microseconds(ns int64) string { return fmt.Sprintf("%.1f us", US(ns)) }

// Duration is ns in the unit that suits it, with one decimal: 12.3 us, 4.5 ms, from ten
// seconds on 12.0 s. Negative ones keep their sign.
func Duration(ns int64) string {
	switch a := max(ns, -ns); {
	case a < 1_000_000:
		return Microseconds(ns)
	case a < 10_000_000_000:
		return fmt.Sprintf("%.1f ms", MS(ns))
	}
	return fmt.Sprintf("%.1f s", float64(ns)/1e9)
}
