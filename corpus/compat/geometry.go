package compat

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/loomc/loomc/corpus/exports"
	"github.com/loomc/loomc/linker"
	"github.com/loomc/loomc/loom/diag"
	"github.com/loomc/loomc/loom/kernel"
	"github.com/loomc/loomc/loom/target"
)

// Geometry is what one configuration of an export occupies on the device.
type Geometry struct {
	WorkgroupSize [3]int64 // 0 where the workload decides
	LocalBytes    int64
	Wave          int
	Local         []string // "%scores 4096", in layout order
}

// Case is a configuration that both sides of a comparison are specialised for.
type Case struct {
	Name    string // plan case, or a description of the probe
	Config  []linker.Binding
	Planned bool // a plan case of both manifests
}

// Specialise closes the contract's kernel for a configuration. The geometry is
// nil when the diagnostics contain an error.
func (s *Surface) Specialise(ctx context.Context, c *Contract, config []linker.Binding) (*Geometry, diag.List) {
	k, _, ds := s.close(ctx, c, config)
	if k == nil {
		return nil, ds
	}
	g := &Geometry{WorkgroupSize: k.WorkgroupSize, LocalBytes: k.LocalBytes, Wave: k.Target.WaveSize}
	for _, l := range k.Local {
		g.Local = append(g.Local, fmt.Sprintf("%%%s %d", l.Name, l.Size))
	}
	return g, ds
}

func (s *Surface) close(ctx context.Context, c *Contract, config []linker.Binding) (*kernel.Kernel, *linker.Report, diag.List) {
	idx, _ := s.set.Index(c.Export)
	res, ds := linker.Link(ctx, idx, linker.Request{Roots: []string{"@" + c.Symbol}, Config: config, StripCheck: true, AllowMissingProviders: true})
	if ds.HasErrors() || len(res.Roots) == 0 || res.Roots[0].Def == nil {
		return nil, nil, ds
	}
	t := res.Roots[0].Target
	if t == nil {
		t, _ = target.Lookup(exports.DefaultTarget)
	}
	k, report, more, err := linker.Specialize(ctx, res.Module, res.Roots[0].Def.Name, linker.SpecializeOptions{Target: t})
	if err != nil {
		more.Add(diag.Errorf(c.Kernel, "LINK/CANCELLED", "specialisation stopped: %v", err))
	}
	return k, report, append(ds, more...)
}

// cases lists the configurations to compare two contracts in: the plan cases
// that both corpora have, or one probe when there is none.
func cases(old, new *Surface, o, n *Contract) []Case {
	var out []Case
	olds := old.set.Cases(o.Export)
	for _, c := range new.set.Cases(n.Export) {
		cfg := exports.CaseConfig(c)
		for _, p := range olds {
			if p.Name.Value == c.Name.Value && sameBindings(exports.CaseConfig(p), cfg) {
				out = append(out, Case{c.Name.Value, cfg, true})
				break
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	if p, ok := probe(o, n); ok {
		return []Case{p}
	}
	return nil
}

func sameBindings(a, b []linker.Binding) bool {
	key := func(bs []linker.Binding) []string {
		var out []string
		for _, x := range bs {
			out = append(out, x.Key+"="+x.Text)
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(key(a), key(b))
}

// probeValues are tried in this order for every integer config. One value for
// all keeps relations such as "stride ≥ columns".
var probeValues = []int64{128, 64, 256, 32, 16, 512, 8, 4, 2, 1, 1024, 0}

// probe picks values that both contracts accept.
func probe(o, n *Contract) (Case, bool) {
	var c Case
	var words []string
	keys := map[string]bool{}
	for _, side := range []*Contract{o, n} {
		for i := range side.Configs {
			cfg := &side.Configs[i]
			if keys[cfg.Key] || !cfg.Required {
				continue
			}
			keys[cfg.Key] = true
			text := ""
			switch {
			case cfg.Type == "i1":
				text = "true"
			case cfg.Integer:
				set := cfg.Accepted
				if other := o.Config(cfg.Key); other != nil && other.Integer {
					set = set.Intersect(other.Accepted)
				}
				if set.IsEmpty() {
					return c, false
				}
				v := set.Nearest(probeValues[0])[0]
				for _, p := range probeValues {
					if set.Contains(p) {
						v = p
						break
					}
				}
				text = fmt.Sprint(v)
			case strings.HasPrefix(cfg.Type, "f") || cfg.Type == "bf16":
				text = "1.0"
			default:
				return c, false
			}
			c.Config = append(c.Config, linker.Binding{Key: cfg.Key, Text: text})
			words = append(words, cfg.Key+"="+text)
		}
	}
	slices.Sort(words)
	c.Name = strings.Join(words, " ")
	if len(words) == 0 {
		c.Name = "as is"
	}
	return c, true
}
