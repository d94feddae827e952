package loom

import "slices"

// CloneDef returns a deep copy of d that shares no region, block, op or value
// with it, so that a stage may rewrite the copy. Types without SSA references,
// encodings, attribute payloads and trivia are immutable and stay shared. d is
// loaded first if that has not happened yet.
func CloneDef(d *Def) *Def {
	d.Load()
	return cloneDef(d, make(map[*Value]*Value, countDef(d)))
}

// countDef is how many values d defines, so that a copy allocates for them once.
func countDef(d *Def) int {
	n := len(d.Workload) + len(d.Params) + len(d.Results) + 1
	d.Regions(func(r *Region) { n += countRegion(r) })
	return n
}

func countRegion(r *Region) int {
	n := 0
	for _, b := range r.Blocks {
		n += len(b.Args)
		for _, o := range b.Ops {
			n += countOp(o)
		}
	}
	return n
}

func countOp(o *Op) int {
	n := len(o.Results)
	for _, r := range o.Regions {
		n += countRegion(r)
	}
	return n
}

func cloneDef(d *Def, m map[*Value]*Value) *Def {
	n := &Def{
		Kind: d.Kind, Op: d.Op, Name: d.Name, Family: d.Family, OldForm: d.OldForm,
		Span: d.Span, NameSpan: d.NameSpan, Mod: d.Mod, Ordinal: d.Ordinal, HasBody: d.HasBody, Visible: d.Visible,
		Mods: d.Mods, Selector: d.Selector, Attrs: slices.Clone(d.Attrs), Init: d.Init, Enc: d.Enc,
		Trivia: d.Trivia, Doc: d.Doc,
	}
	c := cloner{m: m, free: make([]Value, countDef(d))}
	// Values first: a type in a signature may refer to a later parameter.
	c.args(d.Workload, nil)
	c.args(d.Params, nil)
	for _, r := range d.Results {
		if r.Val != nil {
			c.value(r.Val)
		}
	}
	if d.ConfigVal != nil {
		c.value(d.ConfigVal)
	}
	if d.Config != nil {
		c.declare(d.Config)
	}
	if d.Body != nil {
		c.declare(d.Body)
	}
	n.Workload = c.finishArgs(d.Workload)
	n.Params = c.finishArgs(d.Params)
	if d.Results != nil {
		n.Results = make([]Result, len(d.Results))
		for i, r := range d.Results {
			r.Type = r.Type.Map(c.get)
			if r.Tied != nil {
				r.Tied = c.get(r.Tied)
			}
			if r.Val != nil {
				r.Val = c.finish(r.Val)
			}
			n.Results[i] = r
		}
	}
	if d.ConfigVal != nil {
		n.ConfigVal = c.finish(d.ConfigVal)
	}
	n.ConfigType = d.ConfigType.Map(c.get)
	n.Where = c.preds(d.Where)
	if d.Config != nil {
		n.Config = c.region(d.Config)
		n.Config.Owner = n
	}
	if d.Body != nil {
		n.Body = c.region(d.Body)
		n.Body.Owner = n
	}
	return n
}

// CloneRegion returns a deep copy of r with every value that mapping knows
// replaced. Values the region defines are added to mapping; values from outside
// that mapping does not know stay as they are. The copy belongs to nothing: its
// Op and Owner are nil.
func CloneRegion(r *Region, mapping map[*Value]*Value) *Region {
	c := cloner{m: mapping, free: make([]Value, countRegion(r))}
	c.declare(r)
	return c.region(r)
}

// CloneOp returns a deep copy of o, its regions included, under the same rules
// as CloneRegion. The copy is in no block.
func CloneOp(o *Op, mapping map[*Value]*Value) *Op {
	c := cloner{m: mapping, free: make([]Value, countOp(o))}
	c.declareOp(o)
	return c.op(o)
}

// cloner copies in two steps: declare makes a value for every definition, region
// then builds ops and types from the completed mapping. One step would not do,
// because a type or a branch may refer to something that comes later.
type cloner struct {
	m      map[*Value]*Value
	blocks map[*Block]*Block // only filled when a region has several blocks
	free   []Value
}

func (c *cloner) get(v *Value) *Value {
	if n, ok := c.m[v]; ok {
		return n
	}
	return v
}

