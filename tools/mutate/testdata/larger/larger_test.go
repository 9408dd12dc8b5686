package larger

import "testing"

func TestThan(t *testing.T) {
	if !Than(2, 1) || Than(1, 2) {
		t.Error("wrong")
	}
}
