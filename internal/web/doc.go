// Package web serves the runs of a folder, or one run, to the person in front of this machine:
// the page of each, its trace for the Perfetto UI with findings as tracks of their own, where its device time
// goes as a flame graph, and a history. It reads only, and knows files by what List named:
// nothing in an address ever becomes a path. Who may ask is decided before it (internal/loopback).
package web
