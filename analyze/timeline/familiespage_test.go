package timeline

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

//go:generate go test -run TestFamiliesPage -update

var update = flag.Bool("update", false, "write docs/communication.md")

// pageHead is how the page begins; KINDS stands for what can be declared.
//
//go:embed testdata/communication.head.md
var pageHead string

// familiesPage is docs/communication.md.
func familiesPage() string {
	var b strings.Builder
	code := func(list []string) string { return "`" + strings.Join(list, "`, `") + "`" }
	b.WriteString(strings.ReplaceAll(pageHead, "KINDS", code(DeclarableKinds())))
	for _, f := range families {
		scopes := ""
		if len(f.Scopes) > 0 {
			scopes = code(f.Scopes)
		}
		var kinds []string
		for i := 0; i < len(f.Kernels); {
			kind, functions := f.Kernels[i].Kind, []string{}
			for ; i < len(f.Kernels) && f.Kernels[i].Kind == kind; i++ {
				functions = append(functions, f.Kernels[i].Function)
			}
			kinds = append(kinds, kindOnPage(kind)+": "+code(functions))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.Name, scopes, strings.Join(kinds, "<br>"), f.Source)
	}
	return b.String()
}

// kindOnPage is what the page calls the kind of a pattern.
func kindOnPage(k CollectiveKind) string {
	switch k {
	case UnknownCollective:
		return "by name"
	case NotCommunication:
		return "compute"
	}
	return k.String()
}

// The published page is that of the table.
func TestFamiliesPage(t *testing.T) {
	const file = "../../docs/communication.md"
	if *update {
		if err := os.WriteFile(file, []byte(familiesPage()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != familiesPage() {
		t.Errorf("%s is not up to date, run go generate ./...: %v", file, err)
	}
}
