package gaprof_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors is a statement of policy: a package imports packages of lower floors
// only. When this test fails, the import is wrong, not the table. The numbers are
// those of docs/architecture.md, which a test holds to this table. Packages that
// do not exist yet have their place already. "." is the root package.
var floors = [][]string{
	0: {"trace"},
	1: {
		"trace/chrome", "trace/text", "trace/csv", "trace/record", "trace/hardware", "trace/sidecar", "trace/graph",
		"trace/nsys", "trace/rocm", "trace/perfetto", "trace/otlp", "oracle",
	},
	2: {"trace/tracefile", "analyze/timeline", "reference/device", "internal/contract"},
	3: {"analyze/facts", "reference/ops", "reference/device/devicetest", "reference/telemetry", "reference/kineto"},
	4: {
		"analyze/ranks", "analyze/normalization", "analyze/digest", "analyze/drawing",
		"analyze/report", "analyze/straggler",
		"reference", "reference/cpu", "reference/sim", "reference/cuda",
	},
	5: {"analyze"},
	6: {"analyze/rules", "analyze/compare", "analyze/pprof", "internal/ingest"},
	7: {"analyze/gate"},
	8: {"analyze/render"},
	9: {".", "cmd/gaprof"},
}

// parts stand just under the package that they were taken out of, by part and then
// whole. A part may import the parts of the same whole that stand before it here.
var parts = [][2]string{
	{"trace/chrome/scan", "trace/chrome"},
	{"trace/chrome/input", "trace/chrome"},
	{"trace/chrome/token", "trace/chrome"},
	{"trace/chrome/template", "trace/chrome"},
	{"trace/chrome/event", "trace/chrome"},
	{"trace/chrome/pool", "trace/chrome"},
	{"trace/tracefile/readertest", "trace/tracefile"},
	{"analyze/steps", "analyze/facts"},
	{"analyze/gradients", "analyze/facts"},
	{"analyze/idle", "analyze/facts"},
	{"analyze/memory", "analyze/facts"},
	{"analyze/work", "analyze/facts"},
	{"analyze/lateness", "analyze"},
	{"analyze/calibration", "analyze"},
	{"analyze/straggler/optable", "analyze/straggler"},
	{"analyze/whatif", "analyze"},
	{"analyze/render/plots/plot", "analyze/render"},
	{"analyze/render/agent", "analyze/render"},
	{"analyze/render/overlay", "analyze/render"},
	{"internal/web", "cmd/gaprof"},
	{"internal/mcptools", "cmd/gaprof"},
	{"analyze/render/plots", "analyze/render"},
	{"reference/telemetry/otlp", "reference/telemetry"},
	{"reference/cpu/simd", "reference/cpu"},
	{"reference/cpu/gemm", "reference/cpu"},
	{"reference/sim/nccl", "reference/sim"},
	{"reference/autograd", "reference"},
	{"reference/model", "reference"},
	{"reference/optim", "reference"},
	{"reference/gradients", "reference"},
}

// leaves are helpers that import the standard library only. They stand under floor
// 0, and anyone may import them.
var leaves = []string{
	"internal/runs", "internal/escape", "internal/jsonerr", "internal/inflate", "internal/parallel", "internal/units",
	"internal/bounded", "internal/choice", "internal/spelling", "internal/release", "internal/tracegen",
	"internal/markup", "internal/loopback", "docs",
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
	{"golang.org/x/sys", false},
	{"github.com/klauspost/compress", false},
	{"github.com/google/jsonschema-go", false},
	{"golang.org/x/perf", false},
	{"github.com/goccy/go-yaml", false},
	{"github.com/google/pprof", false},
	{"github.com/parquet-go/parquet-go", false},
	{"gonum.org/v1/plot", false},
	{"codeberg.org/go-fonts/liberation", true},
	{"golang.org/x/image", false},
	{"go.opentelemetry.io/otel", false},
	{"go.opentelemetry.io/proto/otlp", true},
	{"google.golang.org/protobuf", true},
	{"github.com/modelcontextprotocol/go-sdk", false},
	{"github.com/rogpeppe/go-internal", true},
	{"github.com/go-json-experiment/json", true},
}

// place is where a package stands: on a floor, as a leaf under all of them, or as a
// part just under its floor.
type place struct {
	floor int // -1 for a leaf
	part  int // for a part: how many of the table, from here to its end
	whole string
}

// label is the place as docs/architecture.md writes it.
func (p place) label() string {
	switch {
	case p.floor < 0:
		return "leaf"
	case p.part > 0:
		return "under " + strconv.Itoa(p.floor)
	}
	return strconv.Itoa(p.floor)
}

