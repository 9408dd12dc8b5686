package device

// Log feeds a Recorder with what the dispatch thread of a rank does, and assigns the
// numbers that link events. It is shared by backends that run on a real host (cpu, cuda).
// With a nil Recorder it does nothing.
type Log struct {
	To    Recorder     // nil records nothing
	Clock func() int64 // monotonic, ns since the Unix epoch; required unless To is nil

	correlation, external int64
	open                  []int64 // external ids of open ranges, innermost last
}

func nothing() {}

// On reports whether anything is recorded.
func (l *Log) On() bool { return l.To != nil }

// Now returns the time, or 0 if nothing is recorded.
func (l *Log) Now() int64 {
	if l.To == nil {
		return 0
	}
	return l.Clock()
}

// Next returns a new correlation id.
func (l *Log) Next() int64 {
	l.correlation++
	return l.correlation
}

// External returns the id of the innermost open range, or 0.
func (l *Log) External() int64 {
	if len(l.open) == 0 {
		return 0
	}
	return l.open[len(l.open)-1]
}

// Range opens a span. The function it returns closes and records it.
func (l *Log) Range(cat, name string, operands ...Operand) func() {
	if l.To == nil {
		return nothing
	}
	return l.span(Span{Cat: cat, Name: name, Operands: operands})
}

// Operator opens the span of the operator of a kernel.
func (l *Log) Operator(k Kernel) func() {
	if l.To == nil {
		return nothing
	}
	return l.span(Span{Cat: "cpu_op", Name: k.Op(), Operands: k.Operands()})
}

// Collective opens the spans that PyTorch records around a collective: the operator,
// record_param_comms with the message, and an annotation nccl:NAME.
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

// Call records a runtime call that began at start and ends now.
func (l *Log) Call(name string, start, correlation int64) {
	if l.To != nil {
		l.To.Host(HostEvent{Name: name, Start: start, End: l.Clock(), Correlation: correlation, External: l.External()})
	}
}
