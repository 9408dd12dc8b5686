package main

// flagNames maps the choices that texts of the library mention to flags of this command; see
// internal/choice. The library names no flag itself.
var flagNames = map[string]string{
	"agent":             "--format agent",
	"against":           "--against",
	"align-clocks":      "--align-clocks",
	"baseline":          "--baseline",
	"communication":     "--communication",
	"compare-gradients": "gaprof norm --against",
	"drawing":           "analyze --drawing",
	"edit":              "--edit",
	"json":              "--format json",
	"keep-report":       "gaprof analyze --format json -o REPORT.json",
	"normalization":     "--normalization",
	"rank-of-name":      "--rank-regex with a group that matches",
	"rank-regex":        "--rank-regex",
	"show":              "--show",
	"some-ranks":        "--missing-ranks ok, or ranks in the job of the configuration,",
	"steps":             "--steps",
	"strict":            "--strict",
	"token-log":         "--tokens",
	"tokens":            "--tokens FILE",
	"uniform-tokens":    "--tokens uniform",
}
