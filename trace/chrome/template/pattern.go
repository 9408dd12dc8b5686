package template

import "github.com/gaprof/gaprof/trace/chrome/scan"

// pattern is a text that is looked for, with its first and its last bytes as words:
// comparisons that always run beat a loop that ends now here, now there.
type pattern struct {
	text       string
	head, mask [3]uint64 // of the first 24 bytes, zero behind the end
	tail       [3]uint64 // the last 24 bytes of a longer text
}

// ends is how many bytes of either end stand in words.
const ends = 24

func newPattern(text string) pattern {
	p := pattern{text: text, head: words(text)}
	for i := range p.mask {
		p.mask[i] = 1<<(8*uint(max(len(text)-8*i, 0))) - 1
	}
	if len(text) > ends {
		p.tail = words(text[len(text)-ends:])
	}
	return p
}

// Len is the length of the text in bytes.
func (p *pattern) Len() int { return len(p.text) }

// words returns the first bytes of text.
func words(text string) (w [3]uint64) {
	var b [ends]byte
	copy(b[:], text)
	for i := range w {
		w[i] = scan.Load(b[:], 8*i)
	}
	return w
}

// Stands reports whether the text stands at i, before the last bytes of the padding.
func (p *pattern) Stands(b []byte, i int) bool {
	head := b[i : i+ends]
	if (scan.Load(head, 0)^p.head[0])&p.mask[0]|
		(scan.Load(head, 8)^p.head[1])&p.mask[1]|
		(scan.Load(head, 16)^p.head[2])&p.mask[2] != 0 {
		return false
	}
	return len(p.text) <= ends || p.endStands(b, i)
}

// endStands reports whether what follows the head of a longer text stands there.
func (p *pattern) endStands(b []byte, i int) bool {
	end := i + len(p.text)
	if end > len(b) {
		return false
	}
	tail := b[end-ends : end]
	if (scan.Load(tail, 0)^p.tail[0])|(scan.Load(tail, 8)^p.tail[1])|(scan.Load(tail, 16)^p.tail[2]) != 0 {
		return false
	}
	return len(p.text) <= 2*ends || string(b[i+ends:end-ends]) == p.text[ends:len(p.text)-ends]
}
