// Package text reads and writes traces one event a line, for tests, examples and
// people. docs/formats/text.md is the same with more examples.
//
//	# comment, also at the end of a line
//	device 0 "NVIDIA H100 80GB HBM3" memory=85028634624
//	distributed backend=nccl rank=0 world_size=8
//	group "0" desc=default_pg ranks=0,1,2,3,4,5,6,7
//	process 100 name=python labels=CPU
//	thread 100/101 name="autograd engine"
//
//	100/100   10us   +5us   cpu_op        aten::mul_ dims=[[768,3072],[]] type=["float","float"] ext=12
//	100/100   12us   +1us   cuda_runtime  cudaLaunchKernel corr=7
//	0/7       20us   +3us   kernel        "void mul<float>(int, float*)" corr=7 stream=7
//	100/100   12us   s      ac2g          ac2g corr=7
//	100/100   20us   i      -             "a marker"
//
// An event is: process/thread (device/stream for device activity), start, +duration
// of a complete event or the letter of its Chrome phase, category or -, name,
// arguments.
//
// Words are separated by spaces. A word that is empty or holds spaces or quotes
// stands in Go quotes. Times are integers in ns, or decimals with ns, us, ms or s;
// less than a nanosecond is an error. Argument values are integers, words and
// quoted strings, or JSON: anything in brackets, fractions, true, false, null, and
// json"..." for JSON text that would not be read as such. The names of
// arguments that analyses ask for are short and not quoted (see aliases); corr and
// ext are the columns correlation and External id; all others are quoted, so that
// a mistyped one is an error.
//
// Lines may stand in any order. Besides those above there are
//
//	recording format=kineto base=1700000000000000000 name=x dropped=2 window_start=1ms window_end=2ms events=9
//	extra "schemaVersion"=1
//	problem bad_escape count=3 offset=120 detail="..."
//
// # Files
//
//	read.go        Read and Sniff: lines become rows
//	directives.go  the lines that are not events
//	line.go        words and attributes of one line, read and written
//	value.go       values of arguments
//	time.go        times with units
//	aliases.go     short names of arguments
//	write.go       Write
package text
