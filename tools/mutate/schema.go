package main

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// A schema is a package that is every mutant of a sample: which one, an environment
// variable says when it runs.
type schema struct {
	code  *code
	sites []*site
}

// add takes mutants in and returns those of which no choice at run time can be made.
// Mutants have their numbers.
func (s *schema) add(ms []*mutant) (left []*mutant) {
	if len(ms) == 0 {
		return nil
	}
	before := s.copySites()
	possible := true
	for _, m := range ms {
		sites := s.code.sites(m)
		possible = possible && len(sites) > 0
		for _, one := range sites {
			one.alts[0].mutant = m.number
			s.put(one)
		}
	}
	if possible {
		if _, err := s.code.check(s.texts()); err == nil {
			return nil
		}
	}
	s.sites = before
	if len(ms) == 1 {
		return ms
	}
	half := len(ms) / 2
	return append(s.add(ms[:half]), s.add(ms[half:])...)
}

func (s *schema) copySites() []*site {
	var all []*site
	for _, old := range s.sites {
		same := *old
		same.alts = slices.Clone(old.alts)
		all = append(all, &same)
	}
	return all
}

// put adds a site, or its alternative to one that stands there already.
func (s *schema) put(one site) {
	for _, old := range s.sites {
		if old.file == one.file && old.from == one.from && old.to == one.to && old.kind == one.kind && one.kind != insertion {
			old.alts = append(old.alts, one.alts...)
			return
		}
	}
	s.sites = append(s.sites, &one)
}

// texts are the files of the package with every choice in them, and one more.
func (s *schema) texts() map[string][]byte {
	slices.SortStableFunc(s.sites, func(a, b *site) int {
		return cmp.Or(strings.Compare(a.file.path, b.file.path), cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to),
			cmp.Compare(a.kind, b.kind))
	})
	for i, one := range s.sites {
		one.number = i
	}
	names := newTypeNames(s.code)
	texts := map[string][]byte{}
	for _, f := range s.code.files {
		var here []*site
		for _, one := range s.sites {
			if one.file == f {
				here = append(here, one)
			}
		}
		if len(here) > 0 {
			texts[f.path] = []byte(render(f, 0, len(f.source), here, names))
		}
	}
	texts[s.code.added()] = []byte(s.chooser(names))
	return texts
}

// render writes [from,to) of a file with the sites in it, outer ones first.
func render(f *file, from, to int, sites []*site, names *typeNames) string {
	var b strings.Builder
	for i := 0; i < len(sites); {
		outer := sites[i]
		end := i + 1
		for end < len(sites) && sites[end].to <= outer.to && sites[end].from < outer.to {
			end++
		}
		b.Write(f.source[from:outer.from])
		original := render(f, outer.from, outer.to, sites[i+1:end], names)
		b.WriteString(outer.write(original, names.of(outer.typ)))
		from, i = outer.to, end
	}
	b.Write(f.source[from:to])
	return b.String()
}

// chooser is the file that says which mutant runs. In a run that asks for it, sites that
// are reached are noted, each once.
func (s *schema) chooser(names *typeNames) string {
	return fmt.Sprintf(`package %s

import (
	mutantOS "os"
	mutantText "strconv"
	mutantSync "sync"
%s)

var (
	mutantNumber, _ = mutantText.Atoi(mutantOS.Getenv(%q))
	mutantNotes     = mutantOS.Getenv(%q)
	mutantReached   [%d]bool
	mutantLock      mutantSync.Mutex
)

func mutantAt(site int) int {
	if mutantNotes != "" && !mutantReached[site] {
		mutantNote(site)
	}
	return mutantNumber
}

func mutantNote(site int) {
	mutantLock.Lock()
	defer mutantLock.Unlock()
	mutantReached[site] = true
	if f, err := mutantOS.OpenFile(mutantNotes, mutantOS.O_APPEND|mutantOS.O_WRONLY, 0); err == nil {
		f.WriteString(mutantText.Itoa(site) + "\n")
		f.Close()
	}
}

%s`, s.code.name, names.imports.String(), numberVariable, notesVariable, max(len(s.sites), 1), names.aliases.String())
}

// What tells a test which mutant it is, and where to note which sites it reached.
const (
	numberVariable = "GAPROF_MUTANT"
	notesVariable  = "GAPROF_MUTANT_REACHED"
)

// mutantsAt are the mutants of each site.
func (s *schema) mutantsAt() [][]int {
	all := make([][]int, len(s.sites))
	for i, one := range s.sites {
		for _, a := range one.alts {
			all[i] = append(all[i], a.mutant)
		}
	}
	return all
}

// typeNames gives types names that nothing in a function hides.
type typeNames struct {
	code             *code
	known            map[string]string // by the type's own text
	packages         map[string]string
	imports, aliases strings.Builder
}

func newTypeNames(c *code) *typeNames {
	return &typeNames{code: c, known: map[string]string{}, packages: map[string]string{}}
}

// of returns how a file may call a type.
func (n *typeNames) of(t types.Type) string {
	if t == nil {
		return ""
	}
	if b, ok := t.(*types.Basic); ok {
		return b.Name()
	}
	if !global(t, n.code.name) {
		return types.TypeString(t, func(*types.Package) string { return "" })
	}
	text := types.TypeString(t, n.qualify)
	if n.known[text] == "" {
		n.known[text] = fmt.Sprintf("mutantType%d", len(n.known))
		fmt.Fprintf(&n.aliases, "type %s = %s\n", n.known[text], text)
	}
	return n.known[text]
}

func (n *typeNames) qualify(p *types.Package) string {
	if p.Path() == n.code.name {
		return ""
	}
	if n.packages[p.Path()] == "" {
		n.packages[p.Path()] = fmt.Sprintf("mutantPackage%d", len(n.packages))
		fmt.Fprintf(&n.imports, "\t%s %q\n", n.packages[p.Path()], p.Path())
	}
	return n.packages[p.Path()]
}

// global reports whether a type can be named outside functions.
func global(t types.Type, pkg string) bool {
	switch t := t.(type) {
	case *types.TypeParam:
		return false
	case *types.Named:
		return t.Obj().Pkg() == nil || t.Obj().Parent() == t.Obj().Pkg().Scope()
	case interface{ Elem() types.Type }:
		return global(t.Elem(), pkg)
	}
	return true
}
