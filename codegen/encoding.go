package codegen

import "github.com/loomc/loomc/loom"

var encodingOps = map[string]emitFunc{
	"encoding.define": bindEncoding, "encoding.layout.dense": bindEncoding, "encoding.layout.strided": bindEncoding,
	"encoding.layout.assume.dense": aliasEncoding, "encoding.layout.assume.strided": aliasEncoding,
	"encoding.assume.spec": aliasEncoding, "encoding.assume.match": aliasEncoding,
}

func bindEncoding(e *emitter, op *loom.Op) { e.vals[op.Result()] = &binding{enc: op} }

func aliasEncoding(e *emitter, op *loom.Op) { e.alias(op.Result(), op.Operands[0]) }
