package codegen

var matrixOps = map[string]emitFunc{}
