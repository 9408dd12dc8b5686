// Command binsize says how large the program is and why: its stripped size, the sizes of
// its packages, and what makes the linker keep methods that nobody calls
// (docs/decisions/0006). It fails when the program is larger than -most, or keeps methods.
//
//	go run -C tools ./binsize
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	most := flag.Float64("most", 25, "the greatest size, in MB of 10^6 bytes")
	pkg := flag.String("pkg", "./cmd/gaprof", "what to build, from the root of the module")
	rows := flag.Int("rows", 12, "packages to list")
	flag.Parse()
	if err := run(os.Stdout, *pkg, *most, *rows); err != nil {
		fmt.Fprintln(os.Stderr, "binsize:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, pkg string, most float64, rows int) error {
	dir, err := os.MkdirTemp("", "binsize")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stripped, whole := filepath.Join(dir, "stripped"), filepath.Join(dir, "whole")
	if _, err := build(stripped, pkg, "-s -w"); err != nil {
		return err
	}
	edges, err := build(whole, pkg, "-dumpdep")
	if err != nil {
		return err
	}
	info, err := os.Stat(stripped)
	if err != nil {
		return err
	}
	symbols, err := exec.Command("go", "tool", "nm", "-size", whole).Output()
	if err != nil {
		return err
	}
	mb := float64(info.Size()) / 1e6
	fmt.Fprintf(w, "%s stripped: %.1f MB of at most %g\n", pkg, mb, most)
	for _, p := range largest(symbols, rows) {
		fmt.Fprintf(w, "%8.2f MB  %s\n", float64(p.bytes)/1e6, p.name)
	}
	chains := keepers(edges)
	for _, c := range chains {
		fmt.Fprintf(w, "keeps methods: %s\n", strings.Join(c, "\n      reached by "))
	}
	if mb > most || len(chains) > 0 {
		return fmt.Errorf("%.1f MB, %d reasons to keep methods that nobody calls: docs/decisions/0006", mb, len(chains))
	}
	return nil
}

// build builds a package for linux/amd64 and returns what the linker says.
func build(to, pkg, flags string) ([]byte, error) {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", flags, "-o", to, pkg)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %.2000s", err, out.String())
	}
	return out.Bytes(), nil
}

type part struct {
	name  string
	bytes int64
}

// largest sums the symbols of each package, from the output of go tool nm -size: code and
// data, without what takes no place in the file.
func largest(symbols []byte, rows int) []part {
	sums := make(map[string]int64)
	for line := range strings.Lines(string(symbols)) {
		f := strings.Fields(line)
		if len(f) < 4 || strings.EqualFold(f[2], "b") {
			continue
		}
		if n, err := strconv.ParseInt(f[1], 10, 64); err == nil && n < 1<<24 {
			sums[packageOf(f[3])] += n
		}
	}
	list := make([]part, 0, len(sums))
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, part{name, sums[name]})
	}
	slices.SortStableFunc(list, func(a, b part) int { return cmp.Compare(b.bytes, a.bytes) })
	return list[:min(rows, len(list))]
}

// packageOf is the module or package that a symbol belongs to: three elements of its path.
func packageOf(symbol string) string {
	symbol = strings.TrimPrefix(symbol, "type:")
	symbol = strings.TrimLeft(symbol, "*.")
	path, _, _ := strings.Cut(symbol, "[")
	slash := strings.LastIndex(path, "/") + 1
	if dot := strings.IndexByte(path[slash:], '.'); dot >= 0 {
		path = path[:slash+dot]
	}
	if elements := strings.SplitN(path, "/", 4); len(elements) > 3 {
		path = strings.Join(elements[:3], "/")
	}
	return path
}

// mark is what the linker writes after a function that calls methods by name.
const mark = " <ReflectMethod>"

// keepers are the functions that call methods by names that are known only when they run,
// each with what reaches it, from the edges that the linker writes. Functions of reflect
// are left out: they are kept because of the others.
func keepers(edges []byte) [][]string {
	from := make(map[string]string)
	var found []string
	lines := bufio.NewScanner(bytes.NewReader(edges))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		a, b, ok := strings.Cut(lines.Text(), " -> ")
		if !ok {
			continue
		}
		name := plain(b)
		if _, known := from[name]; !known {
			from[name] = plain(a)
			if strings.Contains(b, mark) && !strings.HasPrefix(name, "reflect.") {
				found = append(found, name)
			}
		}
	}
	var chains [][]string
	for _, name := range found {
		chain := []string{name}
		for len(chain) < 8 && from[name] != "" {
			name = from[name]
			chain = append(chain, name)
		}
		chains = append(chains, chain)
	}
	return chains
}

// plain is a name without the linker's marks.
func plain(name string) string {
	name, _, _ = strings.Cut(name, " <")
	return name
}
