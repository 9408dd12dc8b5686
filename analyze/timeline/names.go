package timeline

import (
	"strings"

	"github.com/gaprof/gaprof/internal/parallel"
	"github.com/gaprof/gaprof/trace"
)

// Class is a set of bits that says what the name of an event means. A name may be in
// several classes or in none.
//
// Names are all there is to go by: PyTorch gives operators, hooks and annotations the
// same few categories, and the spans that matter here are recognizable only by text.
type Class uint32

// The classes of names, each with the spans that are in it.
const (
	OptimizerStep    Class = 1 << iota // Optimizer.step#NAME
	ZeroGrad                           // Optimizer.zero_grad#NAME
	ProfilerStep                       // ProfilerStep#N
	AccumulateGrad                     // torch::autograd::AccumulateGrad
	EvaluateFunction                   // autograd::engine::evaluate_function: X
	BackwardNode                       // XBackward, XBackward0: inside evaluate_function, alone in older versions
	Framework                          // any span of FSDP or DDP
	Reducer                            // those of FSDP and DDP that handle gradients
	Compiled                           // regions and calls of compiled code
	CollectiveSpan                     // nccl:*, gloo:*, c10d::*, record_param_comms and the like
	TokenNote                          // gaprof.tokens=N
	AddInPlace                         // aten::add_
	AtenOp                             // aten::*
	FSDP2                              // FSDP::*
	FusedOptimizer                     // PyTorch's fused optimizers: aten::_fused_adam*, aten::_fused_sgd*
	NoSync                             // no_sync of DDP and FSDP: a frame of Python, or an annotation of the program
	GraphLaunch                        // calls that replay a CUDA or HIP graph
	GraphInstantiate                   // calls that make a graph of a capture, once before its replays
	KernelLaunch                       // calls that launch one kernel
	DeviceSync                         // calls that wait for all of a device
	StreamSyncCall                     // calls that wait for a stream
	ProgramLine                        // a frame of Python in a file of the program: train.py(57): step

	// operator is the classes that so many rows of a host thread are in. They are left
	// out of the marks of a track (see markTracks), which stay short that way.
	operator = AtenOp | AddInPlace | KernelLaunch | ProgramLine
)

// names holds the class of every distinct name of a trace by StringID, so that each text is
// examined once, however many rows carry it. A large trace has millions of rows and a few
// thousand names.
type names struct {
	class  []Class
	kernel []kernelName // of names on devices; the zero value for others
	all    Class        // the classes of all names together

	suspects bool // some name of a device is one, see Rows.Suspect
}

// classifyNames looks at all strings of a trace, also at those that are not names: they
// share one table, and asking which is which would cost a pass over the rows.
func classifyNames(t *trace.Trace) *names {
	n := &names{class: make([]Class, t.NumStrings())}
	half := len(n.class) / 2
	parallel.Both(func() { n.classify(t, 0, half) }, func() { n.classify(t, half, len(n.class)) })
	for _, class := range n.class {
		n.all |= class
	}
	return n
}

func (n *names) classify(t *trace.Trace, from, to int) {
	for i := from; i < to; i++ {
		n.class[i] = classOf(t.String(trace.StringID(i)))
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
	{"cudaGraphLaunch", GraphLaunch},
	{"cuGraphLaunch", GraphLaunch},
	{"hipGraphLaunch", GraphLaunch},
	{"cudaGraphInstantiate", GraphInstantiate},
	{"cuGraphInstantiate", GraphInstantiate},
	{"hipGraphInstantiate", GraphInstantiate},
	{"cudaLaunchKernel", KernelLaunch},
	{"cudaLaunchCooperativeKernel", KernelLaunch},
	{"cuLaunchKernel", KernelLaunch},
	{"cuLaunchCooperativeKernel", KernelLaunch},
	{"hipLaunchKernel", KernelLaunch},
	{"hipLaunchCooperativeKernel", KernelLaunch},
	{"hipModuleLaunchKernel", KernelLaunch},
	{"hipExtLaunchKernel", KernelLaunch},
	{"hipExtModuleLaunchKernel", KernelLaunch},
	{"cudaDeviceSynchronize", DeviceSync},
	{"hipDeviceSynchronize", DeviceSync},
	{"cuCtxSynchronize", DeviceSync},
	{"cudaStreamSynchronize", StreamSyncCall},
	{"hipStreamSynchronize", StreamSyncCall},
	{"cuStreamSynchronize", StreamSyncCall},
	{TokenNotePrefix, TokenNote},
}

// TokenNotePrefix begins the annotations in which a program notes its token counts.
const TokenNotePrefix = "gaprof.tokens="

// prefixesOf lists the prefixClasses by their first byte, so that a name is compared with
// the few that it can begin with.
var prefixesOf = func() (of [256][]prefixClass) {
	for _, p := range prefixClasses {
		of[p.prefix[0]] = append(of[p.prefix[0]], p)
	}
	return of
}()

// classOf collects the classes of all prefixes of a name. The evaluate_function span
// around a gradient accumulation is in both classes, for some versions record only that.
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
	if strings.HasSuffix(strings.TrimSuffix(name, "()"), "no_sync") {
		c |= NoSync
	}
	if isProgramLine(name) {
		c |= ProgramLine
	}
	return c
}

// OptimizerName returns Class of "Optimizer.step#Class.step", "" if there is none. The
// result is a piece of span.
func OptimizerName(span string) string {
	name := strings.TrimPrefix(span, "Optimizer.step#")
	return strings.TrimSuffix(name, ".step")
}

// NodeName returns X of "autograd::engine::evaluate_function: X", "" for names without
// ": ". The result is a piece of span.
func NodeName(span string) string {
	_, name, _ := strings.Cut(span, ": ")
	return name
}
