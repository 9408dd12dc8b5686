package gaprof_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// flagName is what looks like a flag in a text, and cssName what does in a style sheet.
var (
	flagName = regexp.MustCompile(`(^|[^\w-])--[a-z][a-z-]*`)
	cssName  = regexp.MustCompile(`(var\(|^|;)--p-|var\(--`)
)

// flagsIn lists what in a file's texts and comments names a flag of the command.
func flagsIn(s source) map[token.Pos]string {
	found := make(map[token.Pos]string)
	look := func(at token.Pos, text string) {
		text = cssName.ReplaceAllString(text, "")
		if m := flagName.FindString(text); m != "" {
			found[at] = strings.TrimSpace(m)
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			look(lit.Pos(), strings.Trim(lit.Value, "`\""))
		}
		return true
	})
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			if !strings.HasPrefix(c.Text, "//go:") {
				look(c.Pos(), c.Text)
			}
		}
	}
	return found
}

// The library does not know how its caller calls a choice: a Go program has no flags. Texts
// name choices in braces (see internal/choice), and the command names its flags.
func TestNoLibraryTextNamesAFlag(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.pkg, "cmd/") {
			continue
		}
		for at, name := range flagsIn(s) {
			t.Errorf("%s:%d names the flag %s", s.path, s.line(at), name)
		}
	}
}

// The test itself must be able to fail.
func TestFlagName(t *testing.T) {
	for text, want := range map[string]bool{
		"pass --tokens FILE": true, "--strict refuses it": true, "(--show health)": true,
		"pass {tokens}": false, "a -- dash": false, "--": false, "x--y": false, "----": false,
	} {
		if got := flagName.MatchString(cssName.ReplaceAllString(text, "")); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, css := range []string{"var(--p-1)", "--p-ink:%s;"} {
		if text := cssName.ReplaceAllString(css, ""); flagName.MatchString(text) {
			t.Errorf("%q is a flag", css)
		}
	}
}
