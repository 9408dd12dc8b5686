package parallel

import "testing"

func TestBoth(t *testing.T) {
	var one, other int
	Both(func() { one = 1 }, func() { other = 2 })
	if one != 1 || other != 2 {
		t.Errorf("ran %d and %d", one, other)
	}
}

// A panic of either function reaches the caller, and only after the other is done.
func TestBothPanics(t *testing.T) {
	for first := range 2 {
		done := false
		caught := func() (bug any) {
			defer func() { bug = recover() }()
			panics, finishes := func() { panic("bug") }, func() { done = true }
			if first == 0 {
				Both(panics, finishes)
			} else {
				Both(finishes, panics)
			}
			return nil
		}()
		if caught != "bug" || !done {
			t.Errorf("panic in function %d: caught %v, the other done: %t", first, caught, done)
		}
	}
}