// value makes the copy of v without its type.
func (c *cloner) value(v *Value) *Value {
	if len(c.free) == 0 {
		c.free = make([]Value, 64)
	}
	n := &c.free[0]
	c.free = c.free[1:]
	n.Name, n.Index, n.Pos = v.Name, v.Index, v.Pos
	c.m[v] = n
	return n
}

// finish gives the copy of v its type.
func (c *cloner) finish(v *Value) *Value {
	n := c.m[v]
	n.Type = v.Type.Map(c.get)
	return n
}

func (c *cloner) args(vs []*Value, b *Block) {
	for _, v := range vs {
		// A definition's parameters may be its entry block's arguments too.
		n, ok := c.m[v]
		if !ok {
			n = c.value(v)
		}
		if b != nil {
			n.Block = b
		}
	}
}

func (c *cloner) finishArgs(vs []*Value) []*Value {
	if vs == nil {
		return nil
	}
	out := make([]*Value, len(vs))
	for i, v := range vs {
		out[i] = c.finish(v)
	}
	return out
}

func (c *cloner) declare(r *Region) {
	for _, b := range r.Blocks {
		c.args(b.Args, nil)
		for _, o := range b.Ops {
			c.declareOp(o)
		}
	}
}

func (c *cloner) declareOp(o *Op) {
	for _, v := range o.Results {
		c.value(v)
	}
	for _, r := range o.Regions {
		c.declare(r)
	}
}

func (c *cloner) region(r *Region) *Region {
	n := &Region{Span: r.Span, Inner: r.Inner, Blocks: make([]*Block, len(r.Blocks))}
	if len(r.Blocks) > 1 && c.blocks == nil {
		c.blocks = make(map[*Block]*Block)
	}
	for i, b := range r.Blocks {
		n.Blocks[i] = &Block{Label: b.Label, Region: n}
		if len(r.Blocks) > 1 {
			c.blocks[b] = n.Blocks[i]
		}
	}
	for i, b := range r.Blocks {
		nb := n.Blocks[i]
		nb.Args = c.finishArgs(b.Args)
		for _, v := range nb.Args {
			v.Block = nb
		}
		nb.Ops = make([]*Op, len(b.Ops))
		for j, o := range b.Ops {
			no := c.op(o)
			no.Block = nb
			nb.Ops[j] = no
		}
	}
	return n
}

func (c *cloner) op(o *Op) *Op {
	n := &Op{Def: o.Def, Span: o.Span, NamePos: o.NamePos, Segs: slices.Clone(o.Segs), Trivia: o.Trivia}
	if o.Operands != nil {
		n.Operands = make([]*Value, len(o.Operands))
		for i, v := range o.Operands {
			n.Operands[i] = c.get(v)
		}
	}
	if o.Results != nil {
		n.Results = make([]*Value, len(o.Results))
		for i, v := range o.Results {
			nv := c.finish(v)
			nv.Def = n
			n.Results[i] = nv
		}
	}
	if o.Attrs != nil {
		n.Attrs = make([]NamedAttr, len(o.Attrs))
		for i, a := range o.Attrs {
			if a.Value.Kind == AttrPreds {
				a.Value.Aux = c.preds(a.Value.Preds())
			}
			n.Attrs[i] = a
		}
	}
	if o.Regions != nil {
		n.Regions = make([]*Region, len(o.Regions))
		for i, r := range o.Regions {
			n.Regions[i] = c.region(r)
			n.Regions[i].Op = n
		}
	}
	if o.Succs != nil {
		n.Succs = make([]Succ, len(o.Succs))
		for i, s := range o.Succs {
			t := Succ{Dest: s.Dest}
			if b, ok := c.blocks[s.Dest]; ok {
				t.Dest = b
			}
			if s.Args != nil {
				t.Args = make([]*Value, len(s.Args))
				for j, v := range s.Args {
					t.Args[j] = c.get(v)
				}
			}
			n.Succs[i] = t
		}
	}
	return n
}

func (c *cloner) preds(ps []Predicate) []Predicate {
	if ps == nil {
		return nil
	}
	out := make([]Predicate, len(ps))
	for i, p := range ps {
		out[i] = p.Map(c.get)
	}
	return out
}
