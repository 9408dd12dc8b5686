package whatif

import (
	"fmt"
	"strings"
	"testing"
)

// pipeline is a run of several stages that work as 1F1B schedules have it.
type pipeline struct {
	stages, batches, steps int
	late                   int64 // ns that a forward pass of the third stage takes longer in each step
	batch                  bool  // sends and receives are those of batch_isend_irecv
}

// job is one operation of a stage.
type job struct {
	name       string
	stage      int
	stream     int
	start, end int64
	work       int64
	asked      int64 // when the host launches it
	after      []*job
	peer       *job // the other side of a transfer, which ends with it
	to         int  // the other stage
	send       bool
}

const (
	transferTime = 50_000 // ns
	eventTime    = 6_000
	launchTime   = 8_000
	gapTime      = 2_000
)

// schedule is what a stage does in a step: F0 F1 B0 ...
func (p *pipeline) schedule(stage int) []string {
	var list []string
	warm := min(p.batches, p.stages-1-stage)
	for i := range warm {
		list = append(list, fmt.Sprint("F", i))
	}
	for i := range p.batches {
		if warm+i < p.batches {
			list = append(list, fmt.Sprint("F", warm+i))
		}
		list = append(list, fmt.Sprint("B", i))
	}
	return list
}

// jobs are those of all stages in one step, by stage in the order in which they are launched.
func (p *pipeline) jobs() [][]*job {
	all := make([][]*job, p.stages)
	mates := make(map[string]*job)
	for s := range all {
		var last *job
		transfer := func(kind, batch string, stream, to int, send bool) *job {
			name := fmt.Sprint(kind, batch, " ", min(s, to))
			j := &job{name: "ncclDevKernel_SendRecv", stage: s, stream: stream, work: transferTime, to: to, send: send}
			if last != nil {
				j.after = append(j.after, last)
			}
			if mate := mates[name]; mate != nil {
				j.peer, mate.peer = mate, j
			}
			mates[name] = j
			all[s] = append(all[s], j)
			return j
		}
		for _, pass := range p.schedule(s) {
			kind, batch := pass[:1], pass[1:]
			from, to, in, out := s-1, s+1, 20, 21
			j := &job{name: "forward", stage: s, stream: 7, work: 1_000_000}
			if kind == "B" {
				from, to, in, out = s+1, s-1, 22, 23
				j.name, j.work = "backward", 2_000_000
			}
			if s == 2 && pass == "F3" {
				j.name, j.work = "slow_forward", j.work+p.late
			}
			if from >= 0 && from < p.stages {
				j.after = append(j.after, transfer(kind, batch, in, from, false))
			}
			all[s] = append(all[s], j)
			last = j
			if to >= 0 && to < p.stages {
				transfer(kind, batch, out, to, true)
			}
		}
		all[s] = append(all[s], &job{name: "adam", stage: s, stream: 7, work: 100_000})
	}
	return all
}

// run sets the times of the jobs of a step, given when each stage begins to launch.
func run(all [][]*job, begin []int64) {
	for changed := true; changed; {
		changed = false
		for s, list := range all {
			free := make(map[int]int64)
			for i, j := range list {
				j.asked = begin[s] + int64(i)*10_000
				start := max(j.asked+launchTime, free[j.stream])
				for _, a := range j.after {
					start = max(start, a.end+eventTime)
				}
				end := start + j.work
				if j.peer != nil {
					end = max(end, j.peer.start+j.work)
				}
				changed = changed || start != j.start || end != j.end
				j.start, j.end = start, end
				free[j.stream] = end + gapTime
			}
		}
	}
}

// traces are those of all stages.
func (p *pipeline) traces() []string {
	texts, corr := make([]madeRun, p.stages), 0
	begin := make([]int64, p.stages)
	for range p.steps {
		all := p.jobs()
		run(all, begin)
		for s, list := range all {
			for _, j := range list {
				corr += 10
				p.write(&texts[s], j, corr)
			}
			last := list[len(list)-1]
			m, at := &texts[s], begin[s]+int64(len(list))*10_000
			m.ns("1/1", last.asked-2_000, 9_000, "user_annotation Optimizer.step#AdamW.step")
			m.ns("1/1", at, last.end+5_000-at, "cuda_runtime cudaDeviceSynchronize corr=%d", corr+1)
			begin[s] = last.end + 25_000
		}
	}
	var list []string
	for s := range texts {
		head := fmt.Sprintf("distributed backend=nccl rank=%d world_size=%d\n", s, p.stages)
		list = append(list, head+texts[s].text.String())
	}
	return list
}

func (m *madeRun) ns(thread string, at, dur int64, rest string, args ...any) {
	m.add(thread, float64(at)/1000, float64(dur)/1000, rest, args...)
}

