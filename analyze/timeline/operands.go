package timeline

import (
	"strings"
	"sync"

	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/trace"
)

// Operand is one input of an operator: a tensor, a number, or a list of tensors.
type Operand struct {
	Shapes [][]int64 // elements by dimension: one shape for a tensor, one per tensor for a list
	Dtype  string    // as Input type prints it; "Scalar" for numbers, "TensorList" for lists; "" unknown
	List   bool      // a list of tensors
}

// Scalar reports whether the operand is a number or a tensor without dimensions.
func (o Operand) Scalar() bool { return !o.List && len(o.Shapes) == 1 && len(o.Shapes[0]) == 0 }

// Operands reads the inputs of operators; see [Rows.Inputs]. It is for one goroutine.
//
// Kineto writes shapes as text ("[[768, 64], []]"), and the same few texts come back in
// every micro-batch. Two caches keep parsing off the hot path: one of texts, shared by all
// readers of a trace, and in each reader a small one of recent rows, which needs no lock.
// What a reader returns is shared with the other readers and must not be written to.
type Operands struct {
	t      *trace.Trace
	texts  *parsedTexts
	recent [1024]inputs // direct-mapped, by the reference to a row's arguments
}

// parsedTexts is the cache of parsed texts of a trace.
type parsedTexts struct {
	mu       sync.Mutex
	operands map[[2]trace.StringID][]Operand
	values   map[trace.StringID][]string

	impossible int    // texts with a shape that no tensor has
	least      string // of them, the first by its letters
}

func newParsedTexts() *parsedTexts {
	return &parsedTexts{operands: make(map[[2]trace.StringID][]Operand), values: make(map[trace.StringID][]string)}
}

// mostValues bounds the cache of lists of values. Unlike shapes, values (learning rates,
// sizes) may be different in every row, so that cache is emptied when it is full.
const mostValues = 1 << 13

// inputs are the operands of the rows whose arguments stand at args, as in [trace.Columns].
type inputs struct {
	args uint32
	ops  []Operand
}

// Of returns the operands of a row, nil if its shapes were not recorded. Rows with equal
// texts get the same slice, so a pointer to the first operand can serve as a key.
func (s *Operands) Of(row int32) []Operand {
	args := s.t.Columns().Args[row]
	slot := &s.recent[args%uint32(len(s.recent))]
	if slot.args != args {
		*slot = inputs{args, s.parse(row)}
	}
	return slot.ops
}

// parse is Of for a row that the reader does not have in its own cache.
func (s *Operands) parse(row int32) []Operand {
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
		text := s.t.String(dims.Str)
		if ops = parseOperands(text, s.t.String(types.Str)); impossible(ops) {
			s.texts.note(text)
			ops = nil
		}
		s.texts.operands[key] = ops
	}
	return ops
}

// note counts a text with an impossible shape.
func (p *parsedTexts) note(text string) {
	if p.impossible++; p.impossible == 1 || text < p.least {
		p.least = text
	}
}

// ImpossibleShapes is how many texts of shapes were looked at so far that are those of no
// tensor, because they have more than MostElements elements, and one of them. What has them
// counts as recorded without shapes.
func (x *Rows) ImpossibleShapes() (n int, one string) {
	x.texts.mu.Lock()
	defer x.texts.mu.Unlock()
	return x.texts.impossible, x.texts.least
}

// Values returns the recorded values of a row's operands as text, by operand, "" for
// tensors; nil if values were not recorded. The slice is shared and read-only.
func (s *Operands) Values(row int32) []string {
	a, ok := s.t.Event(int(row)).Arg(trace.KeyConcreteInputs)
	if !ok || a.Kind == trace.Int {
		return nil
	}
	s.texts.mu.Lock()
	defer s.texts.mu.Unlock()
	values, ok := s.texts.values[a.Str]
	if !ok {
		if len(s.texts.values) == mostValues {
			clear(s.texts.values)
		}
		values = quotedWords(s.t.String(a.Str))
		s.texts.values[a.Str] = values
	}
	return values
}

// SeenArgs remembers which arguments were examined recently, and for whom. Most rows share
// their arguments with earlier rows, and equal references stand for equal arguments, so
// comparing references saves reading them again. The zero value is ready for use.
type SeenArgs struct {
	slots [1024]struct {
		args uint32
		of   string
	}
}

// Again reports whether the arguments at args, as in [trace.Columns], were examined with
// the same of before. It forgets, so it may report false for arguments that were.
func (l *SeenArgs) Again(args uint32, of string) bool {
	slot := &l.slots[args%uint32(len(l.slots))]
	if slot.args == args && slot.of == of {
		return true
	}
	slot.args, slot.of = args, of
	return false
}

// parseOperands reads dims such as "[[768, 64], [], [[3], [4]]]" together with types such
// as `["float", "Scalar", "TensorList"]`. It stops at the first operand that it cannot
// read and returns those before it: a trace may be cut off anywhere.
func parseOperands(dims, types string) []Operand {
	p := dimsParser{text: dims}
	if !p.eat('[') {
		return nil
	}
	names := quotedWords(types)
	var ops []Operand
	for !p.eat(']') && p.i < len(p.text) {
		o, ok := p.operand()
		if !ok {
			return ops
		}
		if i := len(ops); i < len(names) {
			o.Dtype = names[i]
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

// dimsParser reads nested lists of integers. encoding/json would do for intact texts, but
// it returns nothing at all where one is cut off, and here speed counts.
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
func (p *dimsParser) operand() (Operand, bool) {
	if !p.eat('[') {
		return Operand{}, false
	}
	p.space()
	if p.i < len(p.text) && p.text[p.i] == '[' {
		o := Operand{List: true}
		for !p.eat(']') {
			if !p.eat('[') {
				return o, false
			}
			shape, ok := p.numbers()
			if !ok {
				return o, false
			}
			o.Shapes = append(o.Shapes, shape)
			p.eat(',')
		}
		return o, true
	}
	shape, ok := p.numbers()
	return Operand{Shapes: [][]int64{shape}}, ok
}

// numbers reads the integers of a shape up to its closing bracket. A number has at most 18
// digits, which always fit an int64.
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

// MostElements is how many elements a tensor, or a message, has at most: a million million,
// hundreds of times what fits into one device. What claims more is unknown.
const MostElements = 1 << 40

// impossible reports whether any shape has more elements than a tensor has.
func impossible(ops []Operand) bool {
	for i := range ops {
		for _, shape := range ops[i].Shapes {
			if Numel(shape) > MostElements {
				return true
			}
		}
	}
	return false
}

// NumelOfAll returns the number of elements of some shapes together, math.MaxInt64 where
// there are more.
func NumelOfAll(shapes [][]int64) int64 {
	n := int64(0)
	for _, s := range shapes {
		n = bounded.Add(n, Numel(s))
	}
	return n
}

// Numel returns the number of elements of a shape, math.MaxInt64 where there are more; a
// shape without dimensions has one.
func Numel(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		n = bounded.Mul(n, d)
	}
	return n
}
