package gaprof_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors is a statement of policy: a package imports packages of lower floors
// only. When this test fails, the import is wrong, not the table. Packages that
// do not exist yet have their place already. A leaf that a package keeps for
// itself stands on the floor just under it.
var floors = [][]string{
	{"internal/runs", "internal/escape", "internal/inflate", "internal/units"},
	{"trace"},
	{"trace/text", "trace/csv", "trace/chrome", "trace/record", "trace/hardware", "trace/sidecar", "trace/perfetto", "trace/graph", "oracle"},
	{"trace/tracefile", "trace/otel", "analyze/facts", "reference/device", "internal/tracegen", "internal/contract"},
	{"analyze/ranks", "analyze/normalization", "analyze/whatif", "reference/ops", "reference/dist", "reference/telemetry", "reference/kineto", "reference/cpu/gemm"},
	{"analyze", "reference/cpu", "reference/sim", "reference/cuda", "reference"},
	{"analyze/rules", "analyze/compare", "analyze/pprof", "internal/ingest"},
	{"analyze/gate", "analyze/render/plots"},
	{"analyze/render"},
	{"cmd/gaprof"},
}

// module is the path of this module.
const module = "github.com/gaprof/gaprof"

// thirdParty are the modules that code may import, each with its line of reason
// in docs/decisions; test is true for those that only tests may import.
var thirdParty = []struct {
	path string
	test bool
}{
	{"github.com/spf13/cobra", false},
	{"github.com/spf13/pflag", false},
	{"golang.org/x/term", false},
	{"github.com/klauspost/compress", false},
	{"github.com/google/jsonschema-go", false},
	{"golang.org/x/perf", false},
	{"github.com/goccy/go-yaml", false},
	{"github.com/google/pprof", false},
	{"gonum.org/v1/plot", false},
	{"gonum.org/v1/gonum", false},
	{"go.opentelemetry.io/otel", false},
	{"go.opentelemetry.io/proto/otlp", true},
	{"google.golang.org/protobuf", true},
	{"github.com/rogpeppe/go-internal", true},
	{"github.com/go-json-experiment/json", true},
}

// source is one Go file of this module.
type source struct {
	path  string // slashes, relative to the root
	pkg   string // its folder, "" for the root
	test  bool
	lines int
	file  *ast.File
	fset  *token.FileSet
}

// imports returns what the file imports.
func (s source) imports() []string {
	var paths []string
	for _, spec := range s.file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, p)
	}
	return paths
}

// sources parses every Go file of the module. It reads the files itself: a test
// that ran the go command could be answered from the cache.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (skipDir(d.Name()) || isModule(name)) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		s, err := parse(name)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("found %d files only", len(all))
	}
	return all
}

