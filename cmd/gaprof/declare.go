package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/gaprof/gaprof/analyze/timeline"
)

// addCommunication adds the flag by which users declare what kernels communicate.
func addCommunication(flags *pflag.FlagSet, list *[]string) {
	flags.StringArrayVar(list, "communication", nil,
		"REGEX=KIND: kernels and copies whose names match are communication of that kind, or none; may be repeated, "+
			"the last that matches decides")
}

// parseCommunication reads what users declare of kernels.
func parseCommunication(texts []string) ([]timeline.Declaration, error) {
	var list []timeline.Declaration
	for _, text := range texts {
		d, err := timeline.ParseDeclaration(text)
		if err != nil {
			hint := "for example --communication 'my_dispatch=all_to_all'; kinds are " +
				strings.Join(timeline.DeclarableKinds(), ", ")
			return nil, usage(hint, "--communication: %v", err)
		}
		list = append(list, d)
	}
	return list, nil
}
