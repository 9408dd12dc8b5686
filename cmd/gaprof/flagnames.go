package main

// flagNames is how this command calls what the library lets its caller choose; see
// internal/choice. Texts of the library name no flag themselves.
var flagNames = map[string]string{
	"against":       "--against",
	"normalization": "--normalization",
	"tokens":        "--tokens FILE",
}