// write writes a job: what it waits for as the profiler records it, the call, and the operation.
func (p *pipeline) write(m *madeRun, j *job, corr int) {
	at := j.asked
	for i, a := range j.after {
		m.ns("1/1", at-6_000+int64(i)*2_000, 500, "cuda_runtime cudaEventRecord corr=%d", corr+2+2*i)
		m.ns("1/1", at-5_000+int64(i)*2_000, 500, "cuda_runtime cudaStreamWaitEvent corr=%d", corr+3+2*i)
		m.ns(fmt.Sprintf("0/%d", j.stream), at-5_000+int64(i)*2_000, 100,
			`cuda_sync "Stream Wait Event" stream=%d corr=%d `+
				`"wait_on_stream"=%d "wait_on_cuda_event_record_corr_id"=%d`,
			j.stream, corr+3+2*i, a.stream, corr+2+2*i)
	}
	message := ""
	if j.peer != nil {
		message = fmt.Sprintf("coll=recv in=1000 out=1000 dtype=Float group=0 gsize=%d src=%d", p.stages, j.to)
		if j.send {
			message = fmt.Sprintf("coll=send in=1000 out=1000 dtype=Float group=0 gsize=%d dst=%d", p.stages, j.to)
		}
		dur := int64(4_000)
		if p.batch {
			dur = 400 // it is over before ncclGroupEnd launches
		}
		m.ns("1/1", at-500, dur, "cpu_op record_param_comms %s", message)
		if p.batch {
			message = "coll=coalesced"
		}
	}
	m.ns("1/1", at, 3_000, "cuda_runtime cudaLaunchKernel corr=%d", corr)
	m.ns(fmt.Sprintf("0/%d", j.stream), j.start, j.end-j.start, "kernel %q corr=%d stream=%d %s",
		j.name, corr, j.stream, message)
}

// A late forward pass of one stage is waited for by the others, down the pipeline and back; without it the run
// takes as long as the run that never had it.
func TestPipeline(t *testing.T) {
	for _, batch := range []bool{false, true} {
		clean := pipeline{stages: 4, batches: 6, steps: 4, batch: batch}
		truth, _ := worldOfTexts(t, clean.traces())
		for _, late := range []int64{200_000, 1_000_000, 3_000_000} {
			p := clean
			p.late = late
			w, _ := worldOfTexts(t, p.traces())
			f, err := w.Fit()
			if err != nil || f.Worst != 0 || w.Transfers.Joined != 3*2*6*4 || w.Transfers.Apart != 0 || w.Broken != 0 {
				t.Fatalf("%+v, %+v, %d broken, %v", f, w.Transfers, w.Broken, err)
			}
			want := w.mean(w.periods(w.Seen), -1) - truth.mean(truth.periods(truth.Seen), -1)
			got := predict(t, w, fmt.Sprintf("faster=slow:%f", float64(1_000_000+late)/1_000_000)).Gain.Mean
			if off := got - want; max(off, -off) > want/100+2_000 || want < late/2 {
				t.Errorf("a delay of %d: gains %d, the run without it %d", late, got, want)
			}
		}
	}
}

// What has no counterpart stays as it was recorded, and is counted.
func TestTransfersApart(t *testing.T) {
	p := pipeline{stages: 4, batches: 6, steps: 4, late: 500_000}
	list := p.traces()
	w, _ := worldOfTexts(t, list[:3])
	want := Transfers{Joined: 2 * 2 * 6 * 4, Apart: 2 * 6 * 4}
	if f, err := w.Fit(); err != nil || f.Worst != 0 || w.Transfers != want {
		t.Errorf("without the last stage: %+v, %+v, %v", f, w.Transfers, err)
	}
	// a recording that begins later lacks the first ones, and the rest finds its own
	var kept []string
	for i, line := range strings.Split(list[1], "\n") {
		var at float64
		words := strings.Fields(line)
		if i == 0 || len(words) > 1 {
			_, _ = fmt.Sscanf(words[1], "%fus", &at)
		}
		if i == 0 || at > 6_000 {
			kept = append(kept, line)
		}
	}
	list[1] = strings.Join(kept, "\n")
	w, _ = worldOfTexts(t, list)
	f, err := w.Fit()
	if err != nil || f.Worst != 0 || w.Transfers.Apart == 0 || w.Transfers.Joined < 3*2*6*3 {
		t.Errorf("a recording that begins later: %+v, %+v, %v", f, w.Transfers, err)
	}
	// bytes that differ are those of other messages
	list = p.traces()
	list[3] = strings.ReplaceAll(list[3], "in=1000 out=1000", "in=2000 out=2000")
	want.Apart *= 2
	if w, _ = worldOfTexts(t, list); w.Transfers != want {
		t.Errorf("of other sizes: %+v", w.Transfers)
	}
}

// Peers are read from names where there is no argument.
func TestPeerOf(t *testing.T) {
	for name, want := range map[string]int64{
		"nccl:send 0->1": 1, "nccl:recv 3<-12": 12, "nccl:all_reduce": -1, "nccl:send 0->x": -1, "a->3": -1, "": -1,
	} {
		got, ok := peerOf(name)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %v", name, got, ok)
		}
	}
}
