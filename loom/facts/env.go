package facts

import "github.com/loomc/loomc/loom"

// Env is what is known from outside the definition. The zero Env knows nothing.
type Env struct {
	// Config returns what is known about a config symbol (without '@'): the exact
	// value when it is bound, the declared constraints otherwise; see Declared. A
	// nil Config knows no symbols.
	Config func(key string) (Fact, bool)
	// ConfigFloat returns the bound value of a float config symbol.
	ConfigFloat func(key string) (float64, bool)
	// Params gives facts of parameters, e.g. those of a call's operands.
	Params map[*loom.Value]Fact
	// WaveSize is the number of lanes per subgroup, 0 when not selected yet.
	WaveSize int64
	// WorkgroupSize is the number of work items per axis where known, else 0.
	WorkgroupSize [3]int64
	// MaxWorkgroupSize and MaxWorkgroupDim limit the items per workgroup, in all
	// and per axis; 0 means the limit of every known processor (1024).
	MaxWorkgroupSize int64
	MaxWorkgroupDim  [3]int64
	// MaxGridDim limits the workgroups per axis; 0 means 2^31−1.
	MaxGridDim [3]int64
}

// Declared returns what the where clause of a config.decl says about its value.
// Only literal arguments count.
func Declared(def *loom.Def) Fact {
	f := TopOf(def.ConfigType)
	f.Uniform = UniformGrid
	if def.ConfigVal == nil {
		return f
	}
	for _, p := range def.Where {
		if len(p.Args) > 0 && p.Args[0].Val == def.ConfigVal {
			f = literal(f, p)
		}
	}
	return f
}

// literal narrows f by a predicate whose other arguments are literals.
func literal(f Fact, p loom.Predicate) Fact {
	lit := func(i int) (Fact, bool) {
		if i >= len(p.Args) || p.Args[i].Val != nil || p.Args[i].IsFloat {
			return Fact{}, false
		}
		return Exact(p.Args[i].Int), true
	}
	g, ok := implied(p.Kind, f, lit)
	if !ok {
		return f
	}
	g.Uniform = f.Uniform
	return f.Meet(g)
}
