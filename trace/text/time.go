package text

import (
	"fmt"
	"strconv"
	"strings"
)

// units are the suffixes of times with the decimals that make them ns.
var units = []struct {
	suffix   string
	decimals int
}{{"ns", 0}, {"us", 3}, {"ms", 6}, {"s", 9}, {"", 0}}

// parseTime reads a time such as 1500, 1.5us or -2s as ns, exactly or not at all.
func parseTime(s string) (int64, error) {
	for _, u := range units {
		number, ok := strings.CutSuffix(s, u.suffix)
		if !ok {
			continue
		}
		whole, fraction, dot := strings.Cut(number, ".")
		if dot {
			fraction = strings.TrimRight(fraction, "0")
		}
		if len(fraction) > u.decimals {
			return 0, fmt.Errorf("time %q is not a whole number of ns", s)
		}
		digits := whole + fraction + strings.Repeat("0", u.decimals-len(fraction))
		ns, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || whole == "" || whole[len(whole)-1] < '0' || whole[0] == '+' {
			return 0, fmt.Errorf("%q is not a time in ns, us, ms or s, or too long", s)
		}
		return ns, nil
	}
	return 0, fmt.Errorf("%q is not a time", s)
}

// appendTime appends ns so that parseTime returns it: from 1000 on in us.
func appendTime(b []byte, ns int64) []byte {
	if -1000 < ns && ns < 1000 {
		return strconv.AppendInt(b, ns, 10)
	}
	b = strconv.AppendInt(b, ns/1000, 10)
	if rest := ns % 1000; rest != 0 {
		digits := strconv.Itoa(int(1000 + max(rest, -rest)))
		b = append(b, '.')
		b = append(b, strings.TrimRight(digits[1:], "0")...)
	}
	return append(b, "us"...)
}
