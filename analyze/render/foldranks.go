package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// alikeShare is by how much the figures of ranks that are alike may differ, as a share of the
// largest in their row, and percentages as a share of all.
const alikeShare = 0.05

// foldRanks joins the rows of ranks that are alike into one, that of the rank whose first time
// is their median, so that those that differ are seen. Texts and counts must be equal; times
// may differ a little. Where ranks are asked for, each keeps its rows.
func foldRanks(t table, o Options) table {
	if o.shows("ranks") || t.header[0] != "rank" {
		return t
	}
	var rows [][]string
	close := false // some figures were joined that are not equal
	for _, same := range sameTexts(t.rows) {
		for len(same) > 0 {
			shown := medianRow(same)
			var alike, rest [][]string
			for _, row := range same {
				if near(shown, row) {
					alike = append(alike, row)
					close = close || !slices.Equal(shown[1:], row[1:])
				} else {
					rest = append(rest, row)
				}
			}
			rows = append(rows, append([]string{spans(alike)}, shown[1:]...))
			same = rest
		}
	}
	if len(rows) == len(t.rows) {
		return t
	}
	t.rows = rows
	if close {
		t.note = strings.TrimPrefix(t.note+"; ", "; ") +
			o.name("ranks that differ by less than 5 % share the row of their median; {show} ranks lists each")
	}
	return t
}

// sameTexts groups rows that differ in rank and times alone, in the order of the first.
func sameTexts(rows [][]string) [][][]string {
	var groups [][][]string
	index := make(map[string]int)
	for _, row := range rows {
		if _, err := strconv.Atoi(row[0]); err != nil { // a row that goes on with the one above
			groups = append(groups, [][]string{row})
			continue
		}
		key := ""
		for _, c := range row[1:] {
			if _, unit, ok := figure(c); ok {
				c = "\x00" + unit
			}
			key += c + "\x01"
		}
		i, ok := index[key]
		if !ok {
			i = len(groups)
			index[key], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], row)
	}
	return groups
}

// figure is a cell that holds a number with a fraction, and what follows it.
func figure(cell string) (v float64, unit string, ok bool) {
	number, unit, _ := strings.Cut(cell, " ")
	if !strings.Contains(number, ".") {
		return 0, "", false
	}
	v, err := strconv.ParseFloat(number, 64)
	return v, unit, err == nil && !math.IsInf(v, 0) && !math.IsNaN(v)
}

// medianRow is the row whose first figure is the median.
func medianRow(rows [][]string) []string {
	first := func(row []string) float64 {
		for _, c := range row[1:] {
			if v, _, ok := figure(c); ok {
				return v
			}
		}
		return 0
	}
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b []string) int {
		switch x, y := first(a), first(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return sorted[(len(sorted)-1)/2]
}

// near reports whether the figures of two rows are alike.
func near(a, b []string) bool {
	most := 0.0
	for _, c := range slices.Concat(a[1:], b[1:]) {
		if v, unit, ok := figure(c); ok && unit != "%" {
			most = max(most, math.Abs(v))
		}
	}
	for i := 1; i < len(a); i++ {
		x, unit, ok := figure(a[i])
		y, _, _ := figure(b[i])
		scale := most
		if unit == "%" {
			scale = 100
		}
		if ok && math.Abs(x-y) > alikeShare*scale {
			return false
		}
	}
	return true
}

// spans are the ranks of rows: 0-2,4.
func spans(rows [][]string) string {
	if len(rows) == 1 {
		return rows[0][0]
	}
	var ranks []int
	for _, row := range rows {
		if n, err := strconv.Atoi(row[0]); err == nil {
			ranks = append(ranks, n)
		}
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks) // devices of one rank
	var parts []string
	for i := 0; i < len(ranks); {
		end := i
		for end+1 < len(ranks) && ranks[end+1] == ranks[end]+1 {
			end++
		}
		part := strconv.Itoa(ranks[i])
		if end > i {
			part += fmt.Sprintf("-%d", ranks[end])
		}
		parts, i = append(parts, part), end+1
	}
	return strings.Join(parts, ",")
}
