package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A runner asks the suites about one mutant after another.
type runner struct {
	root, temp  string
	cache       string              // GOCACHE; what mutants leave there is deleted
	lock        *os.File            // on the cache: one run at a time; nil if it is everybody's, and then nothing is deleted
	kept        map[string]struct{} // what stood in the cache before the first mutant
	slow, limit time.Duration
	log         io.Writer
}

// newRunner returns a runner with the cache of everybody.
func newRunner(root string, log io.Writer) (*runner, error) {
	temp, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return nil, err
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	return &runner{root: root, temp: temp, cache: strings.TrimSpace(string(cache)), log: log}, err
}

// ownCache takes a cache for mutants alone, and waits for whoever uses it.
func (r *runner) ownCache() error {
	user, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	r.cache = filepath.Join(user, "gaprof-mutate")
	if r.lock, err = os.OpenFile(r.cache+".lock", os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return err
	}
	return syscall.Flock(int(r.lock.Fd()), syscall.LOCK_EX)
}

func (r *runner) close() {
	os.RemoveAll(r.temp)
	r.lock.Close()
}

// command runs a program to its end and returns what it printed.
func (r *runner) command(dir, name string, args ...string) ([]byte, error) {
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, r.environment()
	return c.CombinedOutput()
}

func (r *runner) environment() []string {
	return append(os.Environ(), "GOCACHE="+r.cache, "GOFLAGS=", "GOMAXPROCS=2")
}

// A fate is what became of a mutant.
type fate string

const (
	invalid    fate = "does not compile"
	noticed    fate = "noticed"
	survived   fate = "survived"
	equivalent fate = "equivalent"
)

// ask builds the mutant and runs the suites that cover it, fast ones first, until one of
// them notices. by is the package that did.
func (r *runner) ask(m mutant, target string, suites []suite) (f fate, by string, err error) {
	overlay, err := r.overlay(m)
	if err != nil {
		return "", "", err
	}
	covering := slices.DeleteFunc(slices.Clone(suites), func(s suite) bool { return !s.runs(m) })
	if len(covering) == 0 {
		if _, err := r.command(r.root, "go", "build", "-pgo=off", "-overlay", overlay, target); err != nil {
			return invalid, "", nil
		}
	}
	built := map[string]bool{}
	for _, s := range covering {
		binary := filepath.Join(r.temp, strings.ReplaceAll(s.pkg, "/", "_")+".test")
		if !built[s.pkg] {
			build := []string{"test", "-c", "-vet=off", "-pgo=off", "-overlay", overlay, "-o", binary, s.pkg}
			if _, err := r.command(r.root, "go", build...); err != nil {
				return invalid, "", nil // it compiled without the change
			}
			built[s.pkg] = true
		}
		if !r.passes(s, binary) {
			return noticed, s.pkg, nil
		}
	}
	return survived, "", nil
}

// overlay writes the changed file beside the tree and what puts it into its place.
func (r *runner) overlay(m mutant) (string, error) {
	changed := filepath.Join(r.temp, "mutant.go")
	if err := os.WriteFile(changed, m.apply(), 0o644); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]map[string]string{"Replace": {m.path: changed}})
	if err != nil {
		return "", err
	}
	name := filepath.Join(r.temp, "overlay.json")
	return name, os.WriteFile(name, text, 0o644)
}

// passes runs a suite in a process group of its own, so that nothing it started outlives
// it: five times as long as it should take, and in 4 GiB of address space over Go's own.
func (r *runner) passes(s suite, binary string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*s.took+10*time.Second)
	defer cancel()
	args := append([]string{"-c", `ulimit -v 8388608; exec "$0" "$@"`, binary, "-test.short", "-test.failfast"}, s.args...)
	c := exec.CommandContext(ctx, "sh", args...)
	c.Dir, c.Env = s.dir, append(r.environment(), "GOMEMLIMIT=4GiB")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	return c.Run() == nil
}

// remember notes what stands in the cache; forget deletes what mutants added.
func (r *runner) remember() error {
	if r.lock == nil {
		return nil
	}
	r.kept = map[string]struct{}{}
	return r.cached(func(path string) { r.kept[path] = struct{}{} })
}

func (r *runner) forget() error {
	if r.kept == nil {
		return nil
	}
	return r.cached(func(path string) {
		if _, ok := r.kept[path]; !ok {
			os.Remove(path)
		}
	})
}

func (r *runner) cached(each func(path string)) error {
	return filepath.WalkDir(r.cache, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, string(filepath.Separator)+"fuzz"+string(filepath.Separator)) {
			return ignoreGone(err)
		}
		each(path)
		return nil
	})
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// prepare measures the suites of the packages, the target's own first.
func (r *runner) prepare(target string, packages []string) ([]suite, error) {
	var all []suite
	for _, pkg := range append([]string{target}, packages...) {
		s, err := r.suites(target, pkg)
		if err != nil {
			return nil, err
		}
		all = append(all, s...)
	}
	slices.SortStableFunc(all, func(a, b suite) int { return int(a.took - b.took) })
	for _, s := range all {
		fmt.Fprintf(r.log, "%s: %v %s\n", s.pkg, s.took.Round(time.Millisecond), bytes.TrimSpace([]byte(strings.Join(s.args, " "))))
	}
	return all, r.warm(all)
}

// warm builds each test once without a change, so that the cache holds what no mutant touches.
func (r *runner) warm(all []suite) error {
	for _, s := range all {
		build := []string{"test", "-c", "-vet=off", "-pgo=off", "-o", filepath.Join(r.temp, "warm.test"), s.pkg}
		if out, err := r.command(r.root, "go", build...); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	return r.remember()
}
