package reference

import (
	"reflect"
	"testing"
)

// A rank with three times as many rows takes three micro-batches of the data as one.
func TestHeavier(t *testing.T) {
	batch := func(token int64) Batch {
		return Batch{[]int64{token}, []int64{token}, []int64{token + 1}}
	}
	var list []Batch
	for i := range int64(7) {
		list = append(list, batch(i))
	}
	h := heavier{Batches{Words: 9, Ranks: [][]Batch{list, list}}, []int{1, 3}}
	if h.Len(0) != 7 || h.Len(1) != 2 {
		t.Errorf("%d and %d micro-batches", h.Len(0), h.Len(1))
	}
	want := Batch{[]int64{3, 4, 5}, []int64{3, 4, 5}, []int64{4, 5, 6}}
	if got := h.Batch(1, 1); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	if got := h.Batch(0, 1); !reflect.DeepEqual(got, batch(1)) {
		t.Errorf("%v", got)
	}
}

func TestMoreRows(t *testing.T) {
	for _, text := range []string{"1", "2=3", "-1=3", "1=0", "1=2.5", "x=3", "1=1001"} {
		o := Defaults()
		o.MoreRows = text
		if err := o.Validate(); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	o := Defaults()
	o.MoreRows, o.Uniform = "1=3", true
	p, err := o.plan()
	if err != nil || rowsOf(&p, 0) != o.LocalBatchSize || rowsOf(&p, 1) != 3*o.LocalBatchSize || p.even() {
		t.Errorf("%v: %d and %d rows", err, rowsOf(&p, 0), rowsOf(&p, 1))
	}
}
