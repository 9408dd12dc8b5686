package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/trace/sidecar"
)

// heads are what names try with their first characters, inner what they try anywhere, by
// what would obey them. Together they are short enough that no form cuts them out.
var (
	heads = []string{
		`=cmd|' /C calc'!A0`, "+1+1", "@SUM(1)", "-2+3", "\t=1", "\r=1", "\uff1d1", "| a | b |", "``` x", "- item",
		"# head", "---", "1. x", "> q", "    code", "[^1]: x",
		"::error::x", " ::add-mask::x", "##[error]x", "%0A::error::x", "key: [value", "!!python/object", "*a &b",
		"\ufffd\u202e",
	}
	inner = []string{
		`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'onload='alert(1)`,
		`</style></title></svg>]]><b>`, "<!--", "javascript:alert(1)", "${x}$(x)`x`{{7}}",
		"\x1b[2J\x1b]8;;http://e/\a", "\x1b]52;c;eA==\x1b\\", "\a\b\x7f\x00\u0085\u009b2J", "\r\n\t next",
		"\u202e\u2066\u200f\u061c", "\u2028\u2029\u200b\ufeff\u00ad", "\U000e0041\ufff9",
		"[x](javascript:alert(1))", "![](http://e/)", "<http://e/>", "http://e/ www.e.com @e", "\n::error::x",
		"x::set-output name=a::b", ", title=x", `\`, "\n- x\n\n# y\n| - |", "%0A%0D%25",
	}
)

// payloads join each head with one of inner.
func payloads() []string {
	list := make([]string, len(heads))
	for i, head := range heads {
		list[i] = head + inner[i]
	}
	return list
}

// roles are the places of a trace where names occur, by the word at the name's end that
// tells where it came from.
const (
	roleKernel     = "KERN"
	roleOptimizer  = "OPTI"
	roleAnnotation = "ANNO"
	roleDevice     = "DEVI"
	roleGroup      = "GROU"
	roleThread     = "THRE"
	roleCategory   = "CATE"
	roleKey        = "ARGK"
	roleValue      = "ARGV"
	roleTensor     = "TENS"
	roleFile       = "FILE"
)

// hostile is a folder with inputs in which every name is a payload.
type hostile struct {
	payload string
	dir     string // holds the files; its own name is a payload too
	traces  []string
	report  string // gaprof.report/1 of the traces
	foreign string // the same with a payload for every text
	run     string // a folder for norm: token log, losses, gradients
	out     string // what a command writes goes there
}

// name is the payload with the word of a role.
func (h *hostile) name(role string) string { return h.payload + role }

// fileName is a name that a file can have.
func (h *hostile) fileName(role string) string {
	return strings.NewReplacer("/", "_", "\x00", "_", "\\", "_").Replace(h.payload) + role
}

// newHostile writes the inputs for one payload.
func newHostile(t *testing.T, payload string) *hostile {
	t.Helper()
	h := &hostile{payload: payload}
	h.dir = filepath.Join(t.TempDir(), h.fileName("DIR"))
	h.out = filepath.Join(t.TempDir(), h.fileName("OUT"))
	h.run = filepath.Join(h.dir, h.fileName("RUN"))
	for _, dir := range []string{h.dir, h.out, filepath.Join(h.run, gradientsDir)} {
		must(t, os.MkdirAll(dir, 0o777))
	}
	for rank := range 2 {
		file := filepath.Join(h.dir, fmt.Sprintf("%s%d.json", h.fileName(roleFile), rank))
		must(t, os.WriteFile(file, h.trace(t, int64(rank)), 0o666))
		h.traces = append(h.traces, file)
	}
	h.report = filepath.Join(h.dir, h.fileName("REPORT")+".json")
	code, _, errs := runWith("",
		append([]string{"analyze", "--drawing", "--format", "json", "-o", h.report}, h.traces...)...)
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	h.foreign = filepath.Join(h.dir, h.fileName("FOREIGN")+".json")
	must(t, os.WriteFile(h.foreign, h.foreignReport(t), 0o666))
	h.writeRun(t)
	return h
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// trace is a sample trace with payloads for names, as the trace of a rank. Half of the
// surrogates in it are unpaired, and its last event is cut.
func (h *hostile) trace(t *testing.T, rank int64) []byte {
	t.Helper()
	text, err := os.ReadFile("../../traces/reduce-scatter-in-step.json")
	must(t, err)
	var doc map[string]any
	must(t, json.Unmarshal(text, &doc))
	group := map[string]any{
		"pg_name": h.name(roleGroup),
		"pg_desc": h.name(roleGroup),
		"pg_size": 2,
		"ranks":   []int{0, 1},
	}
	doc["deviceProperties"] = []any{map[string]any{"id": 0, "name": h.name(roleDevice), "totalGlobalMem": 1}}
	doc["distributedInfo"] = map[string]any{
		"backend":    h.name("BACK"),
		"rank":       rank,
		"world_size": 2,
		"pg_count":   1,
		"pg_config":  []any{group},
	}
	doc["traceName"], doc[h.name("HEAD")] = h.name("TRAC"), []any{h.name(roleValue)}
	events := doc["traceEvents"].([]any)
	for _, e := range events {
		h.rename(e.(map[string]any), rank)
	}
	for step := range 3 {
		events = append(events, h.extra(step)...)
	}
	doc["traceEvents"] = events
	out, err := json.Marshal(doc)
	must(t, err)
	return bytes.ReplaceAll(out, []byte("LONE"), []byte(`\ud800`))
}

// rename gives an event of the sample hostile names.
func (h *hostile) rename(e map[string]any, rank int64) {
	name := e["name"].(string)
	args, _ := e["args"].(map[string]any)
	switch {
	case e["ph"] == "M" && args["name"] != nil:
		args["name"] = h.name(roleThread)
	case e["ph"] == "M":
		args["labels"] = h.name("LABE")
	case strings.HasPrefix(name, "Optimizer.step#"):
		e["name"] = "Optimizer.step#" + h.name(roleOptimizer) + ".step"
	case strings.HasPrefix(name, "sgemm"):
		e["name"] = h.name(roleKernel)
	case strings.HasPrefix(name, "nccl"):
		e["name"] = strings.TrimSuffix(name, ")") + h.name(roleKernel) + ")"
	}
	if args["Process Group Name"] != nil {
		args["Process Group Name"], args["Rank"] = h.name(roleGroup), rank
	}
}

// extra are events of a step that the sample has none of: a collective launched from an
// annotation, a category, arguments, a thread, a flow and a marker with hostile names.
func (h *hostile) extra(step int) []any {
	at, corr := float64(step)*6800, 9000+step
	on := func(ph, cat, name string, tid any, ts, dur float64, args map[string]any) map[string]any {
		return map[string]any{
			"ph": ph, "cat": cat, "name": name, "pid": 100, "tid": tid, "ts": at + ts, "dur": dur, "args": args,
		}
	}
	reduce := on("X", "kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL("+h.name(roleKernel)+")", 20, 5900, 400,
		map[string]any{"correlation": corr, "stream": 20})
	reduce["pid"] = 0
	flow := on("s", "ac2g", h.name("FLOW"), 100, 10, 0, nil)
	flow["id"] = h.name("FLID")
	return []any{
		on("X", "user_annotation", h.name(roleAnnotation), 100, 1600, 100, nil),
		on("X", "cpu_op", "record_param_comms", 100, 1610, 20, map[string]any{
			"Collective name": "allreduce", "In msg nelems": 4, "Out msg nelems": 4, "dtype": "Float",
			"Process Group Name": h.name(roleGroup), "Process Group Description": h.name(roleGroup), "Group size": 2,
			"Seq": 900 + step,
		}),
		on("X", "cuda_runtime", "cudaLaunchKernelExC", 100, 1615, 3, map[string]any{"correlation": corr}), reduce,
		on("X", strings.ReplaceAll(h.name(roleCategory), ",", ";"), h.name("OPER")+"LONE", h.name("TID"), 30, 5,
			map[string]any{h.name(roleKey): h.name(roleValue), "list": []any{h.name(roleValue)}}),
		on("i", "", h.name("MARK"), 100, 40, 0, nil), flow,
	}
}

// kept are the texts of a report that its reader refuses to have otherwise.
var kept = regexp.MustCompile(`^(gaprof\.report/1|[A-Z]{2}[0-9]{3}|off|note|warn|error|[a-z_]+)$`)

// foreignReport is the report with a payload for every text that is not one of a few
// words: it may be anybody's.
func (h *hostile) foreignReport(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(h.report)
	must(t, err)
	var doc any
	must(t, json.Unmarshal(text, &doc))
	var change func(v any) any
	change = func(v any) any {
		switch v := v.(type) {
		case string:
			if !kept.MatchString(v) {
				return h.name("FORE")
			}
		case []any:
			for i := range v {
				v[i] = change(v[i])
			}
		case map[string]any:
			for key := range v {
				v[key] = change(v[key])
			}
		}
		return v
	}
	text, err = json.Marshal(map[string]any{"schema": "gaprof.report/1"})
	must(t, err)
	rest, err := json.Marshal(change(doc))
	must(t, err)
	return append(append(text[:len(text)-1], ','), rest[1:]...) // the schema comes first
}

// writeRun writes what norm audits.
func (h *hostile) writeRun(t *testing.T) {
	t.Helper()
	counts := `{"step":0,"rank":0,"micro_batch":0,"tokens":59}` + "\n" +
		`{"step":0,"rank":1,"micro_batch":0,"tokens":268}` + "\n"
	must(t, os.WriteFile(filepath.Join(h.run, tokensFile), []byte(counts), 0o666))
	for rank, value := range []float64{1, 3} {
		of := sidecar.GradientOf{Rank: int64(rank), MicroBatch: -1, WorldSize: 2}
		tensors := []sidecar.Tensor{
			{Name: h.name(roleTensor), Dtype: "F32", Shape: []int64{2}, Values: []float64{value, 2}},
		}
		must(t, sidecar.WriteGradients(filepath.Join(h.run, gradientsDir), of, tensors))
	}
}

// produced is what a command left: its streams and its files.
type produced struct {
	stdout, stderr string
	files          map[string][]byte
}

// run runs a command in this process.
func (h *hostile) runCommand(t *testing.T, args ...string) produced {
	t.Helper()
	must(t, os.RemoveAll(h.out))
	must(t, os.MkdirAll(h.out, 0o777))
	summary := filepath.Join(h.out, "summary.md")
	t.Setenv("GITHUB_STEP_SUMMARY", summary)
	code, stdout, stderr := runWith("", args...)
	if code == exitBug || code == exitUsage || code == exitInput {
		t.Fatalf("%q: exit %d: %s", args, code, stderr)
	}
	p := produced{stdout, stderr, make(map[string][]byte)}
	must(t, filepath.WalkDir(h.out, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			p.files[path], err = os.ReadFile(path)
		}
		return err
	}))
	return p
}

// file is a path to write to.
func (h *hostile) file(name string) string { return filepath.Join(h.out, h.fileName("")+name) }

// hostileRuns are the ways to run each command on hostile input. shows are the roles
// whose names the output must hold, so that a name that no longer gets there is noticed.
var hostileRuns = []struct {
	command string
	args    func(h *hostile, format string) []string
	shows   map[string]string // by format
	once    bool              // it takes long: one payload is enough
}{
	{command: "analyze", args: func(h *hostile, format string) []string {
		return append([]string{"--show", "findings,top,groups,ranks,health", "--progress", "plain", "--format", format},
			h.traces...)
	}, shows: map[string]string{
		"text": "KERN OPTI ANNO DEVI GROU", "md": "KERN OPTI ANNO DEVI GROU",
		"html": "KERN OPTI ANNO DEVI GROU FILE", "json": "KERN OPTI ANNO DEVI GROU FILE",
		"csv": "OPTI ANNO", "github": "OPTI", "gobench": "OPTI",
	}},
	{command: "report", args: func(h *hostile, format string) []string {
		return append([]string{"--format", format, "-o", h.file("." + format)}, h.traces...)
	}, shows: map[string]string{"html": "KERN OPTI ANNO DEVI GROU FILE", "md": "KERN OPTI ANNO DEVI GROU FILE"}},
	{command: "report", args: func(h *hostile, format string) []string {
		return []string{"--format", format, "-o", h.file("." + format), h.foreign}
	}, shows: map[string]string{"html": "FORE", "md": "FORE"}},
	{command: "check", args: func(h *hostile, format string) []string {
		return append([]string{"--format", format, "--baseline", h.report, "--fail-on", "note"}, h.traces...)
	}, shows: map[string]string{
		"text": "OPTI DEVI FILE", "md": "OPTI DEVI FILE", "github": "OPTI", "json": "OPTI FILE", "gobench": "OPTI",
	}},
	{command: "check", args: func(h *hostile, format string) []string {
		return []string{"--format", format, "--baseline", h.report, "--fail-on", "note", h.foreign}
	}},
	{command: "diff", args: func(h *hostile, format string) []string {
		return []string{"--format", format, h.traces[0], h.foreign}
	}, shows: map[string]string{
		"text": "FORE OPTI FILE DEVI", "md": "FORE OPTI FILE DEVI", "json": "FORE OPTI FILE DEVI",
	}},
	{command: "diff", args: func(h *hostile, format string) []string {
		return []string{"--format", format, "../../traces/reduce-scatter-in-hook.json", h.traces[0]}
	}, shows: map[string]string{"text": "OPTI"}},
	{command: "whatif", args: func(h *hostile, format string) []string {
		return []string{"--format", format, h.traces[0], "--edit", "none"}
	}, shows: map[string]string{"text": "FILE", "json": "FILE"}},
	{command: "calibrate", args: func(h *hostile, format string) []string {
		return append([]string{"--format", format, "--preset", "h100"}, h.traces...)
	}, shows: map[string]string{"text": "DEVI", "md": "DEVI", "json": "DEVI FILE"}},
	{command: "norm", args: func(h *hostile, format string) []string {
		return []string{
			"--format", format, h.run, "--against", filepath.Join(h.run, gradientsDir, "rank1-step0.safetensors"),
		}
	}, shows: map[string]string{"text": "TENS", "md": "TENS", "json": "TENS RUN"}},
	{command: "convert", args: func(h *hostile, format string) []string {
		return []string{h.traces[0], "--to", format, "-o", "-", "--progress", "plain"}
	}, shows: map[string]string{
		"chrome": "KERN OPTI ANNO DEVI GROU THRE CATE ARGK ARGV",
		"text":   "KERN OPTI ANNO DEVI GROU THRE CATE ARGK ARGV",
		"csv":    "KERN OPTI ANNO GROU THRE CATE ARGK ARGV", "pprof": "KERN OPTI ANNO",
	}},
	{command: "train", args: func(h *hostile, _ string) []string {
		return []string{
			"-o", filepath.Join(h.out, h.fileName("RUN")), "--max-steps", "1", "--world-size", "1", "--layers", "1",
			"--width", "8", "--heads", "1", "--sequence-length", "8", "--progress", "plain",
		}
	}, shows: map[string]string{"": "RUN"}},
	{
		command: "demo",
		once:    true,
		args:    func(h *hostile, _ string) []string { return []string{"-o", filepath.Join(h.out, h.fileName("RUN"))} },
		shows:   map[string]string{"": "RUN"},
	},
	{command: "open", args: func(h *hostile, _ string) []string {
		return append([]string{"--idle", "1ms", "--progress", "plain"}, h.traces...)
	}, shows: map[string]string{"": "token"}},
	{command: "serve", args: func(h *hostile, _ string) []string {
		return []string{"--idle", "1ms", h.dir}
	}, shows: map[string]string{"": "token"}},
	{command: "mcp", once: true, args: func(*hostile, string) []string { return nil }},
	{command: "explain", once: true, args: func(*hostile, string) []string { return nil }},
	{command: "version", once: true, args: func(*hostile, string) []string { return nil }},
	{command: "completion", once: true, args: func(*hostile, string) []string { return []string{"bash"} }},
}

// hostileErrors make messages of names: files that are not there or are no traces,
// damage, values of flags.
func hostileErrors(h *hostile) [][]string {
	notes := filepath.Join(h.dir, h.fileName("NOTES")+".json")
	os.WriteFile(notes, []byte(h.payload+" is no trace"), 0o666)
	yaml := filepath.Join(h.dir, h.fileName("CONFIG"))
	os.WriteFile(yaml, []byte("version: 1\nbudgets: {"+h.payload+": 1}\n"), 0o666)
	gone := filepath.Join(h.dir, h.fileName("GONE"))
	list := [][]string{
		{h.payload}, {"explain", h.payload}, {"completion", h.payload}, {"train", "--plant", h.payload},
		{"train", "--model", h.payload}, {"train", "--token-counts", h.payload},
		{"check", h.traces[0], "--config", yaml}, {"check", h.traces[0], "--config", gone},
		{"convert", h.traces[0], "-o", gone + ".x"}, {"convert", h.traces[0], "-o", "-", "--to", h.payload},
		{"analyze", gone}, {"analyze", "@" + gone}, {"analyze", notes}, {"analyze", h.traces[0], "--show", h.payload},
		{"analyze", h.traces[0], "--" + h.payload}, {"analyze", h.traces[0], h.traces[0]},
		{"analyze", h.traces[0], "--tokens", gone}, {"analyze", h.traces[0], "--rank-regex", h.payload + "("},
		{"norm", gone}, {"norm", h.run, "--against", gone}, {"norm", "--oracle", gone},
		{"diff", gone, notes}, {"report", notes}, {"report", h.traces[0], "-o", filepath.Join(gone, "x.html")},
		{"check", h.traces[0], "--baseline", notes}, {"train", "-o", h.dir}, {"demo", "-o", notes},
	}
	for i := range list {
		for j := range list[i] {
			list[i][j] = strings.ReplaceAll(list[i][j], "\x00", "") // no command line holds one
		}
	}
	return list
}

// formatsOf are the formats of a command: those that its flag names.
func formatsOf(c *cobra.Command) []string {
	for _, name := range []string{"format", "to"} {
		if f := c.Flags().Lookup(name); f != nil {
			_, list, _ := strings.Cut(f.Usage, "format to write: ")
			list, _, _ = strings.Cut(list, ";")
			return strings.Split(list, ", ")
		}
	}
	return []string{""}
}

// TestHostileNames runs every command in every format on names that try to get out of
// their place. It walks the tree of commands, so that a new one needs a row above, and a
// new format a check in outputChecks.
func TestHostileNames(t *testing.T) {
	root, _ := newRootCommand(streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
	if testing.Short() {
		t.Skip("SKIP: takes several seconds")
	}
	benign := newHostile(t, "plain")
	pages := map[string]map[string]bool{}
	for i, payload := range append([]string{"plain"}, payloads()...) {
		t.Run(fmt.Sprintf("%q", payload), func(t *testing.T) {
			h := benign
			if i > 0 {
				h = newHostile(t, payload)
			}
			for _, c := range root.Commands() {
				if c.Name() == "help" {
					continue
				}
				h.command(t, c, i == 0, pages)
			}
			for _, args := range hostileErrors(h) {
				code, stdout, stderr := runWith("", args...)
				if code == exitBug || code == exitOK && stderr == "" {
					t.Errorf("%q: exit %d without a word: %s%s", args, code, stdout, stderr)
				}
				checkMessages(t, fmt.Sprintf("%q", args), stderr)
				checkTerminal(t, fmt.Sprintf("%q", args), stdout)
			}
		})
	}
}

// command runs all rows of a command in all its formats.
func (h *hostile) command(t *testing.T, c *cobra.Command, first bool, pages map[string]map[string]bool) {
	t.Helper()
	found := false
	for _, r := range hostileRuns {
		if r.command != c.Name() {
			continue
		}
		found = true
		if r.once && h.payload != payloads()[7] {
			continue
		}
		for _, format := range formatsOf(c) {
			check := outputChecks[format]
			if check == nil {
				t.Fatalf("%s: nothing here knows what must not stand in the format %q", c.Name(), format)
			}
			where := c.Name() + " " + format
			p := h.runCommand(t, append([]string{c.Name()}, r.args(h, format)...)...)
			checkMessages(t, where, p.stderr)
			o := outputOf{h: h, where: where, pages: pages, first: first}
			all := p.stdout
			if p.stdout != "" {
				all = check(t, o, p.stdout)
			}
			for _, file := range slices.Sorted(func(yield func(string) bool) {
				for file := range p.files {
					if !yield(file) {
						return
					}
				}
			}) {
				all += checkFile(t, o, file, p.files[file])
			}
			for role := range strings.FieldsSeq(r.shows[format]) {
				if !strings.Contains(all, role) {
					t.Errorf("%s: no name of %s gets there", where, role)
				}
			}
		}
	}
	if !found {
		t.Errorf("the command %s has no row in hostileRuns", c.Name())
	}
}

// checkFile checks a file by its extension and returns its text.
func checkFile(t *testing.T, o outputOf, file string, data []byte) string {
	t.Helper()
	o.where += " " + filepath.Ext(file)
	if strings.HasSuffix(file, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		must(t, err)
		data, err = io.ReadAll(z)
		must(t, err)
		file = strings.TrimSuffix(file, ".gz")
	}
	format := strings.TrimPrefix(filepath.Ext(file), ".")
	switch format {
	case "safetensors":
		return ""
	case "jsonl":
		format = "jsonl"
	}
	check := outputChecks[format]
	if check == nil {
		t.Fatalf("%s: nothing here knows what must not stand in the file %q", o.where, file)
	}
	return check(t, o, string(data))
}
