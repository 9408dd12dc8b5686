package compare

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
