// Package token scans the JSON values of an input by one of two sets of rules. Under the
// strict ones the first byte that breaks RFC 8259 ends the attempt, and its index is
// returned. Under the careful ones damage is repaired where the text that follows says
// how, and noted. So text that follows the rules never meets a repair, and no repair is
// silent. Nothing recurses over the input.
//
//	scanner.go  Scanner: a window, a mode, what was noted
//	value.go    values, members, lists of any depth
//	text.go     the text and the digits of a token
//	careful.go  strings and words with damage in them
package token
