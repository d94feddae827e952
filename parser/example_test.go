package parser_test

import (
	"fmt"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/parser"
)

// Parsing a file gives its definitions; their heads and bodies are read when they
// are loaded. Printing gives the canonical text.
func Example() {
	m, found := parser.Parse(diag.NewSource("scale.loom", `
config.decl @scale.factor: %f : index where [ range(%f, 1,64) ]
func.def pure @scale(%x : index)->(index) { %f=config.get @scale.factor:index
  %y = index.mul %x,%f : index   // the only work
  func.return %y : index }`))
	found = append(found, m.Load()...)
	if found.HasErrors() {
		fmt.Print(diag.Text(found))
		return
	}
	for _, d := range m.Defs {
		fmt.Println(d.Op.Name, d.Name)
	}
	fmt.Println()
	fmt.Printf("%s", loom.Print(m))
	// Output:
	// config.decl scale.factor
	// func.def scale
	//
	// config.decl @scale.factor : %f: index where [range(%f, 1, 64)]
	// func.def pure @scale(%x: index) -> (index) {
	//   %f = config.get @scale.factor : index
	//   %y = index.mul %x, %f : index  // the only work
	//   func.return %y : index
	// }
}

// A fault has a code, a place and, where there is one, a way out. It does not
// hide the next.
func Example_faults() {
	m, found := parser.Parse(diag.NewSource("sum.loom", `func.def @sum(%left: index, %right: index) -> (index) {
  %sum = index.add %left, %rihgt : index
  %twice = index.ad %sum, %sum : index
  func.return %twice : index
}
`))
	found = append(found, m.Load()...)
	fmt.Print(diag.Text(found.Sorted()))
	// Output:
	// sum.loom:2:27: error: PARSE/001: value '%rihgt' is used before any definition
	//       %sum = index.add %left, %rihgt : index
	//                               ^~~~~~
	//   sum.loom:1:29: note: '%right' is defined here
	//       func.def @sum(%left: index, %right: index) -> (index) {
	//                                   ^~~~~~
	//   help: did you mean '%right'?
	// sum.loom:3:12: error: PARSE/006: unknown op 'index.ad'
	//       %twice = index.ad %sum, %sum : index
	//                ^~~~~~~~
	//   help: did you mean 'index.add'?
}
