package device

import (
	"fmt"
	"slices"
	"testing"
)

func TestView(t *testing.T) {
	b := &Buffer{Block: &Block{}, Off: 4, N: 12, DType: F64, Shape: []int{3, 4}}
	row := b.View(8, 4)
	if row.Block != b.Block || row.Off != 12 || row.N != 4 || row.Bytes() != 32 || !slices.Equal(row.Shape, []int{4}) {
		t.Errorf("%+v", row)
	}
	if scalar := b.View(11); scalar.N != 1 || len(scalar.Shape) != 0 {
		t.Errorf("%+v", scalar)
	}
	for _, outside := range []struct{ off, n int }{{-1, 1}, {9, 4}, {12, 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a view of %d elements from %d", outside.n, outside.off)
				}
			}()
			b.View(outside.off, outside.n)
		}()
	}
}

// listener notes what it is told.
type listener struct{ lines []string }

func (l *listener) Span(s Span) {
	l.lines = append(l.lines, fmt.Sprintf("%s %s %d %d-%d", s.Cat, s.Name, s.External, s.Start, s.End))
}
func (l *listener) Host(e HostEvent) {
	l.lines = append(l.lines, fmt.Sprintf("%s %d in %d %d-%d", e.Name, e.Correlation, e.External, e.Start, e.End))
}
func (l *listener) Begin(int)          {}
func (l *listener) Device(DeviceEvent) {}
func (l *listener) Sync(SyncEvent)     {}
func (l *listener) Memory(MemoryEvent) {}

// Ranges nest, are numbered from 1 when they open, and are told when they close.
func TestLog(t *testing.T) {
	told, clock := &listener{}, int64(0)
	log := &Log{To: told, Clock: func() int64 { clock++; return clock }}
	outer := log.Range("user_annotation", "step")
	collective := log.Collective("c10d::allreduce_", &Message{Name: "allreduce"})
	log.Call("cudaLaunchKernel", log.Now(), log.Next())
	collective()
	outer()
	log.Call("cudaEventRecord", log.Now(), log.Next())
	want := []string{
		"cudaLaunchKernel 1 in 4 5-6", "user_annotation nccl:allreduce 4 4-7", "cpu_op record_param_comms 3 3-8",
		"cpu_op c10d::allreduce_ 2 2-9", "user_annotation step 1 1-10", "cudaEventRecord 2 in 0 11-12",
	}
	if !slices.Equal(told.lines, want) {
		t.Errorf("told %q\nwant %q", told.lines, want)
	}
}

// Without a Recorder nothing is read, not even the clock; correlations count on.
func TestLogOff(t *testing.T) {
	log := &Log{}
	log.Range("cpu_op", "a")()
	log.Collective("b", &Message{})()
	log.Call("c", log.Now(), log.Next())
	if log.On() || log.External() != 0 || log.Next() != 2 {
		t.Errorf("%+v", log)
	}
}

func TestTypes(t *testing.T) {
	for dt, want := range map[DType]string{F32: "4 float Float f32", F64: "8 double Double f64",
		I64: "8 long int Long i64", BF16: "2 c10::BFloat16 BFloat16 bf16"} {
		if got := fmt.Sprint(dt.Size(), " ", dt, " ", dt.Message(), " ", dt.Short()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	list := TensorList([]*Buffer{{Shape: []int{2, 3}}, {Shape: []int{4}}})
	if fmt.Sprintf("%v %s", list.List, list.Type) != "[[2 3] [4]] TensorList" || Tensor(nil).Type != "" {
		t.Errorf("%+v, %+v", list, Tensor(nil))
	}
}
