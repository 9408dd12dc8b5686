// Kernels writes the assembly of the reference trainer's cpu backend with avo, for
// AVX2 with FMA and for AVX-512. It runs in go generate only.
//
//		go run -C tools ./kernels -what products -to ../reference/cpu/gemm/tiles_amd64
//
//	  - main.go: flags
//	  - isa.go: what differs between the two instruction sets
//	  - products.go: the innermost loop of a matrix product
//	  - transpose.go: transposing
//	  - loops.go: loops over vectors of float32
//	  - exp.go: e^x in the registers of a loop
package main

import (
	"flag"
	"log"
	"path"

	"github.com/mmcloughlin/avo/build"
)

func main() {
	what := flag.String("what", "", "products or loops")
	to := flag.String("to", "", "path of the files, without .s and .go; their package is that of the folder")
	flag.Parse()
	build.ConstraintExpr("amd64")
	switch *what {
	case "products":
		products()
	case "loops":
		loops()
	default:
		log.Fatalf("kernels: -what is %q, not products or loops", *what)
	}
	for name, value := range map[string]string{
		"out": *to + ".s", "stubs": *to + ".go", "pkg": path.Base(path.Dir(*to)),
	} {
		if err := flag.Set(name, value); err != nil {
			log.Fatal(err)
		}
	}
	build.Generate()
}
