package facts

import (
	"strings"
	"sync"

	"github.com/gaprof/gaprof/trace"
)

// operand is one input of an operator: a tensor, or a list of them.
type operand struct {
	shapes [][]int64 // one for a tensor
	dtype  string    // as Input type prints it; "Scalar" for numbers, "TensorList" for lists
	list   bool
}

// scalar tells whether the operand is a number or a tensor without dimensions.
func (o operand) scalar() bool { return !o.list && len(o.shapes) == 1 && len(o.shapes[0]) == 0 }

// shapes reads the inputs of operators; equal texts are parsed once. Those who look at
// rows at the same time have one each, over the same texts.
type shapes struct {
	t      *trace.Trace
	texts  *parsedTexts
	recent [1024]inputs
}

// parsedTexts are the operands that texts say.
type parsedTexts struct {
	mu       sync.Mutex
	operands map[[2]trace.StringID][]operand
	words    map[trace.StringID][]string
}

// mostWords is how many lists of values are kept.
const mostWords = 1 << 13

// inputs are the operands of rows whose arguments stand at args.
type inputs struct {
	args uint32
	ops  []operand
}

func newShapes(t *trace.Trace) *shapes {
	return &shapes{t: t, texts: &parsedTexts{operands: make(map[[2]trace.StringID][]operand), words: make(map[trace.StringID][]string)}}
}

// apart is s for somebody else.
func (s *shapes) apart() *shapes { return &shapes{t: s.t, texts: s.texts} }

// inputs returns the operands of a row, nil where its shapes were not recorded.
func (s *shapes) inputs(row int32) []operand {
	args := s.t.Columns().Args[row]
	slot := &s.recent[args%uint32(len(s.recent))]
	if slot.args != args {
		*slot = inputs{args, s.parse(row)}
	}
	return slot.ops
}

// parse is inputs for a row whose arguments were not asked for lately.
func (s *shapes) parse(row int32) []operand {
	e := s.t.Event(int(row))
	dims, ok := e.Arg(trace.KeyInputDims)
	if !ok {
		return nil
	}
	types, _ := e.Arg(trace.KeyInputType)
	key := [2]trace.StringID{dims.Str, types.Str}
	s.texts.mu.Lock()
	defer s.texts.mu.Unlock()
	ops, ok := s.texts.operands[key]
	if !ok {
		ops = parseOperands(s.t.String(dims.Str), s.t.String(types.Str))
		s.texts.operands[key] = ops
	}
	return ops
}

// lately knows the arguments that were looked at lately, for whom: most rows share theirs
// with others, and equal references stand for equal arguments.
type lately struct {
	slots [1024]struct {
		args uint32
		of   string
	}
}

// again tells whether the arguments at args were looked at for the same before. It may
// say no where they were.
func (l *lately) again(args uint32, of string) bool {
	slot := &l.slots[args%uint32(len(l.slots))]
	if slot.args == args && slot.of == of {
		return true
	}
	slot.args, slot.of = args, of
	return false
}

// concrete returns the values of a row's operands where they are no tensors, as they
// were recorded; nil where they were not.
func (s *shapes) concrete(row int32) []string {
	a, ok := s.t.Event(int(row)).Arg(trace.KeyConcreteInputs)
	if !ok || a.Kind == trace.Int {
		return nil
	}
	s.texts.mu.Lock()
	defer s.texts.mu.Unlock()
	words, ok := s.texts.words[a.Str]
	if !ok {
		if len(s.texts.words) == mostWords {
			clear(s.texts.words)
		}
		words = quotedWords(s.t.String(a.Str))
		s.texts.words[a.Str] = words
	}
	return words
}

// parseOperands reads "[[768, 64], [], [[3], [4]]]" beside `["float", "Scalar",
// "TensorList"]`. What it cannot read ends the list.
func parseOperands(dims, types string) []operand {
	p := dimsParser{text: dims}
	if !p.eat('[') {
		return nil
	}
	names := quotedWords(types)
	var ops []operand
	for !p.eat(']') && p.i < len(p.text) {
		o, ok := p.operand()
		if !ok {
			return ops
		}
		if i := len(ops); i < len(names) {
			o.dtype = names[i]
		}
		ops = append(ops, o)
		p.eat(',')
	}
	return ops
}

// quotedWords returns the strings of a JSON list of strings without escapes.
func quotedWords(list string) []string {
	var words []string
	for {
		_, rest, ok := strings.Cut(list, `"`)
		if !ok {
			return words
		}
		word, after, ok := strings.Cut(rest, `"`)
		if !ok {
			return words
		}
		words, list = append(words, word), after
	}
}

// dimsParser reads nested lists of integers.
type dimsParser struct {
	text string
	i    int
}

func (p *dimsParser) space() {
	for p.i < len(p.text) && (p.text[p.i] == ' ' || p.text[p.i] == '\n' || p.text[p.i] == '\t' || p.text[p.i] == '\r') {
		p.i++
	}
}

func (p *dimsParser) eat(c byte) bool {
	p.space()
	if p.i < len(p.text) && p.text[p.i] == c {
		p.i++
		return true
	}
	return false
}

// operand reads a shape, or a list of shapes.
func (p *dimsParser) operand() (operand, bool) {
	if !p.eat('[') {
		return operand{}, false
	}
	p.space()
	if p.i < len(p.text) && p.text[p.i] == '[' {
		o := operand{list: true}
		for !p.eat(']') {
			if !p.eat('[') {
				return o, false
			}
			shape, ok := p.numbers()
			if !ok {
				return o, false
			}
			o.shapes = append(o.shapes, shape)
			p.eat(',')
		}
		return o, true
	}
	shape, ok := p.numbers()
	return operand{shapes: [][]int64{shape}}, ok
}

// numbers reads integers up to the closing bracket, whose opening one is read.
func (p *dimsParser) numbers() ([]int64, bool) {
	shape := []int64{}
	for {
		if p.eat(']') {
			return shape, true
		}
		n, digits := int64(0), 0
		for ; p.i < len(p.text) && p.text[p.i] >= '0' && p.text[p.i] <= '9' && digits < 18; p.i++ {
			n, digits = n*10+int64(p.text[p.i]-'0'), digits+1
		}
		if digits == 0 {
			return nil, false
		}
		shape = append(shape, n)
		p.eat(',')
	}
}

// numel is the number of elements of a shape; a shape without dimensions has one.
func numel(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	return n
}
