package chrome

import (
	"io"
	"strings"
	"testing"
)

// TestDamagedFiles reads a real trace that was made odd or broken in one way each.
// The rows are those of the whole file, or the ones that the damage left.
func TestDamagedFiles(t *testing.T) {
	const all = 31448 // rows of nanogpt-current
	for _, c := range []struct {
		file     string
		rows     int
		problems string
	}{
		{"gpu/nanogpt-current", all, ""},
		{"damaged/args-strings", all, ""},
		{"damaged/bad-escape", all, "bad_escape:3@7126"},
		{"damaged/bad-utf8", all, "bad_utf8:1@10214008"},
		{"damaged/comm-on-compute-stream", all, ""},
		{"damaged/compact-oneline", all, ""},
		{"damaged/gpu-only", 4764, ""},
		{"damaged/inf", all, "non_finite_number:5@4568993"},
		{"damaged/metadata-only", 0, ""},
		{"damaged/multimember", all, ""},
		{"damaged/nan-inf", all, "non_finite_number:5@4568993"},
		{"damaged/no-distributedInfo", all, ""},
		{"damaged/no-flow", 20833, ""},
		{"damaged/old-categories", all, ""},
		{"damaged/reversed-order", all, ""},
		{"damaged/toplevel-list", all, ""},
		{"damaged/trailing-comma", all, "extra_comma:1@10223223"},
		{"damaged/truncated-gzip", 16090, "truncated:1@6426159 compression_damage:1@6426233"},
		{"damaged/ts-in-ns", all, ""},
		{"damaged/unclosed-array", all, "unclosed_array:1@10223223"},
	} {
		t.Run(c.file, func(t *testing.T) {
			traces, err := Read(sharedTrace(t, c.file+".json.gz"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(traces) != 1 || traces[0].Len() != c.rows {
				t.Errorf("%d traces, %d rows, want %d", len(traces), traces[0].Len(), c.rows)
			}
			if p := problems(traces[0]); p != c.problems {
				t.Errorf("got problems %q, want %q", p, c.problems)
			}
		})
	}
}

// TestCutReport: the report of a cut file names the cut and what it cut.
func TestCutReport(t *testing.T) {
	traces, err := Read(sharedTrace(t, "damaged/truncated-gzip.json.gz"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	detail := traces[0].Problems()[0].Detail
	if !strings.Contains(detail, "6426233") || !strings.Contains(detail, "6426159") {
		t.Errorf("got %q", detail)
	}
}

// TestSameRows: layout, order and quoting change nothing in the rows.
func TestSameRows(t *testing.T) {
	want := ""
	for _, name := range []string{"gpu/nanogpt-current", "damaged/args-strings", "damaged/compact-oneline", "damaged/old-categories"} {
		traces, err := Read(sharedTrace(t, name+".json.gz"), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := dump(traces[0])
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s: other rows than the original", name)
		}
	}
}

// TestRoundTripOfRealFiles: what is read and written is the same trace, and what
// is written twice is the same bytes.
func TestRoundTripOfRealFiles(t *testing.T) {
	for _, name := range []string{"gpu/nanogpt-hook", "torch-cpu/single-accum1-scale", "torch-cpu/single-accum1-scale.native"} {
		text, err := io.ReadAll(sharedTrace(t, name+".json.gz"))
		if err != nil {
			t.Fatal(err)
		}
		checkRoundTrip(t, readOne(t, string(text)))
	}
}
