package facts

import (
	"strings"

	"github.com/gaprof/gaprof/trace"
)

// nameClass is what a name says of an event; a name may be in several classes.
type nameClass uint32

const (
	optimizerStep  nameClass = 1 << iota // Optimizer.step#NAME
	zeroGrad                             // Optimizer.zero_grad#NAME
	profilerStep                         // ProfilerStep#N
	accumulate                           // torch::autograd::AccumulateGrad
	evaluate                             // autograd::engine::evaluate_function: X
	backwardNode                         // any other name of a backward node
	framework                            // FSDP or DDP spans
	reducer                              // the part of them that handles gradients
	compiled                             // regions and calls of compiled code
	collectiveSpan                       // nccl:*, record_param_comms
	communication                        // a device kernel that communicates
	tokenNote                            // gaprof.tokens=N
	addInPlace                           // aten::add_
	atenOp                               // aten::*
	fsdp2                                // FSDP::*
	fused                                // the kernels of a fused optimizer

	operator = atenOp | addInPlace
)

// names holds the class and the collective kind of every distinct name of a trace,
// so that each text is looked at once.
type names struct {
	class []nameClass
	kind  []Collective
	all   nameClass // of any name
}

func classifyNames(t *trace.Trace) *names {
	n := &names{class: make([]nameClass, t.NumStrings()), kind: make([]Collective, t.NumStrings())}
	half := len(n.class) / 2
	both(func() { n.classify(t, 0, half) }, func() { n.classify(t, half, len(n.class)) })
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
			n.class[i] |= communication
			n.kind[i] = k
		}
	}
}

func (n *names) is(id trace.StringID, c nameClass) bool { return n.class[id]&c != 0 }

type prefixClass struct {
	prefix string
	class  nameClass
}

// prefixClasses lists the beginnings of names that PyTorch and its libraries
// give to their spans.
var prefixClasses = []prefixClass{
	{"Optimizer.step#", optimizerStep},
	{"Optimizer.zero_grad#", zeroGrad},
	{"ProfilerStep#", profilerStep},
	{"ProfilerStep", profilerStep},
	{"torch::autograd::AccumulateGrad", accumulate},
	{"autograd::engine::evaluate_function:", evaluate},
	{"FSDP", framework},
	{"DistributedDataParallel", framework},
	{"torch.distributed.ddp", framework | reducer},
	{"torch::distributed::reducer", framework | reducer},
	{"FSDP::post_backward", reducer},
	{"Torch-Compiled Region", compiled},
	{"## Call CompiledFxGraph", compiled},
	{"CompiledFunction", compiled},
	{"TorchDynamo Cache Lookup", compiled},
	{"nccl:", collectiveSpan},
	{"rccl:", collectiveSpan},
	{"gloo:", collectiveSpan},
	{"mpi:", collectiveSpan},
	{"record_param_comms", collectiveSpan},
	{"c10d::", collectiveSpan},
	{"aten::", atenOp},
	{"aten::add_", addInPlace},
	{"FSDP::", fsdp2},
	{"aten::_fused_adam", fused},
	{"aten::_fused_sgd", fused},
	{tokenNotePrefix, tokenNote},
}

// prefixesOf are the prefixClasses that begin with a byte.
var prefixesOf = func() (of [256][]prefixClass) {
	for _, p := range prefixClasses {
		of[p.prefix[0]] = append(of[p.prefix[0]], p)
	}
	return of
}()

func classOf(name string) nameClass {
	if name == "" {
		return 0
	}
	var c nameClass
	for _, p := range prefixesOf[name[0]] {
		if strings.HasPrefix(name, p.prefix) {
			c |= p.class
		}
	}
	if c == evaluate && strings.HasSuffix(name, "AccumulateGrad") {
		return evaluate | accumulate
	}
	if c == 0 && (strings.HasSuffix(name, "Backward") || strings.HasSuffix(name, "Backward0")) {
		return backwardNode
	}
	return c
}

// optimizerName is the class in "Optimizer.step#Class.step".
func optimizerName(span string) string {
	name := strings.TrimPrefix(span, "Optimizer.step#")
	return strings.TrimSuffix(name, ".step")
}

// nodeName is X in "autograd::engine::evaluate_function: X".
func nodeName(span string) string {
	_, name, _ := strings.Cut(span, ": ")
	return name
}
