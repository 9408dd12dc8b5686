// Command gaprof reads the traces that PyTorch writes and says what the gap between
// backward and optimizer step costs. The exit codes are in exit.go, the rules of
// output in streams.go.
//
// It holds flags, messages and exit codes, and decides nothing about traces: what a
// command says comes from the packages that it calls.
//
// Where things are:
//
//	main.go           main, and run, which tests call
//	root.go           the table of commands, and the one that a bare path is given to
//	exit.go           exit codes, and errors that carry one
//	streams.go        stdin, stdout and stderr, and what may be written to which
//
// What several commands share:
//
//	runflags.go       all flags of commands that read the traces of runs
//	input.go          flags of reading, and intake.go the reading
//	machine.go        flags that bound cores and memory
//	select.go         flags that choose rules, ranks, steps and logs
//	extension.go      formats by the extension of a file
//	output.go         flags of formats and files, and files that are not overwritten
//	near.go           names that were probably meant
//	flagnames.go      how this command calls the choices that texts of the library name
//	sidecars.go       logs beside traces
//	epoch.go          SOURCE_DATE_EPOCH
//	terminal.go       width, height and colors of text
//	statusline.go     a line on stderr that is rewritten
//	progress.go       how far the reading of files has come
//
// The commands:
//
//	analyze.go        analyze
//	report.go         report: the page
//	diff.go           diff
//	check.go          check
//	norm.go           norm; normfiles.go what it reads, normoracle.go its --oracle
//	convert.go        convert; profile.go its form for pprof
//	open.go           open; openpage.go serving on this machine
//	serve.go          serve; catalogue.go the runs of a folder, child.go the program once more
//	mcp.go            mcp
//	explain.go        explain: rules, metrics and schemas; explainpage.go: a rule in a terminal
//	demo.go           demo
//	train.go          train; trainjob.go one run of the trainer, trainfolder.go the folder it is
//	                  written to, trainlogs.go its logs, traincheckpoint.go and
//	                  trainresume.go what a run goes on from, trainprogress.go how far it is,
//	                  traintelemetry.go OpenTelemetry
//	version.go, completion.go
package main
