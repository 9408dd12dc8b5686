package main

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gaprof/gaprof/internal/web"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// catalogue is the runs of a folder.
type catalogue struct {
	dir  string   // without links
	root *os.Root // the same: opens nothing outside
}

func openCatalogue(dir string) (*catalogue, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, err
	}
	if info, err := os.Stat(real); err == nil && !info.IsDir() {
		return nil, usage("gaprof open "+dir, "%s is no folder", dir)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	return &catalogue{real, root}, nil
}

// open opens a file that list named.
func (c *catalogue) open(file string) (*os.File, error) {
	inside, err := filepath.Rel(c.dir, file)
	if err != nil {
		return nil, err
	}
	return c.root.Open(inside)
}

// group is files that are probably of one run.
type group struct {
	key   string // folder and pattern, below the catalogue's folder
	files []string
	last  time.Time // when one of them was written
	stamp string
}

// list are the runs, the one that was written last at the end.
func (c *catalogue) list() ([]web.Unit, error) {
	files, err := tracefile.Expand([]string{c.dir})
	var none *tracefile.Error
	if err != nil && !errors.As(err, &none) {
		return nil, err
	}
	if files, err = c.withReports(files); err != nil {
		return nil, err
	}
	groups, in := make(map[string]*group), make(map[string]int)
	for _, file := range files {
		c.add(groups, file)
	}
	list := make([]*group, 0, len(groups))
	for _, g := range groups {
		in[filepath.Dir(g.key)]++
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *group) int { return cmp.Or(a.last.Compare(b.last), cmp.Compare(a.key, b.key)) })
	var found []web.Unit
	for _, g := range list {
		name := g.key
		if folder := filepath.Dir(g.key); in[folder] == 1 && folder != "." {
			name = folder
		}
		found = append(found, web.Unit{Name: filepath.ToSlash(name), Files: g.files, Stamp: g.stamp})
	}
	return found, nil
}

// withReports adds the reports in and below the folder.
func (c *catalogue) withReports(files []string) ([]string, error) {
	known := make(map[string]bool)
	for _, file := range files {
		known[file] = true
	}
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.EqualFold(filepath.Ext(path), ".json") && !known[path] &&
			isReport(path) {
			files = append(files, path)
		}
		return nil // what cannot be read is not there
	})
	return files, err
}

// add puts a file into its group, unless it lies outside by way of a link.
func (c *catalogue) add(groups map[string]*group, file string) {
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		return
	}
	inside, err := filepath.Rel(c.dir, real)
	if err != nil || !filepath.IsLocal(inside) {
		return
	}
	info, err := os.Stat(real)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	name, err := filepath.Rel(c.dir, file)
	if err != nil {
		return
	}
	key := runPattern(name)
	g := groups[key]
	if g == nil {
		g = &group{key: key}
		groups[key] = g
	}
	g.files = append(g.files, file)
	if info.ModTime().After(g.last) {
		g.last = info.ModTime()
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s %d %d", g.stamp, name, info.Size(), info.ModTime().UnixNano())
	g.stamp = fmt.Sprintf("%x", h.Sum64())
}

// The names that ranks' traces have: rank0.json, x-rank-3.json, and those of
// torch.profiler.tensorboard_trace_handler, worker.time.pt.trace.json.
var (
	rankNumber  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(rank[-_.]?)\d+`) })
	workerTrace = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^.*\.\d{9,}(\.pt\.trace\.json(?:\.gz)?)$`)
	})
)

// runPattern is a path with a star in place of what tells the ranks of a run apart.
func runPattern(path string) string {
	folder, name := filepath.Split(path)
	name = workerTrace().ReplaceAllString(name, "*$1")
	return folder + rankNumber().ReplaceAllString(name, "$1*")
}
