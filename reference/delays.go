package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gaprof/gaprof/reference/device"
)

// delays are times by rank that the host spends on something more than it has to; nil is
// none.
type delays []time.Duration

// of is the delay of a rank, 0 for none.
func (d delays) of(rank int) time.Duration {
	if d == nil {
		return 0
	}
	return d[rank]
}

// equal reports whether all ranks have the same.
func (d delays) equal() bool { return len(d) == 0 || slices.Min(d) == slices.Max(d) }

// longestDelay is a bound for typing errors: a step is a matter of milliseconds.
const longestDelay = time.Minute

// parseDelays parses a time, which is that of every rank, or rank=time.
func parseDelays(option, text string, world int) (delays, error) {
	if text == "" {
		return nil, nil
	}
	rank, all := 0, true
	value := text
	if left, right, ok := strings.Cut(text, "="); ok {
		n, err := strconv.Atoi(left)
		if err != nil {
			n = -1
		}
		rank, all, value = n, false, right
	}
	d, err := time.ParseDuration(value)
	if err != nil || rank < 0 || rank >= world || d < 0 || d > longestDelay {
		return nil, &OptionError{option, fmt.Sprintf("%q is no time, nor rank=time", text),
			fmt.Sprintf("ranks are 0 to %d, times up to %v: `%s` 1=20ms", world-1, longestDelay, option)}
	}
	list := make(delays, world)
	for r := range list {
		if all || r == rank {
			list[r] = d
		}
	}
	return list, nil
}

// parseAllDelays parses the delays of the options.
func parseAllDelays(p *plan) (err error) {
	for _, o := range []struct {
		option, text string
		to           *delays
	}{
		{"loader-delay", p.LoaderDelay, &p.loading},
		{"launch-delay", p.LaunchDelay, &p.launching},
		{"host-delay", p.HostDelay, &p.pausing},
	} {
		if *o.to, err = parseDelays(o.option, o.text, p.WorldSize); err != nil {
			return err
		}
	}
	return nil
}

// slowLaunches is a device whose kernels take the host longer to launch, as those of a
// program with much Python around each do.
type slowLaunches struct {
	device.Device
	delay time.Duration
}

// Launch implements device.Device.
func (s slowLaunches) Launch(on device.Stream, k device.Kernel) {
	s.Sleep(s.delay)
	s.Device.Launch(on, k)
}
