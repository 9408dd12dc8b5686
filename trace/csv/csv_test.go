package csv

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
	"github.com/gaprof/gaprof/trace/text"
)

func write(t *testing.T, in string) string {
	t.Helper()
	tr, err := text.Read(strings.NewReader(in), "")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := Write(&out, tr); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWrite(t *testing.T) {
	const in = `
process 1 name=python
thread 1/-2 name="=cmd()"
1/-2 -1us +5us cpu_op "a,\"b\"" ext=12 dims=[[1, 2]] "x<y"="1" "bad"=json"[NaN" seq=3
0/7 20us +3us kernel "-f\nx" corr=7
0/7 30us i - "@"
`
	const want = "start_ns,dur_ns,phase,category,name,process,process_name,thread,thread_name," +
		"correlation,external_id,args_json\n" +
		`20000,3000,X,kernel,'-f\nx,0,,7,,7,,
30000,0,i,,'@,0,,7,,,,
-1000,5000,X,cpu_op,"a,""b""",1,python,-2,'=cmd(),,12,` +
		`"{""Input Dims"":[[1, 2]],""x<y"":""1"",""bad"":""[NaN"",""Seq"":3}"
`
	if got := write(t, in); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Every row is as wide as the header and its arguments are JSON, whatever names
// and arguments hold.
func FuzzWrite(f *testing.F) {
	f.Add("a", "b", "[1]")
	f.Add("=\"\r\n,", "\xff", "{")
	f.Fuzz(func(t *testing.T, name, text, raw string) {
		b := trace.NewBuilder()
		intern := func(s string) trace.StringID { return b.Intern([]byte(s)) }
		b.Add(&trace.Row{
			Phase: trace.Complete,
			Name:  intern(name),
			Track: b.Track(intern(text), intern(raw)),
			Args: []trace.Arg{
				{Key: b.Key([]byte(name)), Kind: trace.Text, Str: intern(text)},
				{Key: trace.KeySeq, Kind: trace.JSON, Str: intern(raw)},
			},
		})
		var out strings.Builder
		if err := Write(&out, b.Build()); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
		if err != nil || len(rows) != 2 || len(rows[1]) != len(Header) {
			t.Fatalf("%d rows, error %v, in %q", len(rows), err, out.String())
		}
		if args := rows[1][len(Header)-1]; !json.Valid([]byte(args)) {
			t.Errorf("arguments %q", args)
		}
	})
}

func TestWriteError(t *testing.T) {
	tr, _ := text.Read(strings.NewReader("1/1 0 +1 - a"), "")
	r, w := io.Pipe()
	r.CloseWithError(errors.New("disk full"))
	if err := Write(w, tr); err == nil || err.Error() != "disk full" {
		t.Errorf("error %v", err)
	}
}
