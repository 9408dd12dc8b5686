package every

import (
	"testing"
	"time"
)

func TestSum(t *testing.T) {
	if Sum([]int{1, 2, 4, 8}, false) != 7 || Sum([]float64{1, 2}, true) != 3 {
		t.Error("wrong")
	}
}

func TestLate(t *testing.T) {
	if Late(2*time.Second, false) || !Late(2*time.Second+1, false) || Late(12*time.Second, true) {
		t.Error("wrong")
	}
}

func TestName(t *testing.T) {
	if Name(true) != "yes" || Name(false) != "no" {
		t.Error("wrong")
	}
}

func TestClamp(t *testing.T) {
	if Clamp(-1) != 0 || Clamp(200) != 150 || Clamp(7) != 7 {
		t.Error("wrong")
	}
}

func TestEndless(t *testing.T) {
	if Endless(2) != 2 {
		t.Error("wrong")
	}
}
