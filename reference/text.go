package reference

import (
	_ "embed"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/gaprof/gaprof/reference/ops"
)

// The text that is trained on: Isaac Newton, "Opticks: or, A Treatise of the
// Reflections, Refractions, Inflections and Colours of Light", the fourth edition,
// corrected, London, William Innys, 1730: the first 150 kB, as plain ASCII, figures left
// out. Published in 1730, it is in the public domain.
//
//go:embed opticks.txt
var opticks string

// Padding is the token behind the end of a document; tokens below it are bytes.
const Padding = 256

// sentences are the documents: their natural lengths make token counts ragged.
var sentences = sync.OnceValue(func() []string {
	var list []string
	for _, paragraph := range strings.Split(opticks, "\n\n") {
		words := strings.Join(strings.Fields(paragraph), " ")
		for words != "" {
			var sentence string
			if sentence, words, _ = strings.Cut(words, ". "); len(sentence) > 1 {
				list = append(list, sentence+".")
			}
		}
	}
	return list
})

// text is micro-batches of sentences, drawn by seed, rank and place: without an end, and
// the same whoever asks.
type text struct {
	rows   int // of a micro-batch
	length int // of a row
	seed   int
	counts [][]int // valid tokens wanted, by rank and micro-batch; nil for natural lengths
}

// NewText returns the data that a run with these options trains on: bytes of sentences
// of Newton's Opticks, one a row, padded on the right, cut where a row ends; with token
// counts, rows of as many targets as they ask for. Data does not end.
func NewText(o Options) (Data, error) {
	p, err := o.plan()
	if err != nil {
		return nil, err
	}
	return text{p.LocalBatchSize, p.SequenceLength, p.Seed, p.counts}, nil
}

// Vocabulary is the bytes and the padding.
func (d text) Vocabulary() int { return Padding + 1 }

// Len is Endless.
func (d text) Len(int) int { return Endless }

// Batch draws one micro-batch.
func (d text) Batch(rank, i int) Batch {
	rng := rand.New(rand.NewPCG(uint64(d.seed), uint64(rank)<<40|uint64(i)))
	tokens, labels := make([]int64, d.rows*d.length), make([]int64, d.rows*d.length)
	for row := range d.rows {
		document := sentences()[rng.IntN(len(sentences()))]
		if d.counts != nil {
			document = d.exactly(document, d.counts[rank][i%len(d.counts[rank])], row, rng)
		}
		fill(tokens[row*d.length:(row+1)*d.length], labels[row*d.length:(row+1)*d.length], document)
	}
	return Batch{Tokens: tokens, Labels: labels, Targets: shift(labels, d.length)}
}

// exactly makes a document as long as its row's part of n targets wants it: a row of n
// targets has n+1 tokens.
func (d text) exactly(document string, n, row int, rng *rand.Rand) string {
	want := n / d.rows
	if row < n%d.rows {
		want++
	}
	if want == 0 {
		return ""
	}
	for len(document) <= want {
		document += " " + sentences()[rng.IntN(len(sentences()))]
	}
	return document[:want+1]
}

// fill writes one row.
func fill(tokens, labels []int64, document string) {
	for t := range tokens {
		tokens[t], labels[t] = Padding, ops.IgnoreIndex
		if t < len(document) {
			tokens[t], labels[t] = int64(document[t]), int64(document[t])
		}
	}
}
