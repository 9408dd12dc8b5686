package room

// local names stand in no package scope: x here is not x of d.go.
func third() { x := upper("x"); _ = x }
