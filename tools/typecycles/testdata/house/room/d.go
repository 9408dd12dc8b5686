package room

// x is used by nobody; d.go uses c.go and is used by none.
var x = func() int { third(); return 120 }() // and this line ends one column after the hundred and twentieth of it......
