package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/analyze/compare"
	"github.com/gaprof/gaprof/internal/units"
)

// millis prints ns in ms with microseconds.
func millis(ns int64) string { return fmt.Sprintf("%.3f", units.MS(ns)) }

// micros prints ns as a viewer and the file show them: us with three decimals.
func micros(ns int64) string {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	return fmt.Sprintf("%s%d.%03d", sign, ns/1000, ns%1000)
}

func percent(ratio *float64) string {
	if ratio == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f %%", *ratio*100)
}

func share(part, whole int64) string {
	if whole == 0 {
		return "-"
	}
	ratio := float64(part) / float64(whole)
	return percent(&ratio)
}

// number prints a figure without a unit.
func number(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }

// orDash prints a figure, or a dash where it is unknown.
func orDash(v *int64, unit func(int64) string) string {
	if v == nil {
		return "-"
	}
	return unit(*v)
}

// ranges prints ascending numbers as 0-3,6.
func ranges(list []int64) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		part := strconv.FormatInt(list[i], 10)
		if j > i {
			part += "-" + strconv.FormatInt(list[j], 10)
		}
		parts, i = append(parts, part), j+1
	}
	return strings.Join(parts, ",")
}

// spaced prints an identifier of the contract as people write it.
func spaced(id string) string {
	switch id {
	case "reduce_scatter", "all_gather", "all_reduce", "all_to_all":
		return strings.ReplaceAll(id, "_", "-")
	case "every_micro_batch", "last_micro_batch", "between_micro_batches":
		head, tail, _ := strings.Cut(id, "_")
		return head + " " + strings.ReplaceAll(tail, "_", "-")
	}
	return strings.ReplaceAll(id, "_", " ")
}

// changeText is the change of a median in percent and whether it is significant. The size
// is always said: a change of a third that too few steps show is no absence of one.
func changeText(f *compare.Figure) string {
	switch {
	case f.P == nil:
		return "-"
	case f.Base.Median == f.New.Median && *f.P == 1:
		return "none"
	case f.Delta == nil:
		return "from zero" + significanceText(f.Significant, *f.P)
	}
	return fmt.Sprintf("%+.2f %%", *f.Delta*100) + significanceText(f.Significant, *f.P)
}
