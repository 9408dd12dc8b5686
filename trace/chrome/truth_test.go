package chrome

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A told event is one of which the test knows the truth: what it is written as and what it must
// be read as.
type told struct{ members, args, row, rowArgs []string }

// value is a value of an argument: as it is written and as it is read.
type value struct{ text, want string }

var argValues = map[string][]value{
	"correlation": {{"0", ""}, {"7", "corr=7"}, {"123456789", "corr=123456789"}, {`"8"`, "corr=8"}, {"-3", "corr=-3"}},
	"External id": {{"0", ""}, {"9", "ext=9"}, {"1024", "ext=1024"}, {`"19"`, "ext=19"}},
	"stream":      {{"7", "stream=0:7"}, {"20", "stream=0:20"}, {"0", "stream=0:0"}, {"-1", "stream=0:-1"}, {`"x"`, "stream=1:x"}},
	"Input Dims": {{"[[4, 3], []]", "Input Dims=2:[[4,3],[]]"}, {"[[4,3],[]]", "Input Dims=2:[[4,3],[]]"}, {"[]", "Input Dims=2:[]"},
		{"[[9], [ 8 ,7]]", "Input Dims=2:[[9],[8,7]]"}},
	"odd": {{"1.5", "odd=2:1.5"}, {"true", "odd=2:true"}, {"null", "odd=2:null"}, {`"12"`, "odd=0:12"}, {`"a b"`, "odd=1:a b"},
		{`"\u00e9\n"`, "odd=1:é\n"}, {`{"k" : [1, {"l":"m n"}]}`, `odd=2:{"k":[1,{"l":"m n"}]}`}, {"9", "odd=0:9"}, {"10", "odd=0:10"},
		{"99999999999999999999", "odd=2:99999999999999999999"}, {"1e2", "odd=2:1e2"}, {"12345678", "odd=0:12345678"}, {`""`, "odd=1:"}},
	"bytes": {{"8", "bytes=0:8"}, {"9", "bytes=0:9"}, {"90", "bytes=0:90"}, {"0.5", "bytes=2:0.5"}},
}

// tell draws an event with its keys in the order of a layout.
func tell(rng *rand.Rand, layout int) told {
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	cat := pick("kernel", "cpu_op", "odd", "ac2g")
	name := pick("a", "aten::add", "x9", `q"t`, "é", "a much longer name of a kernel<float, 4>(int)", "")
	pid, tid := pick("0", "9", "10", "p q"), pick("7", "-1", "123456", "t")
	start := rng.Int64N(5_000_000)
	if rng.IntN(4) == 0 {
		start += 3_924_272_799_580_000
	}
	dur := rng.Int64N(3000)
	ph := pick("X", "X", "X", "i", "s")
	number := func(text string) string {
		if _, err := strconv.Atoi(text); err == nil && rng.IntN(4) > 0 {
			return text
		}
		return strconv.Quote(text)
	}
	e := told{members: []string{`"ph":"` + ph + `"`, `"cat":"` + cat + `"`, `"name":` + strconv.Quote(name), `"pid":` + number(pid),
		`"tid":` + number(tid), `"ts":` + micros(rng, start)}}
	if ph == "X" {
		e.members = append(e.members, `"dur":`+micros(rng, dur))
	} else {
		dur = 0
	}
	rank := []string{"stream", "bytes", "Input Dims", "odd", "correlation", "External id"}
	ids := map[string]string{}
	for i := range 1 + rng.IntN(len(rank)) {
		key := rank[(i*(1+4*(layout%2)))%len(rank)]
		v := argValues[key][rng.IntN(len(argValues[key]))]
		e.args = append(e.args, strconv.Quote(key)+":"+v.text)
		if key == "correlation" || key == "External id" {
			ids[key] = v.want
		} else {
			e.rowArgs = append(e.rowArgs, v.want)
		}
	}
	if ph == "s" {
		id := rng.IntN(20)
		e.members = append(e.members, fmt.Sprintf(`"id":%d`, id))
		ids["correlation"] = ""
		if id != 0 {
			ids["correlation"] = fmt.Sprint("corr=", id)
		}
	}
	e.row = []string{fmt.Sprintf("%s %s %q %s/%s %d+%d", ph, cat, name, pid, tid, start, dur)}
	for _, key := range []string{"correlation", "External id"} {
		if ids[key] != "" {
			e.row = append(e.row, ids[key])
		}
	}
	if layout/2%2 == 1 {
		slices.Reverse(e.members)
	}
	return e
}

// micros writes a time in one of the ways there are.
func micros(rng *rand.Rand, ns int64) string {
	text := fmt.Sprintf("%d.%03d", ns/1000, ns%1000)
	switch rng.IntN(6) {
	case 0:
		return strings.TrimRight(strings.TrimRight(text, "0"), ".")
	case 1:
		return `"` + text + `"`
	case 2:
		return text + "000"
	}
	return text
}

// TestReadAsWritten: drawn events, of few layouts so that what is learned of some is used for others, are
// read as what they were written of, however they are laid out.
func TestReadAsWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for round := range 120 {
		space, line := []string{"", " ", "\n\t"}[round%3], []string{",", ", ", ",\n  "}[round/3%3]
		var texts, rows []string
		for range 60 {
			e := tell(rng, rng.IntN(4))
			members := slices.Clone(e.members)
			args := `"args":` + space + "{" + strings.Join(e.args, ","+space) + "}"
			members = slices.Insert(members, rng.IntN(2)*len(members), args)
			texts = append(texts, "{"+space+strings.Join(members, ","+space)+space+"}")
			rows = append(rows, strings.Join(append(e.row, e.rowArgs...), " "))
		}
		text := "[" + strings.Join(texts, line) + "]"
		got := sortedLines(strings.TrimSuffix(dump(readOne(t, text)), "\n"))
		want := sortedLines(strings.Join(rows, "\n"))
		for i := range want {
			if i >= len(got) || got[i] != want[i] {
				t.Fatalf("round %d: %q, want %q", round, got[min(i, len(got)-1)], want[i])
			}
		}
	}
}

func sortedLines(text string) []string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return lines
}
