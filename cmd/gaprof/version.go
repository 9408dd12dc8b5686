package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/gaprof/gaprof/internal/release"
)

// version is the release, also named in reports.
const version = release.Version

func newVersionCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version and how it was built",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(s.out, versionLine())
			return err
		},
	}
}

// versionLine is the version with the build information of the binary.
func versionLine() string {
	line := fmt.Sprintf("gaprof %s %s/%s %s", version, runtime.GOOS, runtime.GOARCH, runtime.Version())
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return line
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		line += " module " + v
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			line += " commit " + setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			line += " modified"
		}
	}
	return line
}
