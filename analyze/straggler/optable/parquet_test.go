package optable

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
)

// packedRow is a row in other encodings, whose values may be missing.
type packedRow struct {
	Extra    []int32  `parquet:"extra,list"` // nested columns come before those of the table
	Step     int32    `parquet:"step,delta"`
	DP       *int64   `parquet:"dp_rank"`
	Stage    float64  `parquet:"stage,split"`
	Rank     *int32   `parquet:"rank,dict"`
	Type     string   `parquet:"optype,delta"`
	Start    float64  `parquet:"start_ts,split"`
	Duration *float32 `parquet:"duration"`
	Seq      int32    `parquet:"seq_id"`
	Chunk    int32    `parquet:"mc,dict"`
	Model    int32    `parquet:"gmc"`
}

// manyRows are rows in both forms.
func manyRows(n int) (plain []row, packed []packedRow) {
	for i := range n {
		r := row{int32(i / 100), int64(i % 3), float64(i % 5), int32(i % 7), typeNames[i%int(NumTypes)], float64(i) / 4,
			float32(i%50) / 8, int32(i), int32(i%4) - 1, -1, "x"}
		plain = append(plain, r)
		packed = append(packed, packedRow{[]int32{1, 2}[:i%3%2+1], r.Step, &r.DP, r.Stage, &r.Rank, r.Type, r.Start,
			&r.Duration, r.Seq, r.Chunk, r.Model})
	}
	return plain, packed
}

func written[T any](t *testing.T, rows []T, groups int, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	for i := range groups {
		part := rows[i*len(rows)/groups : (i+1)*len(rows)/groups]
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestForms: the same rows in every compression, in pages of both versions, in small pages
// and several groups, give the same table.
func TestForms(t *testing.T) {
	rows, packed := manyRows(1000)
	var want *Table
	codecs := []parquet.WriterOption{parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Snappy),
		parquet.Compression(&parquet.Gzip), parquet.Compression(&parquet.Brotli), parquet.Compression(&parquet.Zstd),
		parquet.Compression(&parquet.Lz4Raw)}
	for i, codec := range codecs {
		for version := 1; version <= 2; version++ {
			for _, groups := range []int{1, 3} {
				options := []parquet.WriterOption{codec, parquet.DataPageVersion(version), parquet.PageBufferSize(500)}
				for form, data := range [][]byte{written(t, rows, groups, options...),
					written(t, packed, groups, options...)} {
					what := fmt.Sprintf("codec %d, version %d, %d groups, form %d", i, version, groups, form)
					got, err := ReadFrom(bytes.NewReader(data), int64(len(data)))
					if err != nil {
						t.Errorf("%s: %v", what, err)
						continue
					}
					if want == nil {
						want = got
					}
					if got.Len() != 1000 || !reflect.DeepEqual(got, want) {
						t.Errorf("%s: another table of %d rows", what, got.Len())
					}
				}
			}
		}
	}
}

// TestMissing: a value that is missing is no zero.
func TestMissing(t *testing.T) {
	_, packed := manyRows(20)
	packed[7].Rank = nil
	for version := 1; version <= 2; version++ {
		data := written(t, packed, 1, parquet.DataPageVersion(version))
		if _, err := ReadFrom(bytes.NewReader(data), int64(len(data))); err == nil ||
			!strings.Contains(err.Error(), "rank: no value") {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// TestHybrid: runs and packed groups, as the library writes them.
func TestHybrid(t *testing.T) {
	for width := 1; width <= 32; width++ {
		for _, n := range []int{1, 7, 8, 9, 64, 1000} {
			want := make([]int32, n)
			for i := range want {
				want[i] = int32(uint32(1)<<(width-1)&uint32(1<<31-1)) * int32(min(1, i%11*(i/200%2)))
			}
			text, err := (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := hybrid(text, uint(width), n)
			if err != nil || len(got) != n {
				t.Fatalf("width %d, %d values: %d, %v", width, n, len(got), err)
			}
			for i := range got {
				if int32(got[i]) != want[i] {
					t.Fatalf("width %d, %d values: value %d is %d, want %d", width, n, i, got[i], want[i])
				}
			}
			if _, err := hybrid(text[:len(text)-1], uint(width), n); err == nil {
				t.Errorf("width %d, %d values: a text that was cut is read", width, n)
			}
		}
	}
	for _, bad := range []string{"", "\x00\x01", "\x01", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		if _, err := hybrid([]byte(bad), 8, 3); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	if list, err := hybrid([]byte("\xfe\xff\xff\xff\x0f\x05"), 3, 10); err != nil || len(list) != 10 || list[9] != 5 {
		t.Errorf("a long run: %v, %v", list, err)
	}
}

// TestDeltaBomb: a page that states more values than it has takes no memory for them.
func TestDeltaBomb(t *testing.T) {
	bomb := []byte{128, 1, 4, 0xff, 0xff, 0xff, 0xff, 7, 0} // 2^31-1 values
	for by := range encodings {
		if by.String() == "PLAIN" || by.String() == "BYTE_STREAM_SPLIT" {
			continue
		}
		for kind := range 7 {
			if _, err := decode(parquetTypes[kind], by, bomb, 3); err == nil {
				t.Errorf("%v of %v is read", by, parquetTypes[kind])
			}
		}
	}
}

var parquetTypes = []format.Type{format.Boolean, format.Int32, format.Int64, format.Float, format.Double,
	format.ByteArray, format.Int96}
