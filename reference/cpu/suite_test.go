package cpu

import (
	"testing"

	"github.com/gaprof/gaprof/reference/device"
	"github.com/gaprof/gaprof/reference/device/devicetest"
	"github.com/gaprof/gaprof/reference/ops"
)

// TestSuite runs what every backend has to pass.
func TestSuite(t *testing.T) {
	devicetest.Suite{Open: Backend{}.Open, Kernel: ones}.Run(t)
}

func ones(y *device.Buffer) device.Kernel { return ops.OnesLike{Y: y} }
