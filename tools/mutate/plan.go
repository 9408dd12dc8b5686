package main

// plan names the packages whose tests are asked about changes of another one: those whose
// behavior people see it by. The package's own tests are always asked.
var plan = map[string][]string{
	"./analyze/timeline":      {"./analyze/steps", "./analyze/gradients", "./analyze/facts", "./analyze", "./analyze/rules"},
	"./analyze/steps":         {"./analyze/facts", "./analyze", "./analyze/rules"},
	"./analyze/gradients":     {"./analyze/facts", "./analyze", "./analyze/rules"},
	"./analyze/facts":         {"./analyze", "./analyze/rules"},
	"./analyze/rules":         {"./analyze"},
	"./analyze/gate":          {},
	"./analyze/normalization": {"./analyze/rules"},
	"./trace/chrome":          {"./trace/tracefile"},
	"./trace/chrome/scan":     {"./trace/chrome"},
	"./trace/chrome/input":    {"./trace/chrome"},
	"./trace/chrome/token":    {"./trace/chrome"},
	"./trace/chrome/template": {"./trace/chrome/event", "./trace/chrome"},
	"./trace/chrome/event":    {"./trace/chrome"},
	"./trace/chrome/pool":     {"./trace/chrome"},
}
