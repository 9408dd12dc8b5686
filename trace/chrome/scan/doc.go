// Package scan reads JSON byte by byte, or rather eight at a time: strings, numbers,
// literals and white space, strictly by RFC 8259 and UTF-8. Its functions take a text and
// an index into it, keep no state, and allocate only what they append.
//
// Because they load words, the text must be followed by at least 32 zero bytes
// (input.Padding). A zero byte is not JSON, so it ends every scan: the end of the text
// breaks a rule like any other.
//
//	scan.go     strings, literals, white space, the syntax of numbers
//	number.go   the value of numbers as traces write them, a word at a time
//	decimal.go  the value of any number, exactly
//	moment.go   Moment: a time that begins with the digits of the one before
//	text.go     the text of a string, and JSON without its white space
package scan
