package gradients

import (
	"fmt"
	"strings"
	"testing"
)

// each calls do with the shapes of two parameters, 2000 and 64 elements.
func each(do func(i int, shape string)) {
	do(0, "100,20")
	do(1, "64")
}

func (s *script) product(shape, factor string) {
	s.event(2, "aten::mul_", fmt.Sprintf(`dims=[[%s],[]] type=["float",%s`, shape, factor))
}

const byTensor, byNumber = `"float"]`, `"Scalar"] concrete=`

func (s *script) norm(shape string) {
	s.event(2, "aten::linalg_vector_norm", fmt.Sprintf(`dims=[[%s],[]] type=["float","Scalar"]`, shape))
}

func (s *script) sum(shape, dtype string) {
	s.event(2, "aten::sum", fmt.Sprintf(`dims=[[%s],[]] type=[%q,""]`, shape, dtype))
}

func (s *script) limit(dtype, values string) {
	s.event(2, "aten::clamp", fmt.Sprintf(`dims=[[],[],[]] type=[%q,"","Scalar"] concrete=%s`, dtype, values))
}

func (s *script) limitEach(shape, least, most string) {
	s.event(2, "aten::clamp_", fmt.Sprintf(`dims=[[%s],[],[]] type=["float","Scalar","Scalar"] concrete=["",%q,%q]`,
		shape, least, most))
}

