package contract

import (
	"encoding/json"
	"strings"
	"testing"
)

type inner struct {
	N int64 `json:"n"`
}

type outer struct {
	List []inner `json:"list"`
	One  inner   `json:"one"`
}

// No level of a description forbids fields that it does not name.
func TestLaterFieldsAreAllowed(t *testing.T) {
	s, err := Of[outer]("outer-1.json", "outer/1")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil || strings.Contains(string(text), "additionalProperties") ||
		!strings.Contains(string(text), Dir+"outer-1.json") {
		t.Errorf("%v %s", err, text)
	}
	if _, err := Of[func()]("f.json", "f"); err == nil {
		t.Error("a function has a JSON form")
	}
}
