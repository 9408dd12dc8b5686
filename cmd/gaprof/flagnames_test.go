package main

import (
	"regexp"
	"slices"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gaprof/gaprof/internal/choice"
)

// TestFlagNames: the command has a name for every choice that texts of the library speak
// of, and each flag in those names exists.
func TestFlagNames(t *testing.T) {
	var named []string
	for name := range flagNames {
		named = append(named, name)
	}
	if slices.Sort(named); !slices.Equal(named, choice.All()) {
		t.Errorf("names of %v, choices are %v", named, choice.All())
	}
	exists := make(map[string]bool)
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) { exists[f.Name] = true })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	root, _ := newRootCommand(streams{})
	walk(root)
	for name, text := range flagNames {
		flags := regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(text, -1)
		if len(flags) == 0 {
			t.Errorf("%s is called %q, which names no flag", name, text)
		}
		for _, m := range flags {
			if !exists[m[1]] {
				t.Errorf("%s is called %q, and there is no flag %s", name, text, m[1])
			}
		}
	}
}
