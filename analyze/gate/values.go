package gate

import (
	"math"
	"strconv"
	"strings"
)

// Unit is what a metric is measured in.
type Unit string

// The units: times in ns, ratios from 0 to 1, bytes, and numbers of things.
const (
	Nanoseconds Unit = "ns"
	Ratio       Unit = "ratio"
	Bytes       Unit = "bytes"
	Count       Unit = "count"
)

// suffixes are those of the values of a unit, a longer one before its own ending.
var suffixes = map[Unit][]struct {
	suffix string
	factor float64
}{
	Nanoseconds: {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}},
	Ratio:       {{"%", 0.01}, {"", 1}},
	Bytes: {
		{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
		{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1},
	},
	Count: {{"", 1}},
}

// example is how to write a value of the unit.
var example = map[Unit]string{
	Nanoseconds: "a time such as 5ms",
	Ratio:       "a ratio such as 0.8 or 80%",
	Bytes:       "a size such as 40MB or 40GB",
	Count:       "a number such as 16",
}

// value reads a value of the unit with its suffix. Zero needs none.
func (u Unit) value(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if v, ok := number(text); ok && v == 0 {
		return 0, true
	}
	for _, s := range suffixes[u] {
		head, ok := strings.CutSuffix(text, s.suffix)
		if !ok {
			continue
		}
		if v, ok := number(strings.TrimSpace(head)); ok {
			return v * s.factor, true
		}
	}
	return 0, false
}

// number reads a finite decimal; underscores and hexadecimals are not decimals.
func number(text string) (float64, bool) {
	if strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// Format writes a value as people do: times in ms, ratios in percent.
func (u Unit) Format(v float64) string {
	switch u {
	case Nanoseconds:
		return strconv.FormatFloat(math.Round(v/1e3)/1e3, 'f', 3, 64) + " ms"
	case Ratio:
		if v != 0 && math.Abs(v) < 0.0001 {
			return strconv.FormatFloat(v, 'g', 3, 64)
		}
		return strconv.FormatFloat(v*100, 'f', 2, 64) + " %"
	case Bytes:
		if math.Abs(v) >= 1e9 {
			return strconv.FormatFloat(v/1e9, 'f', 3, 64) + " GB"
		}
		if math.Abs(v) >= 1e5 {
			return strconv.FormatFloat(v/1e6, 'f', 1, 64) + " MB"
		}
		return strconv.FormatFloat(v, 'f', -1, 64) + " B"
	}
	return strconv.FormatFloat(math.Round(v*1e3)/1e3, 'f', -1, 64)
}
