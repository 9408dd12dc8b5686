package room

var tested = x