// placeOf returns the place of a package; ok is false where no table names it.
func placeOf(pkg string) (p place, ok bool) {
	if slices.Contains(leaves, pkg) {
		return place{floor: -1}, true
	}
	for i, part := range parts {
		if part[0] == pkg {
			whole, ok := placeOf(part[1])
			return place{whole.floor, len(parts) - i, part[1]}, ok
		}
	}
	floor := slices.IndexFunc(floors, func(floor []string) bool { return slices.Contains(floor, pkg) })
	return place{floor: floor}, floor >= 0
}

// under reports whether a package at q may import one at p.
func (p place) under(q place) bool {
	if p.floor != q.floor || p.floor < 0 {
		return p.floor < q.floor
	}
	return p.part > q.part && (q.part == 0 || p.whole == q.whole)
}

const page = "docs/architecture.md"

func TestFloors(t *testing.T) {
	for _, s := range sources(t) {
		if s.pkg == "." && s.test {
			continue // tests of the house itself
		}
		if _, ok := placeOf(s.pkg); !ok {
			t.Errorf("%s: package %s stands on no floor: give it one in floors_test.go and in %s", s.path, s.pkg, page)
			continue
		}
		for _, imported := range s.imports() {
			if why := forbidden(s.pkg, imported, s.test); why != "" {
				t.Errorf("%s: imports %s: %s (see %s)", s.path, imported, why, page)
			}
		}
	}
}

// forbidden says why pkg may not import the package at path, or nothing.
func forbidden(pkg, imported string, test bool) string {
	if imported == module {
		imported = module + "/."
	}
	own, ok := strings.CutPrefix(imported, module+"/")
	if !ok {
		return foreign(imported, test)
	}
	if own == pkg && test {
		return "" // an external test
	}
	from, _ := placeOf(pkg)
	to, ok := placeOf(own)
	switch {
	case !ok:
		return "stands on no floor"
	case apart(pkg, own) || apart(own, pkg):
		return "analyze and reference meet in traces only"
	case to.under(from), test && to.floor <= testFloor(pkg):
		return ""
	}
	return "its floor is " + to.label() + ", that of " + pkg + " is " + from.label()
}

// apart reports whether a stands on the side of the analyzer and b on that of the
// trainer. Only the command joins them.
func apart(a, b string) bool {
	return (half(a) == "analyze" || a == "." || a == "internal/ingest") && half(b) == "reference"
}

// testFloor is the highest floor that tests of pkg may use: readers are tested
// with traces written as text, which stands beside them, the trainer on the cpu
// backend, which stands beside it.
func testFloor(pkg string) int {
	p, _ := placeOf(pkg)
	switch {
	case pkg == "reference":
		return p.floor
	case half(pkg) == "trace":
		return max(p.floor, 1)
	}
	return p.floor - 1
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
		of := func(p string) bool { return p == m.path || strings.HasPrefix(p, m.path+"/") }
		if !slices.ContainsFunc(all, func(s source) bool { return slices.ContainsFunc(s.imports(), of) }) {
			t.Errorf("nothing imports %s", m.path)
		}
	}
}

// The model, the formats below the files and the leaves depend on nothing but the
// standard library.
func TestLowFloorsAreBare(t *testing.T) {
	for _, s := range sources(t) {
		if p, ok := placeOf(s.pkg); !ok || s.test || p.floor > 1 {
			continue
		}
		for _, imported := range s.imports() {
			own := imported == module || strings.HasPrefix(imported, module+"/")
			if domain, _, _ := strings.Cut(imported, "/"); strings.Contains(domain, ".") && !own {
				t.Errorf("%s: imports %s", s.path, imported)
			}
		}
	}
}

// Each package has one place, and each dependency a line of reason.
func TestTables(t *testing.T) {
	all := slices.Concat(slices.Concat(floors...), leaves)
	for _, part := range parts {
		all = append(all, part[0])
		if whole, ok := placeOf(part[1]); !ok || whole.part > 0 || whole.floor < 0 {
			t.Errorf("%s is part of %s, which stands on no floor", part[0], part[1])
		}
	}
	seen := make(map[string]bool)
	for _, pkg := range all {
		if seen[pkg] {
			t.Errorf("%s stands in two places", pkg)
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
		{"trace", module + "/internal/runs", false, false},
		{"internal/runs", module + "/internal/escape", false, true},
		{"internal/runs", module + "/trace", false, true},
		{"trace/chrome", module + "/trace/chrome/scan", false, false},
		{"trace/chrome/scan", module + "/trace/chrome", false, true},
		{"trace/chrome/token", module + "/trace/chrome/scan", false, false},
		{"trace/chrome/scan", module + "/trace/chrome/token", false, true},
		{"reference/model", module + "/reference/cpu/gemm", false, true}, // a part of another package
		{"analyze/report", module + "/analyze/facts", false, false},
		{"analyze/facts", module + "/analyze/report", false, true},
		{"internal/ingest", module + "/reference", false, true},
		{".", module + "/analyze/render", false, false},
		{".", module + "/reference", false, true},
		{".", module + "/cmd/gaprof", false, true},
		{"cmd/gaprof", module, false, true},
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
