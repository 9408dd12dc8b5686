package timeline

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// kernelsOf names an event of each bucket but idle, in their order.
var kernelsOf = [IdleBucket]string{
	"0/7 %dus +%dus kernel gemm",
	"0/8 %dus +%dus gpu_memcpy \"Memcpy DtoD\"",
	"0/9 %dus +%dus kernel ncclDevKernel_ReduceScatter_Sum_f32_RING_LL",
	"0/10 %dus +%dus kernel ncclDevKernel_AllGather_RING_LL",
	"0/11 %dus +%dus kernel ncclDevKernel_AllReduce_Sum_f32_RING_LL",
	"0/12 %dus +%dus kernel ncclDevKernel_Broadcast_RING_LL",
}

// drawn is a trace and a ledger from a drawing: a line for each bucket in their order, a
// column for each microsecond, in which # says that something of the bucket runs.
func drawn(rows []string) (source string, want Ledger) {
	var b strings.Builder
	length := len(rows[0])
	for bucket, row := range rows {
		for at := 0; at < length; at++ {
			if row[at] != '#' {
				continue
			}
			end := at
			for end < length && row[end] == '#' {
				end++
			}
			fmt.Fprintf(&b, kernelsOf[bucket]+"\n", at, end-at)
			at = end
		}
	}
	for at := range length {
		first := IdleBucket
		for bucket := range rows {
			if rows[bucket][at] == '#' {
				first = Bucket(bucket)
				break
			}
		}
		want[first] += 1000
	}
	return b.String(), want
}

func ledgerOf(t *testing.T, rows []string) {
	t.Helper()
	source, want := drawn(rows)
	busy := only(t, source).Devices[0].Busy
	got := busy.Ledger(0, int64(len(rows[0]))*1000)
	if got != want {
		t.Errorf("%s\nis %v, want %v", strings.Join(rows, "\n"), got, want)
	}
	for bucket, row := range rows {
		if n := int64(strings.Count(row, "#")) * 1000; busy.Each[bucket].Len() != n {
			t.Errorf("%v runs %d ns, want %d", Bucket(bucket), busy.Each[bucket].Len(), n)
		}
	}
}

// TestLedger: of all that runs at an instant the first bucket gets it, above all where
// communication of several kinds is exposed at once.
func TestLedger(t *testing.T) {
	for _, rows := range [][]string{
		{
			"######....................",
			"....####..................",
			"......####................",
			"........####..............",
			"..........####............",
			"............####..........",
		},
		{ // two kinds at once, one inside the other, and both ways
			"..........................",
			"..........................",
			"...#####...............##.",
			".#########....########....",
			"..............######......",
			"....................######",
		},
		{ // all at once
			"...#......................",
			"...##.....................",
			"...###....................",
			"...####...................",
			"...#####..................",
			"...######.................",
		},
	} {
		ledgerOf(t, rows)
	}
}

// TestRandomLedgers: the same for random drawings, by looking at every microsecond.
func TestRandomLedgers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		rows := make([]string, IdleBucket)
		for i := range rows {
			line := []byte(strings.Repeat(".", 40))
			for range r.IntN(4) {
				at := r.IntN(len(line))
				for k := at; k < min(len(line), at+1+r.IntN(12)); k++ {
					line[k] = '#'
				}
			}
			rows[i] = string(line)
		}
		if strings.Contains(strings.Join(rows, ""), "#") {
			ledgerOf(t, rows)
		}
	}
}

// TestWithout: what remains of a set where no earlier bucket runs, and the set itself for
// the first one.
func TestWithout(t *testing.T) {
	source, _ := drawn([]string{"##........", "..##......", "#######...", "....##....", "..........", ".........."})
	busy := only(t, source).Devices[0].Busy
	all := busy.Each[ReduceScatterBucket]
	for bucket, want := range map[Bucket]int64{
		ComputeBucket: 7000, MemoryBucket: 5000, ReduceScatterBucket: 3000, AllGatherBucket: 0, AllReduceBucket: 0,
	} {
		if got := busy.Without(all, bucket).Len(); got != want {
			t.Errorf("without what comes before %v: %d, want %d", bucket, got, want)
		}
	}
}

func TestBucketOf(t *testing.T) {
	for kind, want := range map[CollectiveKind]Bucket{
		ReduceScatter: ReduceScatterBucket, AllGather: AllGatherBucket, AllReduce: AllReduceBucket,
		Broadcast: OtherCommBucket, Reduce: OtherCommBucket, AllToAll: OtherCommBucket, SendRecv: OtherCommBucket,
	} {
		if got := BucketOf(kind); got != want {
			t.Errorf("%v: %v, want %v", kind, got, want)
		}
	}
}
