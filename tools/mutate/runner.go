package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A runner asks tests about one mutant after another.
type runner struct {
	root, temp  string
	slow, limit time.Duration
	grace       time.Duration // for a mutant beyond five times what its tests take
	workers     int
	log         io.Writer
}

func newRunner(root string, log io.Writer) (*runner, error) {
	temp, err := os.MkdirTemp("", "mutate-")
	return &runner{root: root, temp: temp, log: log, grace: 10 * time.Second, workers: 1}, err
}

func (r *runner) close() { os.RemoveAll(r.temp) }

// command runs a program to its end and returns what it printed.
func (r *runner) command(dir, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, environment()
	return c.CombinedOutput()
}

func environment() []string { return append(os.Environ(), "GOFLAGS=", "GOMAXPROCS=2") }

// overlay writes texts beside the tree and what puts them into their places.
func (r *runner) overlay(texts map[string][]byte) (string, error) {
	replace := map[string]string{}
	for path, text := range texts {
		replace[path] = filepath.Join(r.temp, filepath.Base(path))
		if err := os.WriteFile(replace[path], text, 0o644); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(r.temp, "overlay.json")
	return name, os.WriteFile(name, text, 0o644)
}

// passes runs tests in a process group of its own, so that nothing they started outlives
// them, and in 4 GiB of address space over Go's own.
func (r *runner) passes(b *binary, names []string, limit time.Duration, variable string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	run := "-test.run=^(" + strings.Join(names, "|") + ")$"
	c := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 8388608; exec "$0" "$@"`, b.path, "-test.short", "-test.failfast", run)
	c.Dir, c.Env = b.dir, append(environment(), "GOMEMLIMIT=4GiB", variable)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	return c.Run() == nil
}

// A fate is what became of a mutant.
type fate string

const (
	noticed    fate = "noticed"
	survived   fate = "survived"
	equivalent fate = "equivalent"
)

// An outcome is a mutant and its fate.
type outcome struct {
	*mutant
	Fate    fate
	By      string `json:",omitempty"` // the package whose tests noticed
	Reached int    // tests that reach it
}

// ask runs the tests that reach a mutant until one of them notices.
func (r *runner) ask(m *mutant, all []*test) outcome {
	o := outcome{mutant: m, Fate: survived}
	variable := fmt.Sprintf("%s=%d", numberVariable, m.number)
	for _, b := range r.batches(all, m.number) {
		o.Reached += len(b.names)
		if !r.passes(b.in, b.names, 5*b.took+r.grace, variable) {
			o.Fate, o.By = noticed, b.in.pkg
			break
		}
	}
	return o
}

// askAll asks about mutants, several at a time; outcomes are in their order.
func (r *runner) askAll(ms []*mutant, all []*test) []outcome {
	outcomes := make([]outcome, len(ms))
	next := make(chan int)
	var workers sync.WaitGroup
	for range r.workers {
		workers.Go(func() {
			for i := range next {
				outcomes[i] = r.ask(ms[i], all)
				if outcomes[i].Fate == survived {
					fmt.Fprintf(r.log, "survived: %s\n", ms[i])
				}
			}
		})
	}
	for i := range ms {
		next <- i
	}
	close(next)
	workers.Wait()
	return outcomes
}
