package timeline

import "github.com/gaprof/gaprof/trace"

// Rounding returns by how many ns an operator may seem to start before the span that precedes it
// ends, 0 if times are exact. Writers that give whole microseconds truncate start and duration,
// by up to one each. All starts then share what is left of a microsecond, 0 unless somebody
// shifted them, and durations have nothing. It looks at a sample of rows, as one time with
// nanoseconds in it settles the question.
func (r *Rank) Rounding() int64 {
	const sample = 10_000
	for i := range min(sample, len(r.Col.Start)) {
		if (r.Col.Start[i]-r.Col.Start[0])%1000 != 0 || r.Col.Dur[i]%1000 != 0 {
			return 0
		}
	}
	return 2000
}

// DrivingThreads returns the threads that run the training loop: those that step an
// optimizer outside backward or carry ProfilerStep#; without any, all but autograd's.
func (r *Rank) DrivingThreads() []trace.TrackID {
	var drive, rest []trace.TrackID
	for _, id := range r.Host {
		drives := r.Track(id)&ProfilerStep != 0
		r.Each([]trace.TrackID{id}, OptimizerStep, func(row int32) { drives = drives || !r.InBackward(row) })
		if drives {
			drive = append(drive, id)
		} else if !r.Autograd(id) {
			rest = append(rest, id)
		}
	}
	if len(drive) > 0 {
		return drive
	}
	return rest
}
