package sidecar

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gaprof/gaprof/trace"
)

// tensorBytes is a file of a header and data.
func tensorBytes(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

func TestSafetensorsRoundTrip(t *testing.T) {
	tensors := []Tensor{
		{"b.weight", F64, []int64{2, 2}, []float64{1, math.Pi, math.Inf(-1), 0}},
		{"a \"quoted\"", F32, []int64{}, []float64{0.1}},
		{"empty", F32, []int64{0, 5}, nil},
	}
	var b, again bytes.Buffer
	meta := map[string]string{"rank": "1", "step": "0", "a": "é"}
	if err := WriteSafetensors(&b, meta, tensors); err != nil {
		t.Fatal(err)
	}
	if err := WriteSafetensors(&again, meta, tensors); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("two writings differ", err)
	}
	if length := binary.LittleEndian.Uint64(b.Bytes()); length%8 != 0 {
		t.Errorf("the data begins at byte %d", 8+length)
	}
	s, err := ReadSafetensors(bytes.NewReader(b.Bytes()), int64(b.Len()), "f")
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(s.Meta) != fmt.Sprint(meta) || len(s.Tensors) != 3 {
		t.Errorf("%v %v", s.Meta, s.Tensors)
	}
	for _, want := range []struct{ name, values string }{
		{"b.weight", "[1 3.141592653589793 -Inf 0]"},
		{"a \"quoted\"", "[0.10000000149011612]"},
		{"empty", "[]"},
	} {
		info, ok := s.Find(want.name)
		if !ok {
			t.Fatalf("no %s", want.name)
		}
		if got, err := s.Values(info, nil); err != nil || fmt.Sprint(got) != want.values {
			t.Errorf("%s: %v %v", want.name, got, err)
		}
	}
}

func TestHalfPrecision(t *testing.T) {
	header := `{"h":{"dtype":"F16","shape":[7],"data_offsets":[0,14]},` +
		`"g":{"dtype":"BF16","shape":[2],"data_offsets":[14,18]}}`
	b := tensorBytes(header, 0)
	for _, bits := range []uint16{0x3c00, 0xc000, 0x7bff, 0x0001, 0x7c00, 0xfc00, 0x7e00, 0x3fc0, 0xc2f7} {
		b = binary.LittleEndian.AppendUint16(b, bits)
	}
	s, err := ReadSafetensors(bytes.NewReader(b), int64(len(b)), "f")
	if err != nil {
		t.Fatal(err)
	}
	h, _ := s.Values(&s.Tensors[0], nil)
	g, _ := s.Values(&s.Tensors[1], nil)
	if got := fmt.Sprint(h, g); got != "[1 -2 65504 5.960464477539063e-08 +Inf -Inf NaN] [1.5 -123.5]" {
		t.Error(got)
	}
}

func TestHostileSafetensors(t *testing.T) {
	long := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	entry := func(dtype, shape, offsets string) string {
		return fmt.Sprintf(`"w":{"dtype":%q,"shape":%s,"data_offsets":%s}`, dtype, shape, offsets)
	}
	for _, test := range []struct {
		name   string
		file   []byte
		reason string
	}{
		{"empty", nil, "0 bytes hold no header"},
		{"seven bytes", make([]byte, 7), "7 bytes hold no header"},
		{"absurd length", append(long, "{}"...), "a header of 18446744073709551615 bytes"},
		{"longer than the file", tensorBytes("{}", 0)[:9], "a header of 2 bytes in a file of 9"},
		{"no header", tensorBytes("", 0), "the header is empty"},
		{"a list", tensorBytes("[]", 0), "not a JSON object"},
		{"cut", tensorBytes(`{"w":{"dtype"`, 0), "EOF"},
		{"more behind it", tensorBytes("{}{}", 0), "goes on"},
		{"twice", tensorBytes("{"+entry("F32", "[1]", "[0,4]")+","+entry("F32", "[1]", "[4,8]")+"}", 8), "twice"},
		{"unknown dtype", tensorBytes("{"+entry("F4", "[1]", "[0,4]")+"}", 4), "unknown dtype"},
		{"backwards", tensorBytes("{"+entry("F32", "[1]", "[4,0]")+"}", 4), "data_offsets [4 0]"},
		{"negative offset", tensorBytes("{"+entry("F32", "[1]", "[-4,0]")+"}", 4), "data_offsets [-4 0]"},
		{"one offset", tensorBytes("{"+entry("F32", "[1]", "[0]")+"}", 4), "data_offsets [0]"},
		{"negative shape", tensorBytes("{"+entry("F32", "[-1,-1]", "[0,4]")+"}", 4), "shape [-1 -1]"},
		{"overflow", tensorBytes("{"+entry("F32", "[4294967296,4294967296]", "[0,0]")+"}", 0), "shape"},
		{"outside", tensorBytes("{"+entry("F32", "[2]", "[0,8]")+"}", 4), "ends at byte 8"},
		{"short for its shape", tensorBytes("{"+entry("F32", "[2]", "[0,4]")+"}", 4), "wants 8"},
		{
			"overlap",
			tensorBytes(`{"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},`+entry("F32", "[1]", "[4,8]")+"}", 8),
			"lies over",
		},
		{"hole", tensorBytes("{"+entry("F32", "[1]", "[4,8]")+"}", 8), "belong to no tensor"},
		{"rest", tensorBytes("{"+entry("F32", "[1]", "[0,4]")+"}", 9), "5 bytes of the data"},
		{"metadata of numbers", tensorBytes(`{"__metadata__":{"rank":1}}`, 0), "cannot unmarshal"},
		{"a float in a shape", tensorBytes("{"+entry("F32", "[1.5]", "[0,4]")+"}", 4), "cannot unmarshal"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := ReadSafetensors(bytes.NewReader(test.file), int64(len(test.file)), "f")
			var format *trace.FormatError
			if !errors.As(err, &format) || !strings.Contains(format.Reason, test.reason) || format.File != "f" {
				t.Errorf("%v, want %s", err, test.reason)
			}
		})
	}
}

