package ranks

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gaprof/gaprof/internal/tracegen"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// generated is the ranks of a made-up run.
func generated(t testing.TB, ranks, steps int, noSeq bool) []Source {
	t.Helper()
	dir := t.TempDir()
	var list []Source
	for rank := range ranks {
		var text bytes.Buffer
		o := tracegen.Options{Steps: steps, Rank: rank, WorldSize: ranks, NoSeq: noSeq}
		if err := tracegen.Write(&text, o); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, fmt.Sprintf("rank%d.json", rank))
		if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		traces, err := tracefile.Read(file, tracefile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, sourcesOf(t, traces...)...)
	}
	return list
}

// In a made-up run every collective is waited for 20 us longer than the schedule has
// it, and no rank stands out.
func TestGeneratedRanks(t *testing.T) {
	for _, noSeq := range []bool{false, true} {
		r := Match(generated(t, 64, 2, noSeq), Options{})
		g := r.Groups[0]
		if len(r.Groups) != 1 || g.Status != Matched || g.NoFigures != "" ||
			len(g.Collectives) != g.Count[0] || g.Impossible > 0 {
			t.Fatalf("no Seq %v: %s", noSeq, print(r))
		}
		wait, most := int64(0), int64(20_000*len(g.Collectives))
		for _, f := range r.Figures {
			wait += f.Wait
			if f.Wait < 0 || f.Wait > most {
				t.Errorf("a rank waits %d of at most %d", f.Wait, most)
			}
		}
		if mean := wait / 64; mean < most*4/10 || mean > most*6/10 {
			t.Errorf("no Seq %v: the mean wait is %d of at most %d", noSeq, mean, most)
		}
	}
}

// Hundreds of groups whose members are not recorded, and thousands of collectives without a
// group, take no longer than others: comparing each with all takes minutes.
func TestManyGroups(t *testing.T) {
	const groups, others = 512, 4000
	calls := edit(reductions(groups+others, "", 9, 64, 0, 1), func(i int, c *call) {
		c.group, c.stream, c.unlinked = fmt.Sprint("pg", i), 9+i, false
		if i >= groups {
			c.stream, c.unlinked = 7, true
		}
	})
	sources := run(t, calls, moved(calls, 20))
	for _, s := range sources {
		for i := range s.Rank.Collectives {
			s.Rank.Collectives[i].Members = ""
		}
	}
	began := time.Now()
	r := Match(sources, Options{})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it takes %v", took)
	}
	if len(r.Groups) != groups+1 || r.Figures[0].Matched != groups+others {
		t.Errorf("%d groups, %d matched", len(r.Groups), r.Figures[0].Matched)
	}
}

// many is a run of so many ranks with 28 different collectives, again and again.
func many(b *testing.B, ranks, collectives int) []Source {
	calls := edit(reductions(collectives, "0", 9, 64, 0, 1), func(i int, c *call) { c.elems = 64 + i%28 })
	traces := run(b, calls, moved(calls, 20))
	var list []Source
	for i := range ranks {
		r := *traces[i%2].Rank
		list = append(list, Source{Rank: &r, ID: int64(i)})
		for m := range r.Collectives {
			r.Collectives[m].GroupSize = 0
		}
	}
	return list
}

// BenchmarkMatch: the time of one collective of one rank stays the same, however many
// ranks and collectives there are.
func BenchmarkMatch(b *testing.B) {
	for _, ranks := range []int{8, 64, 512} {
		for _, collectives := range []int{76, 760} {
			b.Run(fmt.Sprintf("ranks=%d/collectives=%d", ranks, collectives), func(b *testing.B) {
				sources := many(b, ranks, collectives)
				b.ResetTimer()
				for range b.N {
					r := Match(sources, Options{})
					if len(r.Groups) != 1 || len(r.Groups[0].Collectives) != collectives {
						b.Fatal(r.Groups[0].Reason)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*ranks*collectives), "ns/collective")
			})
		}
	}
}
