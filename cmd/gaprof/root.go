package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// commands are the subcommands in the order of the help, one file each.
var commands = []func(streams) *cobra.Command{
	newAnalyzeCommand,
	newReportCommand,
	newCheckCommand,
	newDiffCommand,
	newNormCommand,
	newWhatifCommand,
	newCalibrateCommand,
	newTrainCommand,
	newDemoCommand,
	newConvertCommand,
	newOpenCommand,
	newServeCommand,
	newMCPCommand,
	newExplainCommand,
	newVersionCommand,
	newCompletionCommand,
}

// defaultCommand is the command that a bare path is given to.
const defaultCommand = "analyze"

// newRootCommand joins the commands. started becomes true when the words of the
// command line were understood and a command runs.
func newRootCommand(s streams) (root *cobra.Command, started *bool) {
	started = new(bool)
	if s.look == nil {
		s.look = new(look)
	}
	root = &cobra.Command{
		Use:   "gaprof [COMMAND] PATH...",
		Short: "what the gap between backward() and optimizer.step() costs",
		Long: `gaprof reads the traces that PyTorch writes and says what the gap between
backward() and optimizer.step() costs, and what to change.

A PATH is a trace, a directory, a glob, @LIST or - for the standard input.
gaprof PATH is short for gaprof ` + defaultCommand + ` PATH.

` + exitHelp(),
		Version:           version,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		PersistentPreRunE: func(*cobra.Command, []string) error {
			*started = true
			return s.look.check()
		},
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.PersistentFlags().StringVar(&s.look.color, "color", "auto", colorHelp)
	helpWithin(root, s)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(nearFlag(cmd, err), "%v", err)
	})
	for _, new := range commands {
		root.AddCommand(new(s))
	}
	return root, started
}

// withDefault puts the default command before args that name none. A first word that is near a
// command and no file is an error with that command.
func withDefault(root *cobra.Command, args []string) ([]string, error) {
	root.InitDefaultHelpCmd()
	i := firstWord(args)
	end := slices.Index(args, "--") // of the flags
	switch {
	case len(args) == 0:
		return nil, usage("gaprof PATH analyzes a trace; see gaprof --help", "no path given")
	case end >= 0 && end < len(args)-1 && (i < 0 || end < i):
		return append([]string{defaultCommand}, args...), nil // paths that begin like flags
	case i < 0:
		return instead(args), nil // flags only, such as --help
	case args[i] == "help" && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && !isCommand(root, args[i+1]):
		return nil, unknownWord(root, args[i+1])
	case isCommand(root, args[i]):
		return args, nil
	case i == 0 && isMisspelt(root, args[0]):
		return nil, unknownWord(root, args[0])
	}
	return append([]string{defaultCommand}, args...), nil
}

// firstWord is the index of the first word that is neither a flag nor the value of one that all
// commands have; -1 for none.
func firstWord(args []string) int {
	for i, a := range args {
		if (!strings.HasPrefix(a, "-") || a == "-") && (i == 0 || args[i-1] != "--color") {
			return i
		}
	}
	return -1
}

// isMisspelt reports whether a word is near a command and can be no input.
func isMisspelt(root *cobra.Command, word string) bool {
	return !maybeInput(word) && !isPath(word) && nearCommand(root, word) != ""
}

// isPath reports whether a word can be nothing but a path.
func isPath(word string) bool { return strings.ContainsAny(word, `./\`) }

func isCommand(root *cobra.Command, word string) bool {
	return strings.HasPrefix(word, "__complete") || slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool {
		return c.Name() == word || c.HasAlias(word)
	})
}

// maybeInput reports whether a word names a file, a glob, a list or the standard input.
func maybeInput(word string) bool {
	_, err := os.Stat(word)
	return err == nil || word == "-" || strings.HasPrefix(word, "@") || strings.ContainsAny(word, "*?[")
}

func unknownWord(root *cobra.Command, word string) error {
	hint := "see gaprof --help"
	if near := nearCommand(root, word); near != "" {
		hint = fmt.Sprintf("did you mean gaprof %s?", near)
	}
	return usage(hint, "%q is neither a command nor a file", word)
}
