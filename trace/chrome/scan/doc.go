// Package scan is JSON as bytes: strings, numbers, literals and white space by the
// rules of RFC 8259 and UTF-8 and nothing else. Its functions take a text and a place
// in it, keep nothing, and allocate nothing but what they append.
//
// They look at words of eight bytes, so behind the text must stand at least 32 zero
// bytes (input.Padding). No JSON has them, which ends every scan: the end of the text
// breaks a rule too.
//
//	scan.go     strings, literals, white space, the form of a number
//	number.go   the value of numbers as traces write them, a word at a time
//	decimal.go  the value of any number, exactly
//	moment.go   Moment: a time that begins as the one before it did
//	text.go     the text of a string, and JSON without its white space
package scan
