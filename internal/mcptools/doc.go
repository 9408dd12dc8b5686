// Package mcptools offers gaprof to agents by the Model Context Protocol: a few small tools with typed
// arguments and results. Each runs the program itself, so that a call can be ended at any time. Answers
// are bounded, and no tool reads outside one folder.
package mcptools