// TestPassKinds: what a product over all gradients is, by what stands around it.
func TestPassKinds(t *testing.T) {
	scale := func(factor string) func(s *script) {
		return func(s *script) { each(func(_ int, shape string) { s.product(shape, factor) }) }
	}
	limit := func(dtype, values string) func(s *script) { return func(s *script) { s.limit(dtype, values) } }
	after := func(before, then func(s *script)) func(s *script) {
		return func(s *script) { before(s); then(s) }
	}
	shard := func(elems int) string { return fmt.Sprint(elems / 4) }
	elems := []int{2000, 64}
	for _, test := range []struct {
		name string
		end  func(s *script)
		want string
	}{
		{"by a tensor", scale(byTensor), "scale"},
		{"by a number", scale(byNumber + `["","0.25"]`), "scale"},
		{"by one", scale(byNumber + `["","1."]`), "scale by one"},
		{"one of them by one", func(s *script) {
			s.product("100,20", byNumber+`["","1"]`)
			s.product("64", byNumber+`["","0.5"]`)
		}, "scale"},
		{"a coefficient limited to one", after(limit("float", `["","","1."]`), scale(byTensor)), "clip"},
		{"each element limited", func(s *script) {
			each(func(_ int, shape string) { s.limitEach(shape, "-1.", "1.") })
		}, "clip"},
		{"each element limited from below", func(s *script) {
			each(func(_ int, shape string) { s.limitEach(shape, "0.", "") })
		}, ""},
		{"units by norms of their own", func(s *script) {
			s.norm("100,20")
			s.event(2, "aten::mul_", `dims=[[100,20],[100,1]] type=["float","float"]`)
			s.norm("64")
			s.product("64", byTensor)
		}, "norm, clip"},
		{"clipped copies", func(s *script) {
			each(func(_ int, shape string) { s.norm(shape) })
			each(func(_ int, shape string) {
				s.event(2, "aten::mul", fmt.Sprintf(`dims=[[%s],[]] type=["float","float"]`, shape))
			})
		}, "norm, clip"},
		{"copies by a number", func(s *script) {
			each(func(_ int, shape string) { s.norm(shape) })
			each(func(_ int, shape string) {
				s.event(2, "aten::mul", fmt.Sprintf(`dims=[[%s],[]] type=["float","Scalar"]`, shape))
			})
		}, "norm"},
		{"copies without a norm", func(s *script) {
			each(func(_ int, shape string) {
				s.event(2, "aten::mul", fmt.Sprintf(`dims=[[%s],[]] type=["float","float"]`, shape))
			})
		}, ""},
		{"copies divided by a count", func(s *script) {
			s.event(2, "aten::sum", `dims=[[7],[]] type=["bool",""]`)
			s.event(2, "aten::mul", `dims=[[7],[]] type=["float","float"]`)
			each(func(_ int, shape string) {
				s.event(2, "aten::div", fmt.Sprintf(`dims=[[%s],[]] type=["float","long int"]`, shape))
			})
		}, "scale"},
		{"a number limited to ten", after(limit("float", `["","","10"]`), scale(byTensor)), "scale"},
		{"a count limited from below", after(limit("long int", `["","1",""]`), scale(byTensor)), "scale"},
		{"averaged after each reduction", func(s *script) {
			each(func(i int, shape string) {
				s.asked("allreduce", elems[i], elems[i], "0")
				fmt.Fprintf(&s.text, "1/9 %dus +9us cpu_op aten::copy_ dims=[[16],[16]]\n", s.now) // a backend's thread
				s.product(shape, byTensor)
			})
		}, "divide"},
		{"scaled after all reductions", after(func(s *script) {
			each(func(i int, _ string) { s.asked("allreduce", elems[i], elems[i], "0") })
		}, scale(byTensor)), "scale"},
		{"divided by gloo inside a collective", func(s *script) {
			s.within("user_annotation", "gloo:all_reduce", func() { scale(byTensor)(s) })
		}, ""},
		{"each reduce-scattered next", func(s *script) {
			each(func(i int, shape string) {
				s.product(shape, byTensor)
				s.asked("_reduce_scatter_base", elems[i], elems[i]/4, "0")
			})
		}, "divide before scatter"},
		{"the shards as well", func(s *script) {
			each(func(i int, shape string) {
				s.product(shape, byTensor)
				s.asked("_reduce_scatter_base", elems[i], elems[i]/4, "0")
				s.product(shard(elems[i]), byTensor)
			})
		}, "divide before scatter, divide"},
		{"the shards alone", func(s *script) {
			each(func(i int, _ string) {
				s.asked("_reduce_scatter_base", elems[i], elems[i]/4, "0")
				s.product(shard(elems[i]), byTensor)
			})
		}, "divide"},
		{"one buffer, all-reduced next", func(s *script) {
			s.product("2064", byNumber+`["","0.25"]`)
			s.sums(2064)
		}, "divide before scatter"},
		{"one buffer by a tensor, all-reduced next", func(s *script) {
			s.product("2064", byTensor)
			s.sums(2064)
		}, "scale"},
		{"all of them, then all reduce-scatters", after(scale(byTensor), func(s *script) {
			each(func(i int, _ string) { s.asked("_reduce_scatter_base", elems[1-i], elems[1-i]/4, "0") })
		}), "scale"},
		{"after sums of squares", func(s *script) {
			each(func(_ int, shape string) { s.sum(shape, "float") })
			scale(byTensor)(s)
		}, "norm, clip"},
		{"after a sum of something else", after(func(s *script) { s.sum("2,64", "float") }, scale(byTensor)), "scale"},
		{"after a dot product of a flat copy of all", func(s *script) {
			s.event(2, "aten::dot", `dims=[[2064],[2064]] type=["float","float"]`)
			scale(byNumber + `["",""]`)(s)
		}, "norm, clip"},
		{"each clipped by its own norm", func(s *script) {
			each(func(_ int, shape string) {
				s.norm(shape)
				s.limit("float", `["","","1."]`)
				s.product(shape, byTensor)
			})
		}, "norm, clip"},
		{"clipped, and then weights multiplied by the same operator", func(s *script) {
			each(func(_ int, shape string) { s.norm(shape) })
			scale(byTensor)(s)
			scale(byTensor)(s)
		}, "norm, clip, scale"},
		{"divided and multiplied in turn", func(s *script) {
			each(func(_ int, shape string) {
				s.event(2, "aten::div_", fmt.Sprintf(`dims=[[%s],[]] type=["float","float"]`, shape))
				s.product(shape, byTensor)
			})
		}, "scale, scale"},
		{"divided by a number after all reductions", after(func(s *script) {
			each(func(i int, _ string) { s.asked("allreduce", elems[i], elems[i], "0") })
		}, scale(`"long int"]`)), "divide"},
		{"other gradients reduce-scattered next", func(s *script) {
			each(func(i int, shape string) {
				s.product(shape, byTensor)
				s.asked("_reduce_scatter_base", 4096, 1024, "0")
			})
		}, "divide"},
	} {
		var got []string
		for _, p := range one(t, twice(1, func(s *script, _ int) { test.end(s) })).Passes {
			text := string(p.Kind)
			if p.One {
				text += " by one"
			}
			if p.BeforeScatter {
				text += " before scatter"
			}
			if p.Step == 1 {
				got = append(got, text)
			}
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s: %q, want %q", test.name, text, test.want)
		}
	}
}

