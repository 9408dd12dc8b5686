// Package tracefile is the only place that knows files: which of them are traces, how
// they are compressed and in which format they are.
//
// A file is recognised by its content, never by its name:
//
//  1. Expand turns what a user names (files, directories, globs, lists) into files.
//  2. Read looks at the first bytes, decompresses gzip and zstd, and asks each row of
//     the table of formats whether the text is its own.
//  3. The format reads from a Source: a stream through a small reused window, so that
//     nothing holds the whole file, and any place of the text wherever the file has that.
//
// Measure says before that how long the text is and how much memory its format takes.
//
// What cannot be opened or recognised is an *Error, what cannot be read from some byte on
// is a *trace.FormatError; a damaged compressed stream is read up to the damage.
//
// A new format is a package below this one and a row in the table; docs/formats/readers.md
// says what its reader must fill, and package readertest tests that.
//
// # Files
//
//	expand.go, glob.go     names become files
//	format.go              the table of formats
//	read.go, open.go       Read, and what is said of files that are no traces
//	source.go              Source: the text as a format reads it
//	mapping*.go            a file in memory
//	unpack.go, gzip.go     compression, layer by layer
//	ahead.go, counter.go   reading ahead in a goroutine, progress
//	measure.go             Size: what can be told before reading
//	write.go               Write, Encode, Create
//	errors.go              Error
package tracefile
