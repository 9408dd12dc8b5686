package timeline

import (
	"slices"
	"strings"
)

// kernelFunction finds the function in the name of a kernel as profilers demangle it:
// return type, namespaces, function, template arguments, parameters. name[from:to] is the
// function and name[scope:from] what qualifies it, with template arguments of classes.
func kernelFunction(name string) (scope, from, to int) {
	depth, end := 0, -1
	for i := 0; i < len(name); i++ {
		switch punctuation[name[i]] {
		case none:
		case opens:
			if depth == 0 && end < 0 {
				end = i
			}
			depth++
		case closes:
			depth = max(depth-1, 0)
		default:
			if depth > 0 {
				continue
			}
			switch rest := name[i:]; {
			case strings.HasPrefix(rest, anonymous):
				i += len(anonymous) - 1
			case rest[0] == '(':
				return scope, from, orElse(end, i)
			case rest[0] == ' ': // what stood before is the return type
				scope, from, end = i+1, i+1, -1
			case strings.HasPrefix(rest, "::"):
				i++
				from, end = i+1, -1
			}
		}
	}
	return scope, from, orElse(end, len(name))
}

// punctuation says which bytes divide the name of a kernel: most do not.
var punctuation = [256]byte{'<': opens, '>': closes, '(': divides, ' ': divides, ':': divides}

const (
	none byte = iota
	opens
	closes
	divides
)

// anonymous is how demanglers print a namespace without a name.
const anonymous = "(anonymous namespace)"

func orElse(end, otherwise int) int {
	if end >= 0 {
		return end
	}
	return otherwise
}

// within reports whether a qualification holds a namespace, whole: dpsk::ep is in
// "x::dpsk::ep::internode::" and not in "cdpsk::ep::".
func within(qualification, namespace string) bool {
	for at := 0; ; {
		i := strings.Index(qualification[at:], namespace)
		if i < 0 {
			return false
		}
		at += i
		if (at == 0 || qualification[at-1] == ':') && strings.HasPrefix(qualification[at+len(namespace):], "::") {
			return true
		}
		at++
	}
}

// matches reports whether a name fits a pattern in which * stands for any characters.
func matches(pattern, name string) bool {
	head, rest, glob := strings.Cut(pattern, "*")
	if !glob {
		return name == pattern
	}
	if !strings.HasPrefix(name, head) {
		return false
	}
	name = name[len(head):]
	for {
		part, after, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], after
	}
}

// fit is a pattern of the table with the family that it is of.
type fit struct {
	family *Family
	kernel *Kernel
}

// fitsOf lists the patterns of all families by the first byte of the functions that they
// fit, so that a name is compared with few.
var fitsOf = func() (of [256][]fit) {
	for i := range families {
		f := &families[i]
		for j := range f.Kernels {
			one := fit{f, &f.Kernels[j]}
			if first := one.kernel.Function[0]; first != '*' {
				of[first] = append(of[first], one)
				continue
			}
			for b := range of {
				of[b] = append(of[b], one)
			}
		}
	}
	return of
}()

// familyOf returns the pattern of the table that fits a kernel's function and what qualifies
// it; a nil family where none does, and a nil kernel where the kernel is in a namespace of
// the family and fits no pattern of it. Template arguments and parameters do not count,
// since a compute kernel may take something whose type mentions a library.
func familyOf(qualification, function string) fit {
	if function == "" || strings.IndexByte(function, ':') >= 0 { // nccl:all_reduce is an annotation around one
		return fit{}
	}
	scoped := mentionsScope(qualification)
	for _, one := range fitsOf[function[0]] {
		if (scoped || len(one.family.Scopes) == 0) && one.family.holds(qualification) &&
			matches(one.kernel.Function, function) {
			return one
		}
	}
	for i := range families {
		if f := &families[i]; scoped && len(f.Scopes) > 0 && f.holds(qualification) {
			return fit{family: f}
		}
	}
	return fit{}
}

// scopeRoots are the outermost namespaces of the scopes of all families.
var scopeRoots = func() (roots []string) {
	for i := range families {
		for _, scope := range families[i].Scopes {
			root, _, _ := strings.Cut(scope, "::")
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}()

// mentionsScope reports whether a qualification can hold the scope of any family. Nearly
// none does, and asking each family takes longer.
func mentionsScope(qualification string) bool {
	for len(qualification) > 0 {
		namespace, rest, _ := strings.Cut(qualification, "::")
		if slices.Contains(scopeRoots, namespace) {
			return true
		}
		qualification = rest
	}
	return false
}

// holds reports whether kernels with this qualification can be of the family.
func (f *Family) holds(qualification string) bool {
	for _, s := range f.Scopes {
		if within(qualification, s) {
			return true
		}
	}
	return len(f.Scopes) == 0
}

// kernelKind returns the kind of a kernel by the table of families, NotCommunication for
// those that compute; known is false for kernels of no family, and qualified is the name of
// the function with what qualifies it. The reduction operator in the name is ignored, since
// NCCL prints AVG as Sum.
func kernelKind(name string) (kind CollectiveKind, known bool, qualified string) {
	scope, from, to := kernelFunction(name)
	qualified = strings.TrimPrefix(name[scope:max(scope, to)], anonymous+"::")
	function := name[from:max(from, to)]
	of := familyOf(name[scope:from], function)
	if of.kernel == nil {
		return NotCommunication, of.family != nil, qualified
	}
	if of.kernel.Kind == UnknownCollective {
		if k := KindOf(function); k != NotCommunication {
			return k, true, qualified
		}
	}
	return of.kernel.Kind, true, qualified
}

// OfProcessGroup reports whether a kernel, by its name, is of a library with which PyTorch's
// process groups communicate. What other libraries launch says nothing of the ranks that
// take part.
func OfProcessGroup(name string) bool {
	scope, from, to := kernelFunction(name)
	of := familyOf(name[scope:from], name[from:max(from, to)])
	return of.kernel != nil && of.family.Grouped
}
