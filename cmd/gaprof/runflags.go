package main

import "github.com/spf13/pflag"

// runFlags are the flags of commands that read the traces of runs and write what they
// say: how to read, with how much of the machine, what of it, and where to.
type runFlags struct {
	inputFlags
	machineFlags
	outputFlags
	selectFlags
}

func (f *runFlags) add(flags *pflag.FlagSet) {
	f.inputFlags.add(flags)
	f.machineFlags.add(flags)
	f.outputFlags.add(flags)
	f.selectFlags.add(flags)
}
