package main

import (
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/gaprof/gaprof/reference"
)

// trainProgress reports on stderr how far a run has come, as progress does for reading. A
// nil *trainProgress is silent.
type trainProgress struct {
	mu     sync.Mutex
	line   statusLine
	steps  int // that were asked for
	tokens int64
	spent  time.Duration // on the clock of the devices
}

func startTrainProgress(w io.Writer, f trainFlags) *trainProgress {
	line, wanted := newStatusLine(w, f.quiet, f.progress)
	if !wanted {
		return nil
	}
	return &trainProgress{line: line, steps: f.options.MaxSteps}
}

// step reports a completed step.
func (p *trainProgress) step(s reference.StepResult) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tokens += s.Tokens
	p.spent += s.Duration
	done := s.Step + 1
	if !p.line.due() && done < p.steps {
		return
	}
	text := fmt.Sprintf("step %d of %d%s, %.0f tokens/s", done, p.steps, lossText(s.Loss),
		float64(p.tokens)/max(p.spent.Seconds(), 1e-9))
	if done < p.steps {
		text += p.line.left(int64(done), int64(p.steps))
	}
	p.line.show(text)
}

// lossText is ", loss 4.2", nothing where it is unknown.
func lossText(loss float64) string {
	if math.IsNaN(loss) {
		return ""
	}
	return fmt.Sprintf(", loss %.4f", loss)
}

// done clears the line on the terminal.
func (p *trainProgress) done() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line.clear()
}
