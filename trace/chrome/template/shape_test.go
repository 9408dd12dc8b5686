package template

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// TestPatternBetween: a text stands between any others, and not where one bit of it is
// another.
func TestPatternBetween(t *testing.T) {
	for n := 1; n <= MaxField; n++ {
		text := strings.Repeat("abcdefghijklmnopqrstuvwxyz", 6)[:n]
		p := newPattern(text)
		b := []byte("###" + text + strings.Repeat("#", ends))
		if !p.Stands(b, 3) {
			t.Errorf("%d bytes do not stand between others", n)
		}
		for bit := range 8 * n {
			if b[3+bit/8] ^= 1 << (bit % 8); p.Stands(b, 3) {
				t.Errorf("%d bytes stand in spite of bit %d", n, bit)
			}
			b[3+bit/8] ^= 1 << (bit % 8)
		}
		if whole := append([]byte(text), make([]byte, max(ends-n, 0))...); !p.Stands(whole, 0) {
			t.Errorf("%d bytes do not stand at the end", n)
		}
	}
}

// TestGapBits: every bit of a gap counts, and of the brace behind it; one of eight bytes has no room
// for the brace and is not learned.
func TestGapBits(t *testing.T) {
	for n := 1; n <= 9; n++ {
		b := padded("}" + ",      \n      "[:n] + "{")
		var g Gap
		g.Learn(b, 1, 1+n)
		if n > 7 {
			if g.Stands(b, 1) {
				t.Errorf("%d bytes are learned", n)
			}
			continue
		}
		if !g.Stands(b, 1) || g.Len() != n {
			t.Errorf("%d bytes do not stand, or as %d", n, g.Len())
		}
		for bit := range 8 * (n + 1) {
			if b[1+bit/8] ^= 1 << (bit % 8); g.Stands(b, 1) {
				t.Errorf("%d bytes stand in spite of bit %d", n, bit)
			}
			b[1+bit/8] ^= 1 << (bit % 8)
		}
		if copy(b[n+2:], "########"); !g.Stands(b, 1) {
			t.Errorf("%d bytes do not stand where something follows", n)
		}
	}
}

// TestWays: as many fields as there are ways are known to follow another, in any order; one
// more takes the place of the oldest.
func TestWays(t *testing.T) {
	var table Table
	table.Forget(0)
	at := table.Learn(table.Opening, &Field{Goal: OwnValue}, "x", 0)
	var fields []*Field
	for k := range ways + 1 {
		fields = append(fields, table.Learn(at, &Field{Goal: OwnValue}, fmt.Sprint(k), 1))
		for j := max(0, k+1-ways); j <= k; j++ {
			if b := padded(fmt.Sprint(j)); at.Follow(b, 0) != fields[j] || at.Usual() != fields[j] || at.Follow(b,
				0) != fields[j] {
				t.Fatalf("of %d fields number %d is not found", k+1, j)
			}
		}
		for j := range k + 1 { // back to the order in which they were learned
			if k < ways {
				at.next[j] = fields[j]
			}
		}
	}
	if at.Follow(padded("0"), 0) != nil {
		t.Error("the oldest one is still known")
	}
	if at.Follow(padded("#"), 0) != nil || table.Len() != ways+2 {
		t.Errorf("%d fields", table.Len())
	}
}

// TestSteady: which values are learned with the bytes around them.
func TestSteady(t *testing.T) {
	steady := map[Key]bool{KeyPh: true, KeyCat: true, KeyPid: true, KeyTid: true}
	for k := NoKey; k <= KeyArgs; k++ {
		if k.IsSteady() != steady[k] {
			t.Errorf("key %d: %v", k, k.IsSteady())
		}
	}
	for _, name := range []string{"device", "context", "stream", "queued", "cbid", "Record function id"} {
		if !IsSteadyArg([]byte(name)) {
			t.Errorf("%s varies", name)
		}
	}
	for _, name := range []string{"correlation", "External id", "Ev Idx", "bytes", ""} {
		if IsSteadyArg([]byte(name)) {
			t.Errorf("%s does not vary", name)
		}
	}
	for want, f := range map[Kind]*Field{
		StartValue: {Goal: OwnValue, Key: KeyTs}, DurValue: {Goal: OwnValue, Key: KeyDur},
		NameValue: {Goal: OwnValue, Key: KeyName}, IDValue: {Goal: OwnValue, Key: KeyID},
		NoValue: {Goal: OwnValue, Key: KeyArgs}, EndValue: {Goal: TheEnd},
		CorrValue:     {Goal: ArgValue, Keep: true, ArgKey: trace.KeyCorrelation},
		ExternalValue: {Goal: ArgValue, Keep: true, ArgKey: trace.KeyExternalID},
		OtherValue:    {Goal: ArgValue, Keep: true, ArgKey: trace.KeyBytes},
	} {
		if got := f.kind(); got != want {
			t.Errorf("kind %d, want %d", got, want)
		}
	}
	for _, f := range []*Field{{Goal: OwnValue}, {Goal: ArgValue}, {Goal: ArgValue, ArgKey: trace.KeyCorrelation},
		{Goal: ArgValue, ArgKey: trace.KeyExternalID}, {Goal: OwnValue, Keep: true, ArgKey: trace.KeyExternalID}} {
		if f.kind() != OtherValue {
			t.Errorf("%+v is of kind %d", f, f.kind())
		}
	}
	if (&Field{}).kind() != NoValue {
		t.Error("an opening has a value")
	}
}
