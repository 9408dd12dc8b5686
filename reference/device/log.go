package device

// Log numbers what one rank's dispatch thread does and tells a Recorder about it;
// backends with a host of their own (cpu, cuda) share it. With a nil Recorder it does
// nothing.
type Log struct {
	To    Recorder     // nil records nothing
	Clock func() int64 // ns since the Unix epoch, monotonic; needed where To is not nil

	correlation, external int64
	open                  []int64 // external ids of open ranges
}

func nothing() {}

// On reports whether anything is recorded.
func (l *Log) On() bool { return l.To != nil }

// Now returns the time, 0 when nothing is recorded.
func (l *Log) Now() int64 {
	if l.To == nil {
		return 0
	}
	return l.Clock()
}

// Next returns the correlation of the next call.
func (l *Log) Next() int64 {
	l.correlation++
	return l.correlation
}

// External returns the number of the innermost open range, 0 for none.
func (l *Log) External() int64 {
	if len(l.open) == 0 {
		return 0
	}
	return l.open[len(l.open)-1]
}

// Range opens a span; the function that it returns ends and records it.
func (l *Log) Range(cat, name string, operands ...Operand) func() {
	if l.To == nil {
		return nothing
	}
	return l.span(Span{Cat: cat, Name: name, Operands: operands})
}

// Operator opens the span of a kernel's operator.
func (l *Log) Operator(k Kernel) func() {
	if l.To == nil {
		return nothing
	}
	return l.span(Span{Cat: "cpu_op", Name: k.Op(), Operands: k.Operands()})
}

// Collective opens the spans that PyTorch writes around a collective: the operator,
// record_param_comms with the message, and the annotation nccl:NAME.
func (l *Log) Collective(operator string, m *Message, operands ...Operand) func() {
	if l.To == nil {
		return nothing
	}
	outer := l.span(Span{Cat: "cpu_op", Name: operator, Operands: operands})
	params := l.span(Span{Cat: "cpu_op", Name: "record_param_comms", Operands: operands, Message: m})
	inner := l.span(Span{Cat: "user_annotation", Name: "nccl:" + m.Name})
	return func() {
		inner()
		params()
		outer()
	}
}

func (l *Log) span(s Span) func() {
	l.external++
	s.External = l.external
	s.Start = l.Clock()
	l.open = append(l.open, s.External)
	return func() {
		l.open = l.open[:len(l.open)-1]
		s.End = l.Clock()
		l.To.Span(s)
	}
}

// Call records a call of the runtime that began at start.
func (l *Log) Call(name string, start, correlation int64) {
	if l.To != nil {
		l.To.Host(HostEvent{Name: name, Start: start, End: l.Clock(), Correlation: correlation, External: l.External()})
	}
}
