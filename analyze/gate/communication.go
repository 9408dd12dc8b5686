package gate

import (
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// communicationKinds are the kinds of communication that can be declared: those of reports,
// and none for what computes.
var communicationKinds = []string{
	"reduce_scatter", "all_gather", "all_reduce", "broadcast", "reduce", "all_to_all", "send_recv", "barrier", "other",
	"none",
}

const communicationHint = "write {my_dispatch: all_to_all}"

// communication reads what kernels communicate: a mapping of regular expressions to kinds,
// or a list of REGEX=KIND, as the flag has it.
func (r *reader) communication(n *node) {
	switch n.form {
	case empty:
	case sequence:
		for _, item := range n.items {
			if !r.want(item, scalar, "an entry of communication", communicationHint) {
				continue
			}
			if i := strings.LastIndexByte(item.text, '='); i > 0 {
				r.declare(item, item, item.text[:i], item.text[i+1:])
			} else {
				r.fail(item, communicationHint, "%q is not REGEX=KIND", item.text)
			}
		}
	default:
		if !r.want(n, mapping, "communication", communicationHint) {
			return
		}
		for _, f := range n.fields {
			if r.want(f.value, scalar, "a kind of communication", communicationHint) {
				r.declare(f.key, f.value, f.key.text, f.value.text)
			}
		}
	}
}

// declare adds a declaration, or notes what is wrong with its pattern or its kind, at their
// places.
func (r *reader) declare(patternAt, kindAt *node, pattern, kind string) {
	re, err := regexp.Compile(pattern)
	known := slices.Contains(communicationKinds, strings.ReplaceAll(kind, "-", "_"))
	switch {
	case err != nil:
		r.fail(patternAt, communicationHint, "%v", err)
	case re.MatchString(""):
		r.fail(patternAt, communicationHint, "%q matches every name", pattern)
	case !known:
		at := &node{line: kindAt.line, column: kindAt.column, text: kind}
		r.unknown(at, "kind of communication", communicationKinds)
	default:
		r.config.Job.Communication = append(r.config.Job.Communication, pattern+"="+kind)
	}
}

// communicationSchema describes both forms.
func communicationSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Description: "kernels that communicate and whose names gaprof does not know; the last entry that matches " +
			"decides",
		AnyOf: []*jsonschema.Schema{
			{
				Type:                 "object",
				AdditionalProperties: &jsonschema.Schema{Type: "string", Enum: anys(communicationKinds)},
				Description:          "regular expression: kind",
			},
			{
				Type:        "array",
				Items:       &jsonschema.Schema{Type: "string", Pattern: "=[a-z_-]+$"},
				Description: "REGEX=KIND",
			},
			{Type: "null"},
		},
	}
}
