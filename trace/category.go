package trace

import "maps"

// Cat is the category of an event: an index into the categories of its Trace.
// The constants below are the same in every Trace; other names get the numbers
// after them in order of appearance.
type Cat uint16

// The categories that PyTorch's Kineto writes, by their current names; CatNone is none.
const (
	CatNone Cat = iota
	CatCPUOp
	CatUserAnnotation
	CatPythonFunction
	CatCPUInstant
	CatKernel
	CatGPUMemcpy
	CatGPUMemset
	CatGPUUserAnnotation
	CatCUDARuntime
	CatCUDADriver
	CatOtherRuntime
	CatCUDASync
	CatOverhead
	CatLaunchFlow
	CatForwardBackwardFlow
	CatProfiler
	numFixedCats
)

// catNames is what each fixed category is called in the files of today.
var catNames = [numFixedCats]string{
	CatNone:                "",
	CatCPUOp:               "cpu_op",
	CatUserAnnotation:      "user_annotation",
	CatPythonFunction:      "python_function",
	CatCPUInstant:          "cpu_instant_event",
	CatKernel:              "kernel",
	CatGPUMemcpy:           "gpu_memcpy",
	CatGPUMemset:           "gpu_memset",
	CatGPUUserAnnotation:   "gpu_user_annotation",
	CatCUDARuntime:         "cuda_runtime",
	CatCUDADriver:          "cuda_driver",
	CatOtherRuntime:        "privateuse1_runtime",
	CatCUDASync:            "cuda_sync",
	CatOverhead:            "overhead",
	CatLaunchFlow:          "ac2g",
	CatForwardBackwardFlow: "fwdbwd",
	CatProfiler:            "Trace",
}

// catAliases are the names of older writers and of other devices' plugins.
// Files of PyTorch 1.8 to 1.11 use the capitalised ones.
var catAliases = map[string]Cat{
	"Operator":            CatCPUOp,
	"Kernel":              CatKernel,
	"Memcpy":              CatGPUMemcpy,
	"Memset":              CatGPUMemset,
	"Runtime":             CatCUDARuntime,
	"PythonFunction":      CatPythonFunction,
	"async_gpu":           CatLaunchFlow,
	"async":               CatLaunchFlow,
	"async_cpu_to_gpu":    CatLaunchFlow,
	"forward_backward":    CatForwardBackwardFlow,
	"hip_runtime":         CatCUDARuntime,
	"hip_driver":          CatCUDADriver,
	"xpu_runtime":         CatOtherRuntime,
	"xpu_driver":          CatOtherRuntime,
	"mtia_runtime":        CatOtherRuntime,
	"glow_runtime":        CatOtherRuntime,
	"privateuse1_driver":  CatOtherRuntime,
	"concurrent_kernel":   CatKernel,
	"mtia_ccp_events":     CatKernel,
	"gpu_user_annotation": CatGPUUserAnnotation,
}

// IsActivity reports whether events of c are work that a device did on a stream:
// kernels, copies and memsets, and nothing else. Annotations on device rows and
// launch records that carry a stream argument are not.
func (c Cat) IsActivity() bool { return c >= CatKernel && c <= CatGPUMemset }

// IsRuntime reports whether events of c are host calls that may launch device work.
func (c Cat) IsRuntime() bool { return c >= CatCUDARuntime && c <= CatOtherRuntime }

// IsKnown reports whether c is one of the constants above other than CatNone, and not a
// category that only its file knows.
func (c Cat) IsKnown() bool { return c > CatNone && c < numFixedCats }

// catTable interns category names; the fixed ones come first.
type catTable struct {
	names []string       // by Cat
	index map[string]Cat // of those that are not fixed; nil without any
}

func newCatTable() catTable { return catTable{names: catNames[:numFixedCats:numFixedCats]} }

// KnownCat returns the fixed category that name stands for, today or in older
// files; ok is false for any other name.
func KnownCat(name []byte) (c Cat, ok bool) {
	c, ok = fixedCats[string(name)]
	return c, ok
}

// fixedCats are the fixed categories by current and older names.
var fixedCats = func() map[string]Cat {
	m := maps.Clone(catAliases)
	for c, name := range catNames {
		m[name] = Cat(c)
	}
	return m
}()

// maxCats bounds what hostile input can make us keep; later names become CatNone.
const maxCats = 4096

// intern returns the category called name; ok is false, and c CatNone, where there are too
// many of them.
func (t *catTable) intern(name []byte) (c Cat, ok bool) {
	if c, known := fixedCats[string(name)]; known {
		return c, true
	}
	if c, known := t.index[string(name)]; known {
		return c, true
	}
	if t.full() {
		return CatNone, false
	}
	if t.index == nil {
		t.index = make(map[string]Cat)
	}
	c = Cat(len(t.names))
	t.names = append(t.names, string(name))
	t.index[t.names[c]] = c
	return c, true
}

// full reports whether another category would be one too many.
func (t *catTable) full() bool { return len(t.names) >= maxCats }
