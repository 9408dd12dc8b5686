package compare

import "testing"

// The change of step time is that of the device, of the host where a side has none on a
// device, and none for a kind that only one side has.
func TestStepTimes(t *testing.T) {
	base, after := reportOf(0), reportOf(0)
	for range 5 {
		base, after = base.step("A", 3_000_000, "X"), after.step("A", 4_000_000, "X")
	}
	d := between(base, after.step("B", 1, "Y"))
	if len(d.StepTimes) != 1 {
		t.Fatalf("%+v", d.StepTimes)
	}
	s := d.StepTimes[0]
	if s.Kind != "X" || s.Of != "device" || s.Change != 1_000_000 || *s.Delta < 0.333 || *s.Delta > 0.334 ||
		!s.Significant || s.LowConfidence || s.P < 2./252-1e-9 || s.P > 2./252+1e-9 {
		t.Errorf("%+v", s)
	}
	for i := range after.Steps {
		after.Steps[i].Duration = nil
	}
	if d := between(base, after); d.StepTimes[0].Of != "host" || d.StepTimes[0].Base != 3_000_000 {
		t.Errorf("%+v", d.StepTimes)
	}
	if d := between(base, reportOf(0)); d.StepTimes == nil || len(d.StepTimes) != 0 {
		t.Errorf("%+v", d.StepTimes)
	}
}
