package reference_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gaprof/gaprof/reference/cpu"
	"github.com/gaprof/gaprof/reference/device"
)

// diary is a backend whose devices write down what the host does besides, by rank, and
// do not sleep.
type diary struct {
	cpu.Backend
	ranks [][]string
}

func (b *diary) Open(c device.Config) ([]device.Member, error) {
	members, err := b.Backend.Open(c)
	b.ranks = make([][]string, len(members))
	for i := range members {
		members[i].Device = &diaryDevice{members[i].Device, &b.ranks[i]}
	}
	return members, err
}

type diaryDevice struct {
	device.Device
	lines *[]string
}

func (d *diaryDevice) add(line string) { *d.lines = append(*d.lines, line) }

func (d *diaryDevice) Sleep(t time.Duration) {
	if t > 0 {
		d.add(fmt.Sprint(t))
	}
}

func (d *diaryDevice) EmptyCache() {
	d.add("empty cache")
	d.Device.EmptyCache()
}

func (d *diaryDevice) StreamSynchronize(s device.Stream) {
	d.add("wait")
	d.Device.StreamSynchronize(s)
}

func (d *diaryDevice) Launch(s device.Stream, k device.Kernel) {
	if k.Op() == "aten::cross_entropy_loss" {
		d.add("loss")
	}
	d.Device.Launch(s, k)
}

// The host sleeps and waits where the options say so, on the ranks that they name. A run
// ends with the weights being read: the last wait.
func TestHostDelays(t *testing.T) {
	for options, want := range map[string][2]string{
		"": {"loss loss loss loss", "loss loss loss loss"},
		"loader-delay=3ms": {"3ms 3ms loss loss 3ms 3ms loss loss",
			"3ms 3ms loss loss 3ms 3ms loss loss"},
		"loader-delay=1=3ms host-delay=0=5ms": {"loss loss 5ms loss loss 5ms", "3ms 3ms loss loss 3ms 3ms loss loss"},
		"read-loss=step":                      {"loss loss wait loss loss wait", "loss loss wait loss loss wait"},
		"read-loss=micro-batch": {"loss wait loss wait loss wait loss wait",
			"loss wait loss wait loss wait loss wait"},
		"empty-cache=true host-delay=1=1s": {"loss loss empty cache loss loss empty cache",
			"loss loss empty cache 1s loss loss empty cache 1s"},
	} {
		b := &diary{}
		train(t, small(t, append(strings.Fields(options), "global-batch-size=8")...), nil, b)
		for rank, lines := range b.ranks {
			if got := strings.Join(lines, " "); got != want[rank]+" wait" {
				t.Errorf("%s: rank %d: %s, want %s", options, rank, got, want[rank])
			}
		}
	}
}

// Every kernel that the loop launches is delayed, and only on the rank that is named.
func TestLaunchDelay(t *testing.T) {
	b := &diary{}
	train(t, small(t, "launch-delay=1=7us"), nil, b)
	slow := 0
	for _, line := range b.ranks[1] {
		if line == "7µs" {
			slow++
		}
	}
	if slow < 100 || slices.Contains(b.ranks[0], "7µs") {
		t.Errorf("%d delays of rank 1, rank 0: %v", slow, b.ranks[0])
	}
}

// What the host does is in the trace as PyTorch would have it.
func TestHostSpans(t *testing.T) {
	o := small(t, "read-loss=step", "empty-cache=true", "world-size=1", "global-batch-size=4")
	r := record(t, o)[0]
	count := make(map[string]int)
	for _, s := range r.spans {
		count[s.Name]++
	}
	for _, h := range r.hosts {
		count[h.Name]++
	}
	loader := "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
	if steps := o.MaxSteps; count[loader] != 2*steps || count["aten::item"] != steps ||
		count["aten::_local_scalar_dense"] != steps || count["cudaFree"] != steps || count["cudaMalloc"] == 0 {
		t.Errorf("%v", count)
	}
}
