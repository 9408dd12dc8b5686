package main

import (
	"encoding/json"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/internal/contract"
	"github.com/gaprof/gaprof/internal/release"
)

// version is the release, also named in reports.
const version = release.Version

func newVersionCommand(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "print the version and how it was built",
		Example: "  gaprof version\n" +
			"  gaprof version --json | jq -r .commit",
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if !asJSON {
				return s.print(versionLine() + "\n")
			}
			enc := json.NewEncoder(s.out)
			enc.SetIndent("", " ")
			return enc.Encode(release.Info())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON (gaprof explain --schema version)")
	return cmd
}

// versionLine is the version with the build information of the binary.
func versionLine() string { return release.Info().String() }

func versionSchema() (*jsonschema.Schema, error) {
	return contract.Of[release.Build]("version-1.json", release.BuildSchema)
}

// instead returns the command for flags without a path: version for those that ask for it.
// cobra would print it by a template, and a template that is given at run time keeps every
// exported method of the program in it (docs/decisions/0006).
func instead(flags []string) []string {
	has := func(names ...string) bool {
		return slices.ContainsFunc(flags, func(f string) bool { return slices.Contains(names, f) })
	}
	if has("--version", "-v", "--version=true") && !has("--help", "-h") {
		return []string{"version"}
	}
	return flags
}
