package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/gaprof/gaprof/internal/bounded"
	"github.com/gaprof/gaprof/internal/ingest"
	"github.com/gaprof/gaprof/trace/tracefile"
)

// The exit codes are a contract with scripts: they never change their meaning.
const (
	exitOK           = 0
	exitGate         = 1
	exitUsage        = 2
	exitInput        = 3
	exitInconclusive = 4
	exitBug          = 70
	exitInterrupt    = 130
)

// exitCodes is the one table of exit codes; the help prints it.
var exitCodes = []struct {
	code    int
	meaning string
}{
	{exitOK, "analyzed; gate passed"},
	{exitGate, "gate failed: regression, budget violated, or a finding at or above --fail-on"},
	{exitUsage, "usage or configuration error"},
	{exitInput, "input missing, unreadable or unsupported: nothing analyzed"},
	{exitInconclusive, "inconclusive: check, a check of severity error is undecidable; " +
		"whatif, no complete step, or --edit does not apply"},
	{exitBug, "a bug in gaprof"},
	{exitInterrupt, "train only: interrupted; the steps done until then are written"},
}

// exitHelp is the table for the help.
func exitHelp() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, e := range exitCodes {
		fmt.Fprintf(&b, "  %-4d %s\n", e.code, e.meaning)
	}
	return b.String()
}

// codeError is an error that decides the exit code. hint says what the user can
// do and may be empty; an err of nil prints nothing.
type codeError struct {
	code int
	err  error
	hint string
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// usage is an error in what the user typed.
func usage(hint, format string, args ...any) error {
	return &codeError{exitUsage, fmt.Errorf(format, args...), hint}
}

// codeOf returns the exit code for err. Errors without a code of their own are
// cobra's complaints about words as long as no command has started, and input or
// output that failed afterwards.
func codeOf(err error, started bool) int {
	var (
		code   *codeError
		format *tracefile.UnknownFormat
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return code.code
	case errors.As(err, &format) || !started:
		return exitUsage
	}
	return exitInput
}

// hintOf returns what the user can do about err, or nothing.
func hintOf(err error) string {
	var (
		code  *codeError
		file  *tracefile.Error
		large *ingest.TooLarge
		limit *bounded.Error
	)
	switch {
	case errors.As(err, &code):
		return code.hint
	case errors.As(err, &limit):
		return limit.Hint
	case errors.As(err, &file) && file.Hint == "" && errors.Is(err, fs.ErrExist):
		return "--force overwrites it"
	case errors.As(err, &file):
		return file.Hint
	case errors.As(err, &large):
		return "raise --mem-limit, or record fewer steps, without stacks and shapes"
	}
	return ""
}