func TestNoGradient(t *testing.T) {
	b := tensorBytes(`{"w":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}`, 8)
	s, err := ReadSafetensors(bytes.NewReader(b), int64(len(b)), "f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Values(&s.Tensors[0], nil); err == nil || !strings.Contains(err.Error(), "no gradient") {
		t.Error(err)
	}
}

func FuzzSafetensors(f *testing.F) {
	f.Add(tensorBytes(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4))
	f.Add(tensorBytes(`{"__metadata__":{"rank":"1"}}`, 0))
	f.Add([]byte("12345678{}"))
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := ReadSafetensors(bytes.NewReader(file), int64(len(file)), "f")
		if err != nil {
			return
		}
		total := 0
		for i := range s.Tensors {
			if _, ok := decoders[s.Tensors[i].Dtype]; !ok {
				continue
			}
			values, err := s.Values(&s.Tensors[i], nil)
			if err != nil || int64(len(values)) != s.Tensors[i].Numel() {
				t.Errorf("%v: %d values, %v", s.Tensors[i], len(values), err)
			}
			total += len(values)
		}
		if total > len(file) {
			t.Errorf("%d values in %d bytes", total, len(file))
		}
	})
}

func TestGradientFiles(t *testing.T) {
	dir := t.TempDir()
	for _, of := range []GradientOf{
		{Rank: 1, Step: 0, MicroBatch: -1},
		{Rank: 0, Step: 10, MicroBatch: -1},
		{Rank: 0, Step: 0, MicroBatch: 3},
		{Rank: 0, Step: 0, MicroBatch: -1},
	} {
		of.WorldSize = 2
		if err := WriteGradients(dir, of, []Tensor{{"w", F32, []int64{1}, []float64{1}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	list, err := FindGradients(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, g := range list {
		got = append(got, fmt.Sprint(filepath.Base(g.File), g.Of))
	}
	want := []string{
		"rank0-step0.safetensors {0 0 -1 2}",
		"rank0-step0-micro3.safetensors {0 0 3 2}",
		"rank1-step0.safetensors {1 0 -1 2}",
		"rank0-step10.safetensors {0 10 -1 2}",
	}
	for i := range want {
		want[i] = strings.Replace(want[i], " {", "{", 1)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if err := WriteGradients(dir, GradientOf{MicroBatch: -1}, nil); err == nil {
		t.Error("an existing file was overwritten")
	}
}

func TestGradientIdentity(t *testing.T) {
	for _, test := range []struct {
		file, meta, want string
	}{
		{"rank3-step7.safetensors", "", "{3 7 -1 0}"},
		{"rank3-step7-micro0.safetensors", `"__metadata__":{"world_size":"4"}`, "{3 7 0 4}"},
		{"any.safetensors", `"__metadata__":{"rank":"1","step":"2","micro_batch":"3"}`, "{1 2 3 0}"},
		{"any.safetensors", "", "says which rank"},
		{"rank1-step2.safetensors", `"__metadata__":{"rank":"0"}`, "rank 0, the name of the file"},
		{"rank1-step2.safetensors", `"__metadata__":{"rank":"-1"}`, `rank is "-1"`},
		{"rank1-step2.safetensors", `"__metadata__":{"step":"x"}`, `step is "x"`},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, test.file), tensorBytes("{"+test.meta+"}", 0), 0o666); err != nil {
			t.Fatal(err)
		}
		list, err := FindGradients(dir)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(list[0].Of)
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s %s: %s, want %s", test.file, test.meta, got, test.want)
		}
	}
}