// TestFactors: of which scale passes the trace says that their factor comes from a count, and
// which may be weights that decay.
func TestFactors(t *testing.T) {
	const reciprocal, wholeNumber = "aten::reciprocal", `"long int"]`
	product := func(factor string) func(s *script) {
		return func(s *script) { each(func(_ int, shape string) { s.product(shape, factor) }) }
	}
	single := func(name, dtype string) func(s *script) {
		return func(s *script) { s.event(2, name, fmt.Sprintf(`dims=[[]] type=[%q]`, dtype)) }
	}
	token := func(s *script) { s.asked("allreduce", 1, 1, "0") }
	counts := func(s *script) { s.sum("2,64", "bool") }
	for _, test := range []struct {
		name string
		end  []func(s *script)
		want string
	}{
		{"a tensor of which nothing is known", []func(s *script){product(byTensor)}, "doubtful"},
		{"a number of which nothing is known", []func(s *script){product(byNumber + `["",""]`)}, "doubtful decay"},
		{"a known number", []func(s *script){product(byNumber + `["","0.25"]`)}, "doubtful"},
		{"a count inverted", []func(s *script){single(reciprocal, "long int"), product(byTensor)}, ""},
		{"a count read", []func(s *script){single("aten::item", "long int"), product(byNumber + `["",""]`)}, ""},
		{"a number inverted", []func(s *script){single(reciprocal, "float"), product(byTensor)}, "doubtful"},
		{
			"the same in a step that counts",
			[]func(s *script){counts, single(reciprocal, "float"), product(byTensor)}, "",
		},
		{"or reduces a number", []func(s *script){token, single(reciprocal, "float"), product(byTensor)}, ""},
		{"a whole number", []func(s *script){product(wholeNumber)}, "doubtful"},
		{"a whole number in a step that counts", []func(s *script){counts, product(wholeNumber)}, ""},
		{"factors that differ", []func(s *script){single("aten::item", "long int"), func(s *script) {
			s.product("100,20", byNumber+`["","0.3"]`)
			s.product("64", byNumber+`["","0.5"]`)
		}}, "doubtful"},
	} {
		got := "no pass"
		for _, p := range one(t, twice(1, func(s *script, _ int) {
			for _, do := range test.end {
				do(s)
			}
		})).Passes {
			got = map[bool]string{true: "doubtful"}[p.Doubtful] + map[bool]string{true: " decay"}[p.Decay]
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestRounds: what is done for each norm by itself.
func TestRounds(t *testing.T) {
	sum := func(s *script) { s.asked("allreduce", 1, 1, "0") }
	for _, test := range []struct {
		name string
		end  func(s *script)
		want int
	}{
		{"one for all", func(s *script) { each(func(_ int, shape string) { s.norm(shape) }); sum(s) }, 0},
		{"one for each", func(s *script) { each(func(_ int, shape string) { s.norm(shape); sum(s) }) }, 2},
		{"two for each", func(s *script) { each(func(_ int, shape string) { s.norm(shape); sum(s); sum(s) }) }, 4},
		{"for one of them alone", func(s *script) { s.norm("100,20"); sum(s); s.norm("64") }, 0},
		{"two for the log", func(s *script) { each(func(_ int, shape string) { s.norm(shape) }); sum(s); sum(s) }, 0},
		{"many after all norms", func(s *script) {
			each(func(_ int, shape string) { s.norm(shape) })
			for range fewRounds {
				sum(s)
			}
		}, fewRounds},
		{"after the norms are used", func(s *script) {
			each(func(_ int, shape string) { s.norm(shape) })
			s.limit("float", `["","","1."]`)
			for range fewRounds {
				sum(s)
			}
		}, 0},
		{"of more than a number", func(s *script) {
			each(func(_ int, shape string) { s.norm(shape); s.asked("allreduce", 2, 2, "0") })
		}, 0},
		{"read on a CPU, where that waits for nothing", func(s *script) {
			each(func(_ int, shape string) { s.norm(shape); s.event(2, "aten::item", `dims=[[]] type=["float"]`) })
		}, 0},
	} {
		r := one(t, twice(1, func(s *script, _ int) { test.end(s) }))
		p := r.Passes[len(r.Passes)-1]
		if p.Kind != NormPass || len(p.Rounds.Collectives) != test.want || p.Rounds.Reads != 0 ||
			(p.Rounds.Wait > 0) != (test.want > 0) {
			t.Errorf("%s: %s %+v, want %d", test.name, p.Kind, p.Rounds, test.want)
		}
	}
}
