package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gaprof/gaprof/reference"
)

// trainProgress tells on stderr how far a run is, as progress does of reading: a line
// that is rewritten on a terminal, now and then a line with --progress plain. A nil
// one is silent.
type trainProgress struct {
	mu     sync.Mutex
	w      io.Writer
	plain  bool
	now    func() time.Time
	start  time.Time
	shown  time.Time
	steps  int // that were asked for
	tokens int64
	dirty  bool
}

func startTrainProgress(w io.Writer, f trainFlags) *trainProgress {
	plain := f.progress == "plain"
	if f.quiet || f.progress == "off" || !plain && !isTerminal(w) {
		return nil
	}
	p := &trainProgress{w: w, plain: plain, now: time.Now, steps: f.options.MaxSteps}
	p.start = p.now()
	return p
}

// step is told of each step that is over.
func (p *trainProgress) step(s reference.StepResult) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens += s.Tokens
	now, every, done := p.now(), 100*time.Millisecond, s.Step+1
	if p.plain {
		every = 5 * time.Second
	}
	if now.Sub(p.shown) < every && done < p.steps {
		return
	}
	p.shown = now
	spent := now.Sub(p.start)
	line := fmt.Sprintf("step %d of %d, loss %.4f, %.0f tokens/s", done, p.steps, s.Loss,
		float64(p.tokens)/max(spent.Seconds(), 1e-9))
	if done < p.steps {
		line += fmt.Sprintf(", %s left",
			time.Duration(float64(spent)/float64(done)*float64(p.steps-done)).Round(time.Second))
	}
	if p.plain {
		fmt.Fprintf(p.w, "gaprof: %s\n", line)
		return
	}
	p.dirty = true
	fmt.Fprintf(p.w, "\r\x1b[K%s", line)
}

// done takes the line off the terminal.
func (p *trainProgress) done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dirty {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.dirty = false
}
