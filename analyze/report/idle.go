package report

// IdleCause is one cause of idle time, as a field of IdleCauses.
type IdleCause struct {
	Name string                  // as in JSON
	Of   func(*IdleCauses) int64 // its time in ns
}

// AllIdleCauses are the fields of IdleCauses in their order.
func AllIdleCauses() []IdleCause { return idleCauses }

var idleCauses = []IdleCause{
	{"data_loading", func(c *IdleCauses) int64 { return c.DataLoading }},
	{"synchronization", func(c *IdleCauses) int64 { return c.Synchronization }},
	{"memory_management", func(c *IdleCauses) int64 { return c.MemoryManagement }},
	{"compilation", func(c *IdleCauses) int64 { return c.Compilation }},
	{"optimizer", func(c *IdleCauses) int64 { return c.Optimizer }},
	{"host_operators", func(c *IdleCauses) int64 { return c.HostOperators }},
	{"no_operator", func(c *IdleCauses) int64 { return c.NoOperator }},
	{"launch_latency", func(c *IdleCauses) int64 { return c.LaunchLatency }},
	{"kernel_gap", func(c *IdleCauses) int64 { return c.KernelGap }},
	{"profiler", func(c *IdleCauses) int64 { return c.Profiler }},
	{"queued_wait", func(c *IdleCauses) int64 { return c.QueuedWait }},
	{"unlinked", func(c *IdleCauses) int64 { return c.Unlinked }},
}
