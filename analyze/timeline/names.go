package timeline

import (
	"strings"

	"github.com/gaprof/gaprof/internal/parallel"
	"github.com/gaprof/gaprof/trace"
)

// Class is what a name says of an event; a name may be in several classes.
type Class uint32

// The classes of names.
const (
	OptimizerStep    Class = 1 << iota // Optimizer.step#NAME
	ZeroGrad                           // Optimizer.zero_grad#NAME
	ProfilerStep                       // ProfilerStep#N
	AccumulateGrad                     // torch::autograd::AccumulateGrad
	EvaluateFunction                   // autograd::engine::evaluate_function: X
	BackwardNode                       // any other name of a backward node
	Framework                          // FSDP or DDP spans
	Reducer                            // the part of them that handles gradients
	Compiled                           // regions and calls of compiled code
	CollectiveSpan                     // nccl:*, record_param_comms
	Communication                      // a device kernel that communicates
	TokenNote                          // gaprof.tokens=N
	AddInPlace                         // aten::add_
	AtenOp                             // aten::*
	FSDP2                              // FSDP::*
	FusedOptimizer                     // the kernels of a fused optimizer

	operator = AtenOp | AddInPlace
)

// names holds the class and the collective kind of every distinct name of a trace,
// so that each text is looked at once.
type names struct {
	class []Class
	kind  []CollectiveKind
	all   Class // of any name
}

func classifyNames(t *trace.Trace) *names {
	n := &names{class: make([]Class, t.NumStrings()), kind: make([]CollectiveKind, t.NumStrings())}
	half := len(n.class) / 2
	parallel.Both(func() { n.classify(t, 0, half) }, func() { n.classify(t, half, len(n.class)) })
	for _, class := range n.class {
		n.all |= class
	}
	return n
}

func (n *names) classify(t *trace.Trace, from, to int) {
	for i := from; i < to; i++ {
		s := t.String(trace.StringID(i))
		n.class[i] = classOf(s)
		if k, ok := kernelKind(s); ok {
			n.class[i] |= Communication
			n.kind[i] = k
		}
	}
}

type prefixClass struct {
	prefix string
	class  Class
}

// prefixClasses lists the beginnings of names that PyTorch and its libraries
// give to their spans.
var prefixClasses = []prefixClass{
	{"Optimizer.step#", OptimizerStep},
	{"Optimizer.zero_grad#", ZeroGrad},
	{"ProfilerStep#", ProfilerStep},
	{"ProfilerStep", ProfilerStep},
	{"torch::autograd::AccumulateGrad", AccumulateGrad},
	{"autograd::engine::evaluate_function:", EvaluateFunction},
	{"FSDP", Framework},
	{"DistributedDataParallel", Framework},
	{"torch.distributed.ddp", Framework | Reducer},
	{"torch::distributed::reducer", Framework | Reducer},
	{"FSDP::post_backward", Reducer},
	{"Torch-Compiled Region", Compiled},
	{"## Call CompiledFxGraph", Compiled},
	{"CompiledFunction", Compiled},
	{"TorchDynamo Cache Lookup", Compiled},
	{"nccl:", CollectiveSpan},
	{"rccl:", CollectiveSpan},
	{"gloo:", CollectiveSpan},
	{"mpi:", CollectiveSpan},
	{"record_param_comms", CollectiveSpan},
	{"c10d::", CollectiveSpan},
	{"aten::", AtenOp},
	{"aten::add_", AddInPlace},
	{"FSDP::", FSDP2},
	{"aten::_fused_adam", FusedOptimizer},
	{"aten::_fused_sgd", FusedOptimizer},
	{TokenNotePrefix, TokenNote},
}

// TokenNotePrefix begins the annotations that carry token counts.
const TokenNotePrefix = "gaprof.tokens="

// prefixesOf are the prefixClasses that begin with a byte.
var prefixesOf = func() (of [256][]prefixClass) {
	for _, p := range prefixClasses {
		of[p.prefix[0]] = append(of[p.prefix[0]], p)
	}
	return of
}()

func classOf(name string) Class {
	if name == "" {
		return 0
	}
	var c Class
	for _, p := range prefixesOf[name[0]] {
		if strings.HasPrefix(name, p.prefix) {
			c |= p.class
		}
	}
	if c == EvaluateFunction && strings.HasSuffix(name, "AccumulateGrad") {
		return EvaluateFunction | AccumulateGrad
	}
	if c == 0 && (strings.HasSuffix(name, "Backward") || strings.HasSuffix(name, "Backward0")) {
		return BackwardNode
	}
	return c
}

// OptimizerName is the class in "Optimizer.step#Class.step".
func OptimizerName(span string) string {
	name := strings.TrimPrefix(span, "Optimizer.step#")
	return strings.TrimSuffix(name, ".step")
}

// NodeName is X in "autograd::engine::evaluate_function: X".
func NodeName(span string) string {
	_, name, _ := strings.Cut(span, ": ")
	return name
}
