package idle

// Cause is why a device is idle.
type Cause uint8

// The causes of idle time.
const (
	DataLoading      Cause = iota // the loop waits for a batch
	Synchronization               // the host waits for the device, or for other hosts
	MemoryManagement              // memory is allocated or freed
	Compilation                   // code is compiled or loaded
	Optimizer                     // the optimizer runs on the host
	HostOperators                 // other operators and calls run on the host
	NoOperator                    // no operator runs: Python, or what the profiler does not see
	LaunchLatency                 // the launch call is open, or the kernel follows it directly
	KernelGap                     // launched in time: what lies between two kernels of a stream
	Profiler                      // the profiler itself
	QueuedWait                    // launched long ago: it waits for something on the device
	Unlinked                      // nothing is known of the launch
	NumCauses
)

var causeNames = [NumCauses]string{
	"data_loading", "synchronization", "memory_management", "compilation", "optimizer", "host_operators", "no_operator",
	"launch_latency", "kernel_gap", "profiler", "queued_wait", "unlinked",
}

func (c Cause) String() string { return causeNames[c] }

// Charges is idle time by what it is charged to.
type Charges struct {
	Causes      [NumCauses]int64 // ns by cause; of a window they sum to the idle time of its ledger
	LaunchGaps  int              // gaps that a late launch ends, of 1 ms at most
	LaunchBound int64            // ns of launch gaps: optimizer, operators, Python and launch latency
	HostStall   int64            // ns of longer gaps: optimizer, operators and Python
}

// Window is the idle time of one step on one device.
type Window struct {
	Charges
	Gaps  int                // pieces of idle time, cut at every start of activity
	Shown [NumFindings]Shown // where to look
}

// add adds what one gap is charged to.
func (c *Charges) add(of *Charges) {
	for cause, ns := range of.Causes {
		c.Causes[cause] += ns
	}
	c.LaunchGaps += of.LaunchGaps
	c.LaunchBound += of.LaunchBound
	c.HostStall += of.HostStall
}

// Sum is all of it in ns.
func (c *Charges) Sum() int64 {
	var n int64
	for _, ns := range c.Causes {
		n += ns
	}
	return n
}
