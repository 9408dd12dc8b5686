package render

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWidths: on a terminal of any width no line is longer, and every word of what a pipe gets
// that can stand in half a line stands there whole.
func TestWidths(t *testing.T) {
	whole := drawn(t, Options{Show: Sections()})
	for width := leastWidth; width <= 130; width += 5 {
		text := drawn(t, Options{Show: Sections(), Width: width})
		words := make(map[string]bool)
		for l := range strings.SplitSeq(text, "\n") {
			if n := utf8.RuneCountInString(l); n > width {
				t.Errorf("%d columns: a line of %d: %s", width, n, l)
			}
			for _, word := range strings.Fields(l) {
				words[word] = true
			}
		}
		for _, word := range strings.Fields(whole) {
			if !words[word] && utf8.RuneCountInString(word) <= width/2-9 {
				t.Errorf("%d columns: %q is broken:\n%s", width, word, text)
			}
		}
	}
	if below := drawn(t, Options{Width: 3}); below != drawn(t, Options{Width: leastWidth}) {
		t.Error("a terminal of 3 columns is not written to as one of the least width")
	}
}

func drawn(t *testing.T, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := Text(&b, nastyReport(), o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A table that is too wide has cells in several lines, then columns below columns.
func TestNarrowTables(t *testing.T) {
	table := table{
		title: "Steps", left: 2, header: []string{"rank", "step", "where it is", "reduce-scatter", "idle"},
		rows: [][]string{{"0", "0", "in the optimizer step", "1.250 ms", "12.3 %"}, {"0", "1", "x", "-", "4 %"}},
	}
	for width, want := range map[int]string{
		0: `
Steps
  rank  step            where it is  reduce-scatter    idle
  0     0     in the optimizer step        1.250 ms  12.3 %
  0     1                         x               -     4 %
`,
		50: `
Steps
  rank  step   where it is  reduce-scatter    idle
  0     0           in the        1.250 ms  12.3 %
                 optimizer
                      step
  0     1                x               -     4 %
`,
		40: `
Steps
  rank  step    where it  reduce-scatter
                      is
  0     0         in the        1.250 ms
               optimizer
                    step
  0     1              x               -

  rank  step    idle
  0     0     12.3 %
  0     1        4 %
`,
	} {
		b := Options{Width: width}.sheet()
		drawText(b, table)
		if b.String() != want {
			t.Errorf("%d columns:\n%s", width, b.String())
		}
	}
}

func TestFitText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"short", "short"},
		{"one two three four five six seven eight nine", "one two three four five six seven\n  eight nine"},
		{"  a flag  what the flag does in many more words",
			"  a flag  what the flag does in many\n          more words"},
		{"/a/long/path/of/folders/that/has/no/space/anywhere",
			"/a/long/path/of/folders/that/has/no/\n  space/anywhere"},
		{strings.Repeat("x", 41), strings.Repeat("x", 38) + "\n  xxx"},
	} {
		if got := FitText(c.in, 40); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.in, got, c.want)
		}
		if got := FitText(c.in, 0); got != c.in {
			t.Errorf("%q changes in a pipe: %q", c.in, got)
		}
	}
}