// skipDir tells what the go command passes over as well.
func skipDir(name string) bool {
	return name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func parse(name string) (source, error) {
	s := source{path: filepath.ToSlash(name), test: strings.HasSuffix(name, "_test.go"), fset: token.NewFileSet()}
	if s.pkg = path.Dir(s.path); s.pkg == "." {
		s.pkg = ""
	}
	var err error
	if s.file, err = parser.ParseFile(s.fset, name, nil, parser.ParseComments); err == nil {
		s.lines = s.fset.File(s.file.FileStart).LineCount()
	}
	return s, err
}

// floorOf returns the floor of a package, -1 where the table does not name it.
func floorOf(pkg string) int {
	return slices.IndexFunc(floors, func(floor []string) bool { return slices.Contains(floor, pkg) })
}

func TestFloors(t *testing.T) {
	for _, s := range sources(t) {
		if s.pkg == "" {
			continue // tests of the house itself
		}
		if floorOf(s.pkg) < 0 {
			t.Errorf("%s: package %s stands on no floor: give it one in DESIGN and here", s.path, s.pkg)
			continue
		}
		for _, imported := range s.imports() {
			if why := forbidden(s.pkg, imported, s.test); why != "" {
				t.Errorf("%s: imports %s: %s", s.path, imported, why)
			}
		}
	}
}

// forbidden says why pkg may not import the package at path, or nothing.
func forbidden(pkg, imported string, test bool) string {
	own, ok := strings.CutPrefix(imported, module+"/")
	switch {
	case !ok:
		return foreign(imported, test)
	case own == pkg && test:
		return "" // an external test
	case floorOf(own) < 0:
		return "stands on no floor"
	case pkg != "cmd/gaprof" && (half(pkg) == "analyze" && half(own) == "reference" || half(pkg) == "reference" && half(own) == "analyze"):
		return "analyze and reference meet in traces only"
	case floorOf(own) < floorOf(pkg), test && floorOf(own) <= testFloor(pkg):
		return ""
	}
	return "stands on floor " + strconv.Itoa(floorOf(own)) + ", " + pkg + " on " + strconv.Itoa(floorOf(pkg))
}

// testFloor is the highest floor that tests of pkg may use: readers are tested
// with traces written as text, which stands beside them, and with generated ones,
// the trainer on the cpu backend, which stands beside it.
func testFloor(pkg string) int {
	if pkg == "reference" {
		return floorOf("reference/cpu")
	}
	if strings.HasPrefix(pkg, "trace") {
		return floorOf("internal/tracegen")
	}
	return floorOf(pkg) - 1
}

func half(pkg string) string {
	first, _, _ := strings.Cut(pkg, "/")
	return first
}

// foreign says why the package of another module may not be imported, or nothing.
func foreign(imported string, test bool) string {
	domain, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(domain, ".") {
		return "" // the standard library
	}
	for _, m := range thirdParty {
		if imported == m.path || strings.HasPrefix(imported, m.path+"/") {
			if m.test && !test {
				return "is for tests only"
			}
			return ""
		}
	}
	return "has no line of reason in docs/decisions and in this test"
}

// A dependency that nothing imports any more loses its line.
func TestDependenciesAreUsed(t *testing.T) {
	all := sources(t)
	for _, m := range thirdParty {
		if !slices.ContainsFunc(all, func(s source) bool {
			return slices.ContainsFunc(s.imports(), func(p string) bool { return p == m.path || strings.HasPrefix(p, m.path+"/") })
		}) {
			t.Errorf("nothing imports %s", m.path)
		}
	}
}

// The model and the formats below the files depend on nothing but the standard library.
func TestLowFloorsAreBare(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.pkg == "" || floorOf(s.pkg) > 1 {
			continue
		}
		for _, imported := range s.imports() {
			if domain, _, _ := strings.Cut(imported, "/"); strings.Contains(domain, ".") && !strings.HasPrefix(imported, module) {
				t.Errorf("%s: imports %s", s.path, imported)
			}
		}
	}
}

// Each package has one floor, and each dependency a line of reason.
func TestTables(t *testing.T) {
	seen := make(map[string]bool)
	for _, pkg := range slices.Concat(floors...) {
		if seen[pkg] {
			t.Errorf("%s stands on two floors", pkg)
		}
		seen[pkg] = true
	}
	reasons := decisions(t)
	for _, m := range thirdParty {
		if !strings.Contains(reasons, m.path) {
			t.Errorf("%s has no line of reason in docs/decisions", m.path)
		}
	}
}

func decisions(t *testing.T) string {
	t.Helper()
	names, _ := filepath.Glob("docs/decisions/*.md")
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// The test itself must be able to fail.
func TestForbidden(t *testing.T) {
	for _, c := range []struct {
		pkg, imported string
		test, want    bool
	}{
		{"trace", "fmt", false, false},
		{"trace", module + "/trace/text", false, true},
		{"trace", module + "/trace/text", true, false},
		{"trace/text", module + "/trace", false, false},
		{"trace/text", module + "/trace/chrome", false, true},
		{"analyze", module + "/analyze/rules", false, true},
		{"analyze", module + "/reference/ops", false, true},
		{"reference", module + "/analyze/facts", false, true},
		{"reference", module + "/analyze/facts", true, true},
		{"cmd/gaprof", module + "/reference/cuda", false, false},
		{"cmd/gaprof", module + "/unknown", false, true},
		{"cmd/gaprof", "github.com/go-json-experiment/json/jsontext", false, true},
		{"cmd/gaprof", "github.com/go-json-experiment/json/jsontext", true, false},
		{"cmd/gaprof", "github.com/spf13/cobra", false, false},
		{"cmd/gaprof", "github.com/spf13/cobra2", false, true},
	} {
		if got := forbidden(c.pkg, c.imported, c.test); (got != "") != c.want {
			t.Errorf("%s imports %s: %q", c.pkg, c.imported, got)
		}
	}
}
