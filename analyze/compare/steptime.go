package compare

// StepTime is how the time of a step of one kind changed: what people ask first of two runs,
// and therefore what a difference begins with, whatever else changed.
type StepTime struct {
	Kind      string   `json:"kind"`       // the Name of a Kind
	Of        string   `json:"of"`         // device, or host where the steps have no time on a device
	BaseSteps int      `json:"base_steps"` // as in Kind
	NewSteps  int      `json:"new_steps"`
	Base      int64    `json:"base_ns"` // median
	New       int64    `json:"new_ns"`
	Change    int64    `json:"change_ns"` // New - Base
	Delta     *float64 `json:"delta"`     // New/Base - 1; null from zero
	P         float64  `json:"p"`         // of the two-sided Mann-Whitney U test, 0..1

	Significant   bool `json:"significant"`    // P is below 0.05
	LowConfidence bool `json:"low_confidence"` // fewer than five steps on a side
}

// stepTimes are the changes of all kinds that both sides have steps of, in their order.
func stepTimes(kinds []Kind) []StepTime {
	list := []StepTime{}
	for i := range kinds {
		if one, ok := kinds[i].stepTime(); ok {
			list = append(list, one)
		}
	}
	return list
}

// stepTime is that of the device, or of the host where a side has none on a device.
func (k *Kind) stepTime() (StepTime, bool) {
	for _, of := range []struct{ name, figure string }{{"device", "duration"}, {"host", "host_duration"}} {
		for i := range k.Figures {
			f := &k.Figures[i]
			if f.Name != of.figure || f.Base == nil || f.New == nil {
				continue
			}
			return StepTime{
				Kind:          k.Name,
				Of:            of.name,
				BaseSteps:     k.BaseSteps,
				NewSteps:      k.NewSteps,
				Base:          f.Base.Median,
				New:           f.New.Median,
				Change:        f.New.Median - f.Base.Median,
				Delta:         f.Delta,
				P:             *f.P,
				Significant:   f.Significant,
				LowConfidence: k.LowConfidence,
			}, true
		}
	}
	return StepTime{}, false
}
