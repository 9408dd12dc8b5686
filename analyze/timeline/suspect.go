package timeline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// PatternFor returns a regular expression for a Declaration that fits a kernel's
// function with its namespaces, whatever its template arguments and parameters.
func PatternFor(kernel string) string {
	scope, from, to := kernelFunction(kernel)
	if strings.ContainsAny(kernel[scope:from], "<( ") {
		scope = from
	}
	plain := strings.Map(func(r rune) rune {
		if r == '_' || r == ':' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '.' // stands for itself too, and no shell minds it
	}, kernel[scope:to])
	return edge(plain[:1]) + plain + edge(plain[len(plain)-1:])
}

// edge is the end of a word in a regular expression, nothing beside what is part of none.
func edge(beside string) string {
	if regexp.MustCompile(`\w`).MatchString(beside) {
		return `\b`
	}
	return ""
}

// suspectWords are what names of unknown communication speak of. They are searched for in
// the words of a name, in lower case, each between two underscores. The first match wins.
var suspectWords = []struct {
	words string
	kind  CollectiveKind
}{
	{"_notify_", Barrier}, {"_signal_", Barrier},
	{"_all_reduce_", AllReduce}, {"_allreduce_", AllReduce},
	{"_all_to_all_", AllToAll}, {"_alltoall_", AllToAll}, {"_alltoallv_", AllToAll}, {"_all_2_all_", AllToAll},
	{"_a_2_a_", AllToAll}, {"_dispatch_", AllToAll}, {"_combine_", AllToAll},
}

// suspectParts are in every name that has one of suspectWords, in any case: most names have
// none of them, and need not be taken apart.
var suspectParts = []string{"notify", "signal", "reduce", "all", "2", "dispatch", "combine"}

// HasFold reports whether a name contains a part in any case of letters. The part is given
// in lower case and is ASCII.
func HasFold(name, part string) bool {
	for i := range len(name) - len(part) + 1 {
		if name[i]|0x20 == part[0]|0x20 && strings.EqualFold(name[i:i+len(part)], part) {
			return true
		}
	}
	return false
}

// computeNamespaces hold kernels that never communicate, whatever their names say.
var computeNamespaces = []string{
	"at", "at_cuda_detail", "c10", "ck", "ck_tile", "cub", "cudnn", "cutlass", "cute", "flash", "hipcub", "rocprim",
	"thrust",
}

// computeWords tell that something is dispatched, combined or reduced inside a device: split
// attention combines its parts, warps and blocks reduce among themselves.
var computeWords = []string{"_flash_", "_attn_", "_attention_", "_mha_", "_fmha_", "_mla_", "_splitkv_", "_split_",
	"_warp_", "_block_", "_thread_"}

// inductor begins the names of kernels that PyTorch's compiler generates. They list the
// operators that were fused.
const inductor = "triton_"

// suspectKind returns what the qualified name of a kernel's function speaks of.
func suspectKind(qualified string) CollectiveKind {
	root, _, _ := strings.Cut(qualified, "::")
	if strings.HasPrefix(qualified, inductor) || slices.Contains(computeNamespaces, root) {
		return NotCommunication
	}
	if !slices.ContainsFunc(suspectParts, func(part string) bool { return HasFold(qualified, part) }) {
		return NotCommunication
	}
	words := wordsOf(qualified)
	in := func(word string) bool { return strings.Contains(words, word) }
	if slices.ContainsFunc(computeWords, in) {
		return NotCommunication
	}
	for _, s := range suspectWords {
		if in(s.words) {
			return s.kind
		}
	}
	return NotCommunication
}

// wordsOf returns the words of a name in lower case, each between two underscores. A word
// ends where letters end, before a capital after a small letter, and before the last capital
// of a row that a small letter follows. What stands in angle brackets does not count.
func wordsOf(name string) string {
	var b strings.Builder
	b.WriteByte('_')
	depth, was := 0, rune('_')
	runes := []rune(name)
	for i, c := range runes {
		switch {
		case c == '<':
			depth++
		case c == '>':
			depth--
		}
		if depth > 0 || c == '>' {
			continue
		}
		next := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if begins(was, c, next) {
			b.WriteByte('_')
		}
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			b.WriteRune(unicode.ToLower(c))
		}
		was = c
	}
	b.WriteByte('_')
	return b.String()
}

// begins reports whether a word ends before c; smallNext says that a small letter follows.
func begins(was, c rune, smallNext bool) bool {
	switch {
	case !unicode.IsLetter(was) && !unicode.IsDigit(was):
		return false // the separator before is written already
	case unicode.IsDigit(c) != unicode.IsDigit(was):
		return true
	case unicode.IsLetter(c):
		return unicode.IsUpper(c) && (unicode.IsLower(was) || smallNext)
	}
	return true
}
