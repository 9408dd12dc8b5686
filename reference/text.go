package reference

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/gaprof/gaprof/reference/ops"
)

// The training text: Isaac Newton, "Opticks: or, A Treatise of the
// Reflections, Refractions, Inflections and Colours of Light", the fourth edition,
// corrected, London, William Innys, 1730: the first 150 kB, as plain ASCII, figures left
// out. Published in 1730, it is in the public domain.
//
//go:embed opticks.txt.gz
var packed []byte

// opticks unpacks the text, which is a part of the program.
func opticks() string {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Padding is the token that fills a row after its document; tokens below it are bytes.
const Padding = 256

// sentences are the documents. Their natural lengths make token counts ragged.
var sentences = sync.OnceValue(func() []string {
	var list []string
	for _, paragraph := range strings.Split(opticks(), "\n\n") {
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

// text is endless Data: micro-batches of sentences, each drawn by a generator seeded with
// the seed, the rank and the index, so that they do not depend on the order of calls.
type text struct {
	rows   int // of a micro-batch
	length int // of a row
	seed   int
	counts [][]int // valid tokens to produce, by rank and micro-batch; nil for natural lengths
}

// NewText returns the default data of a run: the bytes of sentences from Newton's
// Opticks, one per row, padded or truncated on the right. If the options give token
// counts, rows have exactly as many targets as those say. The data is endless.
func NewText(o Options) (Data, error) {
	p, err := o.plan()
	if err != nil {
		return nil, err
	}
	return text{p.LocalBatchSize, p.SequenceLength, p.Seed, p.counts}, nil
}

// Vocabulary returns 257: all bytes, and Padding.
func (d text) Vocabulary() int { return Padding + 1 }

// Len returns Endless.
func (d text) Len(int) int { return Endless }

// Batch returns micro-batch i of a rank.
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

// Valid counts the targets of micro-batch i of a rank: a row has one for each token but the first.
func (d text) Valid(rank, i int) int {
	if d.counts != nil {
		return d.counts[rank][i%len(d.counts[rank])]
	}
	rng, n := rand.New(rand.NewPCG(uint64(d.seed), uint64(rank)<<40|uint64(i))), 0
	for range d.rows {
		document := sentences()[rng.IntN(len(sentences()))]
		n += min(len(document), d.length) - 1
	}
	return n
}

// exactly lengthens or truncates a document to what its row contributes to n targets:
// a row with k targets has k+1 tokens.
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

// fill writes a document into one row.
func fill(tokens, labels []int64, document string) {
	for t := range tokens {
		tokens[t], labels[t] = Padding, ops.IgnoreIndex
		if t < len(document) {
			tokens[t], labels[t] = int64(document[t]), int64(document[t])
		}
	}
}
