// Typecycles counts what makes a package hard to hold in one head, by types and
// not by eye, and with -check fails where a limit of docs/architecture.md is broken.
//
//	go run -C tools ./typecycles                     # the whole module
//	go run -C tools ./typecycles ../trace/chrome     # one package
//	go run -C tools ./typecycles -v ../trace/chrome  # and who uses what of whom
//	go run -C tools ./typecycles -check              # exit 1 and the reasons
//
// File A depends on file B of the same package if A uses a package-level object, a
// method or a field that B declares. A cycle is a strongly connected component of
// that graph: files of which none can be read, tested or moved without all others.
// Test files and generated files are not counted.
//
//   - load.go: packages from go list, type-checked against export data
//   - graph.go: which file depends on which, and cycles
//   - measure.go: methods, fields, functions, comments and lines
//   - limits.go: what is too much, and what is exempt
//   - main.go: flags and the table
package main
