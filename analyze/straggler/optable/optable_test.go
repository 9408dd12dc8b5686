package optable

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

const header = "step,dp_rank,stage,rank,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n"

func read(text string) (*Table, error) { return ReadFrom(strings.NewReader(text), int64(len(text))) }

func TestCSV(t *testing.T) {
	table, err := read(header + "7,1,2,3,gc,0.5,0.25,4,-1,-1,-1\n8,0,0,0,forward-compute,1.0000000014,1e-9,0,1,0,5\n")
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != 2 || table.Step[0] != 7 || table.DP[0] != 1 || table.Stage[0] != 2 || table.Rank[0] != 3 ||
		table.Type[0] != GC || table.Start[0] != 5e8 || table.Duration[0] != 25e7 || table.Seq[0] != 4 ||
		table.Chunk[0] != -1 || table.ModelChunk[1] != 5 || table.Start[1] != 1000000001 || table.Duration[1] != 1 {
		t.Errorf("%+v", table)
	}
}

// What cannot be read is refused with the row, the column and the byte.
func TestRefused(t *testing.T) {
	row := "7,1,2,3,gc,0.5,0.25,4,-1,-1,-1\n"
	for _, test := range []struct{ name, text, want string }{
		{"empty", "", "the file ends here"},
		{"short", "ab", "the file ends here"},
		{"no table", "hello\nworld\n", "no column step, dp_rank"},
		{"one column less", "step,dp_rank,stage,rank,optype,start_ts,duration,seq_id,mc\n", "no column gmc"},
		{"no rows", header, "without rows"},
		{"a type", header + strings.Replace(row, "gc", "forward", 1), `row 1, optype: "forward" is no type`},
		{"text for a number", header + row + strings.Replace(row, "0.25", "x", 1),
			`at byte 100: row 2, duration: "x" is not a number`},
		{"negative", header + strings.Replace(row, "0.25", "-1", 1), "duration: -1 is not between"},
		{"not a number", header + strings.Replace(row, "0.25", "NaN", 1), "NaN is not between"},
		{"infinite", header + strings.Replace(row, "0.5", "1e400", 1), "is not"},
		{"a rank", header + strings.Replace(row, "7,1,2,3", "7,1,2,99999999999", 1), "rank: 99999999999 is not"},
		{"a row too short", header + "7,1\n", "wrong number of fields"},
		{"damaged Parquet", "PAR1 and then nothing", "damaged Parquet"},
	} {
		if _, err := read(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
	}
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a plain file") {
		t.Errorf("a folder: %v", err)
	}
}

// row is one of a Parquet file in which pandas writes other widths than the published ones.
type row struct {
	Step     int32   `parquet:"step"`
	DP       int64   `parquet:"dp_rank"`
	Stage    float64 `parquet:"stage"`
	Rank     int32   `parquet:"rank"`
	Type     string  `parquet:"optype,dict"`
	Start    float64 `parquet:"start_ts"`
	Duration float32 `parquet:"duration"`
	Seq      int32   `parquet:"seq_id"`
	Chunk    int32   `parquet:"mc"`
	Model    int32   `parquet:"gmc"`
	Extra    string  `parquet:"extra"`
}

func parquetOf(t testing.TB, rows ...row) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestParquet(t *testing.T) {
	data := parquetOf(t, row{7, 1, 2, 3, "gc", 0.5, 0.25, 4, -1, -1, "x"}, row{Type: "optimizer", Start: 1})
	table, err := ReadFrom(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if table.Len() != 2 || table.Stage[0] != 2 || table.Type[1] != Optimizer || table.Duration[0] != 25e7 ||
		table.Start[1] != 1e9 {
		t.Errorf("%+v", table)
	}
	for name, bad := range map[string]row{
		"stage":    {Type: "gc", Stage: 0.5},
		"optype":   {Type: "nothing"},
		"start_ts": {Type: "gc", Start: math.NaN()},
		"rank":     {Type: "gc", Rank: -1},
	} {
		data := parquetOf(t, bad)
		_, err := ReadFrom(bytes.NewReader(data), int64(len(data)))
		if err == nil || !strings.Contains(err.Error(), name+": row 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The published job ST, whose text form says the same.
func TestPublished(t *testing.T) {
	path := filepath.Join("..", "..", "..", "..", "shared", "traces", "straggler", "trace-ST.parquet")
	table, err := Read(path)
	if os.IsNotExist(err) {
		t.Skipf("the published job is not at hand: %v", err)
	}
	if err != nil || table.Len() != 6784 {
		t.Fatalf("%d rows, %v", table.Len(), err)
	}
	if table.Type[0] != BackwardCompute || table.Step[0] != 23 || table.Duration[0]/1e6 != 138 {
		t.Errorf("row 0: %v, step %d, %d ns", table.Type[0], table.Step[0], table.Duration[0])
	}
}

// Whatever is read, it is a table with columns of one length, or an error.
func FuzzRead(f *testing.F) {
	f.Add([]byte(header + "7,1,2,3,gc,0.5,0.25,4,-1,-1,-1\n"))
	f.Add(parquetOf(f, row{7, 1, 2, 3, "gc", 0.5, 0.25, 4, -1, -1, "x"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := ReadFrom(bytes.NewReader(data), int64(len(data)))
		if err == nil && table.check() != nil {
			t.Error("columns of different lengths")
		}
	})
}

// endless gives the same byte for ever, and counts them.
type endless struct {
	c    byte
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.c
	}
	e.read += len(p)
	return len(p), nil
}

// A row has an end, in quotes or not, the first as any other.
func TestEndlessRow(t *testing.T) {
	head := ""
	for _, c := range columns {
		head += c.name + ","
	}
	for _, before := range []string{"", `"`, head + "\n", head + "\n\""} {
		source := &endless{c: 'x'}
		_, err := readCSV(io.MultiReader(strings.NewReader(before), source))
		if err == nil || !strings.Contains(err.Error(), "a row of more than 1048576 bytes") || source.read > 2<<20 {
			t.Errorf("%q: %v after %d bytes", before, err, source.read)
		}
	}
}
