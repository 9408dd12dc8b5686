// Package parallel runs functions at the same time.
package parallel

// Both runs two functions at the same time and returns when both are done. A panic of
// either reaches the caller.
func Both(one, other func()) {
	var bug any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { bug = recover() }()
		other()
	}()
	defer func() {
		if <-done; bug != nil {
			panic(bug)
		}
	}()
	one()
}
