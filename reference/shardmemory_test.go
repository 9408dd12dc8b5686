package reference_test

import (
	"strings"
	"testing"

	"github.com/gaprof/gaprof/reference"
)

// peakOf is the most memory of rank 0 in a run of eight blocks beside which activations are
// small, in bytes.
func peakOf(t *testing.T, options string) int64 {
	o := small(t, "layers=8", "width=128", "heads=2", "sequence-length=4", "local-batch-size=1", "global-batch-size=-1",
		"dtype=float32", "max-steps=3")
	for word := range strings.FieldsSeq(options) {
		name, value, _ := strings.Cut(word, "=")
		if err := o.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	most, _ := record(t, o)[0].peak()
	return most
}

// TestShardMemory: what a rank holds at most, in blocks of 12 d^2 + 9 d elements, by arithmetic:
// its shards with two moments, what of their gradients is there, and whole blocks. That is most
// when backward has come to the second block, or, where blocks are kept, to the last but one.
func TestShardMemory(t *testing.T) {
	o := small(t, "width=128", "sequence-length=4")
	text, err := reference.NewText(o)
	if err != nil {
		t.Fatal(err)
	}
	const d, layers = 128, 8
	const block = 4 * (12*d*d + 9*d)
	root := 4 * float64((2*text.Vocabulary()+4+2)*d) / block // embeddings, head, the last norm
	all := layers + root
	const (
		parameters  = 1 // of the block
		gradients   = 1 // of the block
		ahead       = 1 // what the next block is gathered into
		reducing    = 1 // the gradients of the block before
		activations = 0.06
	)
	for _, c := range []struct {
		options string
		want    float64
	}{
		{"", 4 * all},
		{"world-size=1", 4 * all},
		{"sharding=full", 3*all/2 + 6./2 + parameters + gradients + ahead + reducing + 1.5*root},
		{"sharding=full world-size=4", 3*all/4 + 6./4 + parameters + gradients + ahead + reducing + 1.5*root},
		{"sharding=full world-size=4 replicas=2",
			3*all/2 + 6./2 + parameters + gradients + ahead + reducing + 1.5*root},
		{"sharding=full reshard-after-forward=false", 3*all/2 + 1./2 + 7*parameters + gradients + reducing + 1.5*root},
		// Gradients are kept whole until the last micro-batch, or as shards. A third of a block is the
		// gradient that is about to be added.
		{"sharding=full global-batch-size=4",
			3*all/2 + 1./2 + parameters + 7*gradients + 1./3 + ahead + reducing + 2*root},
		{"sharding=full global-batch-size=4 sync=every-micro-batch",
			3*all/2 + all/2 + parameters + gradients + ahead + reducing + 1.5*root},
	} {
		got := float64(peakOf(t, c.options)) / block
		if got < c.want || got > c.want+layers*activations {
			t.Errorf("%q: %.2f blocks at most, want %.2f and activations", c.options, got, c.want)
		}
	}
}

// TestCheckpointMemory: a block with a checkpoint saves its output only. What it saves without is
// besides that two norms and their figures, queries, keys, values, attention and its weights,
// two projections, the sum, and twice the MLP.
func TestCheckpointMemory(t *testing.T) {
	const d, heads, length, rows = 64, 2, 64, 2
	perBlock := func(checkpoint string) int64 {
		var most [2]int64
		for i, layers := range []string{"layers=2", "layers=6"} {
			o := small(t, layers, "width=64", "sequence-length=64", "world-size=1", "global-batch-size=-1",
				"dtype=float32", "activation-checkpoint="+checkpoint)
			most[i], _ = record(t, o)[0].peak()
		}
		return (most[1] - most[0]) / 4
	}
	const want = rows * length * 4 * (17*d + 4 + heads*length)
	if got := perBlock("") - perBlock("full"); got != want {
		t.Errorf("%d bytes of a block are not kept, want %d", got, want)
	}
	if got := 2 * (perBlock("") - perBlock("selective")); got != want {
		t.Errorf("of every second block %d bytes are not kept, want %d", got, want)
	}
}
