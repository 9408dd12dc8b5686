package analyze

import "github.com/gaprof/gaprof/analyze/report"

// Shares of the median step of its kind from which a cost is an error or a
// warning, and below which a rule about time stays silent.
const (
	errorShare  = 0.10
	warnShare   = 0.01
	silentShare = 0.001
)

// severityOfShare is the severity of a cost by its share of the step. What is
// exposed decides, never a count: hidden communication is no defect.
func severityOfShare(share float64) report.Severity {
	switch {
	case share >= errorShare:
		return report.Error
	case share >= warnShare:
		return report.Warn
	}
	return report.Note
}
