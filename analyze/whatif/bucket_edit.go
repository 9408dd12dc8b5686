package whatif

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gaprof/gaprof/internal/units"
	"github.com/gaprof/gaprof/trace/graph"
)

// bucket merges small collectives.
var bucket = Edit{
	Name: "bucket", Arg: "SIZE",
	turn:  turnMerge,
	Title: "consecutive small all-reduces, or reduce-scatters, of one communicator are merged into buckets",
	How: "DistributedDataParallel(bucket_cap_mb=25, gradient_as_bucket_view=True); larger FSDP units; in a loop of " +
		"one's own one flat buffer per bucket, or the coalesced collectives",
	Limit: "a bucket starts when the last of its gradients is ready and takes what its size does; " +
		"filling it costs nothing",
	check: func(arg string) error { _, err := parseSize(arg); return err },
	refuse: func(w *World, arg string) string {
		b := bucketsOf(w.change(AsRecorded), arg)
		if len(b.lists) > 0 {
			return ""
		}
		return b.reason()
	},
	apply: func(c *Change, arg string) { putIntoBuckets(c, arg, asFitted) },
	doubts: []func(c *Change, arg string){
		func(c *Change, arg string) { putIntoBuckets(c, arg, dearer) },
		func(c *Change, arg string) { putIntoBuckets(c, arg, cheaper) },
	},
	fitted: func(w *World, arg string) string { return bucketsOf(w.change(AsRecorded), arg).fitted() },
}

// putIntoBuckets makes the buckets.
func putIntoBuckets(c *Change, arg string, doubt float64) {
	b := bucketsOf(c, arg)
	b.doubt = doubt
	for i := range b.lists {
		b.fill(&b.lists[i])
	}
	merge(c, b.merged, b.works)
}

// usualBucket is the cap of a bucket in DistributedDataParallel, in bytes.
const usualBucket = 25 << 20

// parseSize reads a size such as 25MB; "" is the usual one.
func parseSize(arg string) (int64, error) {
	if arg == "" {
		return usualBucket, nil
	}
	number := strings.TrimRight(arg, "kKMGiB")
	unit := map[string]float64{
		"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	}[arg[len(number):]]
	size, err := strconv.ParseFloat(number, 64)
	if err != nil || unit == 0 || !(size*unit >= 1 && size*unit <= 1<<50) {
		return 0, fmt.Errorf("%q is no size: write bucket=25MB", arg)
	}
	return int64(size * unit), nil
}

// fill sets what a bucket costs on each rank.
func (b *bucketing) fill(of *bucketList) {
	for _, list := range of.of {
		times, waits := make([]int64, len(list)), make([]int64, len(list))
		for k, n := range list {
			rank, own := b.rankOf(n)
			times[k], _ = transferOf(b.World, rank, int(b.Ranks[rank].Collective[own]))
			waits[k] = b.G.Work[n] - times[k]
		}
		sum, longest := total(times)
		work := of.line.merged(of.bytes, longest, sum, b.doubt)
		if len(b.Ranks) == 1 {
			work += b.waitForPeers(list, times, waits)
		}
		b.merged = append(b.merged, list)
		b.works = append(b.works, work)
	}
}

// waitForPeers makes a bucket of a single rank wait until the peers come to it, counted from when the first of its
// collectives begins. They came to the last one as that stopped waiting, and come sooner by what transfers before it
// took. Where the collectives have been moved, it returns how long the one waits that waits longest.
func (b *bucketing) waitForPeers(list []graph.Node, times, waits []int64) int64 {
	if b.late == InTime {
		return 0
	}
	if len(b.moved) > 0 {
		_, longest := total(waits)
		return max(0, longest)
	}
	last := len(list) - 1
	came := b.Seen.Start[list[last]] + max(0, waits[last]) - b.Seen.Start[list[0]]
	if waited := waits[last] > max(unexplained, times[last]/2); !waited || b.doubt != dearer {
		for k := range last {
			came -= times[k]
			came -= max(0, gapBefore(b.Change, list[k+1]))
		}
	}
	peers := b.G.Add(graph.None, 0)
	b.G.Connect(list[0], peers, graph.Launch, max(0, came))
	b.G.Join(list[last], peers)
	return 0
}

// reason says why there is no bucket.
func (b *bucketing) reason() string {
	switch {
	case b.reduces == 0:
		return "there is no all-reduce and no reduce-scatter on a device"
	case b.sized == 0:
		return "the sizes of all-reduces and reduce-scatters were not recorded"
	case b.small == 0:
		return fmt.Sprintf("no all-reduce or reduce-scatter is below %s", units.Bytes(b.limit))
	case len(b.whys) > 0:
		return "alpha and beta cannot be fitted: " + strings.Join(b.whys, "; ")
	}
	return fmt.Sprintf("no two all-reduces or reduce-scatters below %s follow each other on a communicator "+
		"before the first of them is used", units.Bytes(b.limit))
}

// fitted says what was fitted and from what, and how many collectives become how many.
func (b *bucketing) fitted() string {
	var texts []string
	seen := make(map[string]bool)
	from := 0
	for i := range b.lists {
		of := &b.lists[i]
		from += len(of.of[0])
		if text := of.name + ": " + of.line.String(); !seen[text] {
			seen[text] = true
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return ""
	}
	const most = 4
	if more := len(texts) - most; more > 0 {
		texts = append(texts[:most], fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s become %d; %s", units.Count(from, "collective"), len(b.lists), strings.Join(texts, "; "))
}