// TestVerdictEnds: a text longer than the terminal ends with its verdict, any other has it once.
func TestVerdictEnds(t *testing.T) {
	whole := drawn(t, Options{Width: 100})
	lines := strings.Count(whole, "\n")
	if again := drawn(t, Options{Width: 100, Height: lines + 1}); again != whole {
		t.Errorf("repeated in a terminal that shows all:\n%s", again)
	}
	again := drawn(t, Options{Width: 100, Height: lines - 1})
	tail, ok := strings.CutPrefix(again, whole)
	if !ok || !strings.HasPrefix(tail, "\nVERDICT") || !strings.Contains(tail, "\nNEXT") {
		t.Errorf("the end is %q", tail)
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestColors: they are all that colored text adds, they end where they began, and names bring
// none of their own.
func TestColors(t *testing.T) {
	for _, width := range []int{0, 60, 120} {
		plain := drawn(t, Options{Width: width, Show: Sections()})
		colored := drawn(t, Options{Width: width, Show: Sections(), Color: true})
		if strings.Contains(plain, "\x1b") {
			t.Errorf("%d columns: colors that nobody asked for", width)
		}
		head := "\x1b[" + styles[warnStyle] + "mVERDICT"
		if escapes.ReplaceAllString(colored, "") != plain || !strings.Contains(colored, head) {
			t.Errorf("%d columns:\n%s", width, colored)
		}
		for l := range strings.SplitSeq(colored, "\n") {
			if list := escapes.FindAllString(l, -1); len(list)%2 != 0 {
				t.Errorf("%d columns: %q", width, l)
			}
		}
	}
}

// TestContrast: every color has a contrast of at least 3.9 to black and to white, which is what
// large or bold text needs with something to spare.
func TestContrast(t *testing.T) {
	levels := []float64{0, 95, 135, 175, 215, 255}
	light := func(level float64) float64 {
		if c := level / 255; c > 0.04045 {
			return math.Pow((c+0.055)/1.055, 2.4)
		}
		return 0
	}
	for _, s := range styles {
		_, number, ok := strings.Cut(s, "38;5;")
		if !ok {
			continue
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 16 || n > 231 {
			t.Errorf("%s is not of the fixed palette", s)
			continue
		}
		n -= 16
		y := 0.2126*light(levels[n/36]) + 0.7152*light(levels[n/6%6]) + 0.0722*light(levels[n%6])
		if white, black := 1.05/(y+0.05), (y+0.05)/0.05; white < 3.9 || black < 3.9 {
			t.Errorf("%s has a contrast of %.2f to white and %.2f to black", s, white, black)
		}
	}
}

func TestFoldRanks(t *testing.T) {
	rows := func(of ...string) [][]string {
		var list [][]string
		for _, row := range of {
			list = append(list, strings.Fields(row))
		}
		return list
	}
	for _, c := range []struct {
		name string
		in   [][]string
		want string
	}{
		{"one rank", rows("0 A 1.000", "0 B 1.000"), "0 A 1.000|0 B 1.000"},
		{"equal", rows("0 A 1.000", "1 A 1.000", "2 A 1.000"), "0-2 A 1.000"},
		{"a gap", rows("0 A 1.000", "1 B 1.000", "2 A 1.000", "3 A 1.000"), "0,2-3 A 1.000|1 B 1.000"},
		{"near", rows("0 A 1.000 0.500", "1 A 1.010 0.460", "2 A 1.020 0.490"), "0-2 A 1.010 0.460"},
		{"far", rows("0 A 1.000 0.500", "1 A 1.000 0.500", "2 A 1.000 0.600"), "0-1 A 1.000 0.500|2 A 1.000 0.600"},
		{"counts are exact", rows("0 100 1.0", "1 101 1.0"), "0 100 1.0|1 101 1.0"},
		{"units", rows("0 A 1.0ms", "1 A 1.0us"), "0 A 1.0ms|1 A 1.0us"},
		{"all differ", rows("0 A 1.0", "1 A 2.0", "2 A 4.0"), "1 A 2.0|0 A 1.0|2 A 4.0"},
		{"two devices", rows("0 0 1.0", "0 0 1.0", "1 0 1.0"), "0-1 0 1.0"},
		{"no number", rows("0 A NaN", "1 A +Inf", "2 A -"), "0 A NaN|1 A +Inf|2 A -"},
		{"a row below", rows("0 A 1.0", "all A 1.0"), "0 A 1.0|all A 1.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folded := foldRanks(table{header: []string{"rank"}, rows: c.in}, Options{})
			var got []string
			for _, row := range folded.rows {
				got = append(got, strings.Join(row, " "))
			}
			// a table that nothing was joined in is left as it was
			if want := strings.Split(c.want, "|"); len(want) < len(c.in) && fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %q, want %q", got, want)
			} else if len(want) == len(c.in) && fmt.Sprint(folded.rows) != fmt.Sprint(c.in) {
				t.Errorf("got %q, want it unchanged", got)
			}
			all := foldRanks(table{header: []string{"rank"}, rows: c.in}, Options{Show: []string{"ranks"}})
			if fmt.Sprint(all.rows) != fmt.Sprint(c.in) {
				t.Errorf("ranks were asked for: %q", all.rows)
			}
		})
	}
}

func TestQuietShows(t *testing.T) {
	verdict := drawn(t, Options{Quiet: true})
	text := drawn(t, Options{Quiet: true, Show: []string{"top"}})
	tail, ok := strings.CutPrefix(text, verdict)
	if !ok || !strings.HasPrefix(tail, "\nDevice time by name") || strings.Contains(tail, "Steps") {
		t.Errorf("got %q", text)
	}
	if strings.Contains(verdict, "Steps,") || !strings.Contains(verdict, "VERDICT") {
		t.Errorf("quiet is %q", verdict)
	}
}
