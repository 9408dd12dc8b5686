package analyze

import "fmt"

// Severity orders findings. Only severity.go decides it.
type Severity string

// The severities, least first. Off is the threshold that nothing reaches.
const (
	Note  Severity = "note"
	Warn  Severity = "warn"
	Error Severity = "error"
	Off   Severity = "off"
)

var severityOrder = map[Severity]int{Note: 1, Warn: 2, Error: 3, Off: 4}

// AtLeast tells whether s is as severe as t or more.
func (s Severity) AtLeast(t Severity) bool { return severityOrder[s] >= severityOrder[t] }

// ParseSeverity reads off, note, warn or error.
func ParseSeverity(s string) (Severity, error) {
	if _, ok := severityOrder[Severity(s)]; !ok {
		return "", fmt.Errorf("unknown severity %q (off, note, warn, error)", s)
	}
	return Severity(s), nil
}

// Shares of the median step of its kind from which a cost is an error or a
// warning, and below which a rule about time stays silent.
const (
	errorShare  = 0.10
	warnShare   = 0.01
	silentShare = 0.001
)

// severityOfShare is the severity of a cost by its share of the step. What is
// exposed decides, never a count: hidden communication is no defect.
func severityOfShare(share float64) Severity {
	switch {
	case share >= errorShare:
		return Error
	case share >= warnShare:
		return Warn
	}
	return Note
}
