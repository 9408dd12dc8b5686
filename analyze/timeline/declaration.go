package timeline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gaprof/gaprof/internal/parallel"
	"github.com/gaprof/gaprof/trace"
)

// Declaration is what a user says of device events: those in whose names Pattern is found
// are of Kind, whatever the table of families says. NotCommunication makes them compute.
type Declaration struct {
	Pattern *regexp.Regexp // searched for in the whole name, template arguments and parameters included
	Kind    CollectiveKind
}

// ParseDeclaration reads REGEX=KIND. The last = divides the two, so that a pattern may
// hold others.
func ParseDeclaration(text string) (Declaration, error) {
	i := strings.LastIndexByte(text, '=')
	if i <= 0 {
		return Declaration{}, fmt.Errorf("%q is not REGEX=KIND", text)
	}
	return NewDeclaration(text[:i], text[i+1:])
}

// NewDeclaration makes a declaration of its parts.
func NewDeclaration(pattern, kind string) (Declaration, error) {
	k, ok := ParseKind(kind)
	if !ok {
		return Declaration{}, fmt.Errorf("%q is not a kind of communication", kind)
	}
	re, err := regexp.Compile(pattern)
	switch {
	case err != nil:
		return Declaration{}, err
	case re.MatchString(""):
		return Declaration{}, fmt.Errorf("%q matches every name", pattern)
	}
	return Declaration{re, k}, nil
}

// DeclarableKinds lists the names that ParseKind reads: those of reports, and none.
func DeclarableKinds() []string {
	var list []string
	for _, k := range CollectiveKinds() {
		list = append(list, k.String())
	}
	return append(list, noKind)
}

// noKind is what users call NotCommunication.
const noKind = "none"

// ParseKind reads a kind as reports print it, with hyphens or underscores, or none.
func ParseKind(name string) (CollectiveKind, bool) {
	name = strings.ReplaceAll(name, "-", "_")
	if name == noKind {
		return NotCommunication, true
	}
	i := slices.Index(collectiveNames[1:], name)
	return CollectiveKind(i + 1), i >= 0
}

// kernelName is what the name of a device event says.
type kernelName struct {
	kind     CollectiveKind
	suspect  CollectiveKind // see Rows.Suspect
	seen     bool           // the name was looked at
	declared bool           // the user decided
}

// classifyKernels looks at each name that occurs on a device.
func (n *names) classifyKernels(t *trace.Trace, declared []Declaration) {
	n.kernel = make([]kernelName, len(n.class))
	var list []trace.StringID
	col := t.Columns()
	for _, track := range t.Tracks() {
		if !track.Activity {
			continue
		}
		for _, name := range col.Name[track.First : track.First+track.N] {
			if of := &n.kernel[name]; !of.seen {
				of.seen = true
				list = append(list, name)
			}
		}
	}
	of := func(list []trace.StringID) {
		for _, name := range list {
			n.kernel[name] = kernelNamed(t.String(name), declared)
		}
	}
	half := len(list) / 2
	parallel.Both(func() { of(list[:half]) }, func() { of(list[half:]) })
	for _, name := range list {
		n.suspects = n.suspects || n.kernel[name].suspect != NotCommunication
	}
}

// native begins the names of PyTorch's own kernels, which never communicate: see
// computeNamespaces. No other beginning is as frequent.
const native = "void at::native::"

// kernelNamed examines one name. Of several declarations that fit, the last one counts.
func kernelNamed(name string, declared []Declaration) kernelName {
	for _, d := range slices.Backward(declared) {
		if d.Pattern.MatchString(name) {
			return kernelName{kind: d.Kind, seen: true, declared: true}
		}
	}
	if strings.HasPrefix(name, native) {
		return kernelName{seen: true}
	}
	kind, known, qualified := kernelKind(name)
	if known {
		return kernelName{kind: kind, seen: true}
	}
	return kernelName{suspect: suspectKind(qualified), seen: true}
}
