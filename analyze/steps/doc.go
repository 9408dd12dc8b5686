// Package steps cuts the recording of a rank into optimizer steps: the updates that its
// optimizers make, the host windows between them, and the windows of the same steps on
// each device, with every nanosecond in one bucket of a ledger.
//
//	x := timeline.New(t)
//	s := steps.Find(x.Ranks[0])
//	for _, step := range s.List {
//		for _, w := range step.Windows {
//			fmt.Println(step.Index, step.Kind, w.Device, w.Ledger)
//		}
//	}
//	step := s.At(ns) // the step of a host instant, -1 after the last update
//
// A step exists twice because host and device are not in step: the host enqueues work
// long before a device does it, often one whole step ahead. The host window says what the
// program did in a step, by the clock of its threads; the device window says when the
// device did what was launched there. Counts and collectives go by the launch call, so they
// belong to the step of the host window; time on a device goes by its window.
//
// What holds for all steps of a rank:
//
//   - Host windows touch: each begins where the one before ends. So do the windows on one
//     device, apart from steps that launch nothing there and have no window.
//   - A ledger sums to the length of its window.
//   - Steps end with an optimizer, unless Source says otherwise.
//
// Finding the steps takes time linear in the host's spans and the device's events.
package steps
