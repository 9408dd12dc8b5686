// Package bounded opens what a program is given so that neither a mistake nor malice can
// take more than is meant: plain files with a limit on their size, pipes with a limit on
// silence, JSON with a limit on the memory that it decodes into, and sums that say when
// they leave their range instead of going round.
//
//	file.go      Open and ReadFile: files and pipes of at most so many bytes
//	pipe.go      reading a pipe whose writer may never write
//	memory.go    Memory and Unmarshal: what JSON takes once it is decoded, told before
//	number.go    Add and Mul: sums and products that stay at the greatest number
//	sum.go       Sum: means of any numbers
package bounded
