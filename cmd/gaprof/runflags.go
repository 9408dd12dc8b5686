package main

import "github.com/spf13/pflag"

// runFlags are the flags of commands that read the traces of runs and write a
// result: how to read, within which limits, what to select, and where to write.
type runFlags struct {
	inputFlags
	machineFlags
	outputFlags
	selectFlags
}

func (f *runFlags) add(flags *pflag.FlagSet) {
	f.addUntimed(flags)
	f.addTimes(flags)
}

// addUntimed adds all flags but those about times.
func (f *runFlags) addUntimed(flags *pflag.FlagSet) {
	f.inputFlags.add(flags)
	f.machineFlags.add(flags)
	f.outputFlags.add(flags)
	f.selectFlags.add(flags)
}
