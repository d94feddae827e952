package corpus

import (
	"strings"

	"github.com/tailscale/hujson"

	"github.com/loomc/loomc/loom/diag"
)

// ConfigValue is one config binding of a file: the symbol without '@', the
// value as text, and where both stand.
type ConfigValue struct {
	Key     string
	Text    string // a string's content; a number's or boolean's own spelling
	Span    diag.Span
	KeySpan diag.Span
}

var configJSON = jsonDialect{code: "CONFIG/FILE-SYNTAX", name: "malformed config file", comments: true,
	whenEmpty: `write an object of config values, {"symbol.name": value}; {} binds nothing`}

// ReadConfig reads a JSONC config file: comments and trailing commas are
// allowed, nested objects join their keys with dots, and a leading '@' of a key
// is dropped. {"ggml": {"flash_attention": {"qk_head_size": 128}}} binds
// ggml.flash_attention.qk_head_size. The values come in file order; those at
// fault are left out and reported.
func ReadConfig(src *diag.Source) ([]ConfigValue, diag.List) {
	root, ds := parseJSON(src, configJSON)
	if root == nil {
		return nil, ds
	}
	r := &configReader{src: src, seen: map[string]diag.Span{}, ds: ds}
	obj, ok := root.Value.(*hujson.Object)
	if !ok {
		r.ds.Add(diag.Errorf(jsonSpan(src, root), "CONFIG/FILE-TYPE", "a config file holds an object, this is %s", jsonKind(root)).
			WithHelp(`write {"symbol.name": value, …}`))
		return nil, r.ds.Sorted()
	}
	r.object(obj, "")
	return r.out, r.ds.Sorted()
}

type configReader struct {
	src  *diag.Source
	seen map[string]diag.Span
	out  []ConfigValue
	ds   diag.List
}

func (r *configReader) object(o *hujson.Object, prefix string) {
	for _, m := range jsonMembers(r.src, o, "CONFIG/FILE-DUPLICATE", &r.ds) {
		key := m.key
		if prefix == "" {
			key = strings.TrimPrefix(key, "@")
		}
		if why := badConfigKey(key); why != "" {
			r.ds.Add(diag.Errorf(m.keySpan, "CONFIG/FILE-KEY", "config key '%s' %s", m.key, why).
				WithHelp("a key is a config symbol, such as ggml.flash_attention.qk_head_size, or a part of one"))
			continue
		}
		if prefix != "" {
			key = prefix + "." + key
		}
		switch v := m.value.Value.(type) {
		case *hujson.Object:
			r.object(v, key)
		case hujson.Literal:
			if v.Kind() == 'n' {
				r.reject(m, key, "null", "remove the key to leave the symbol unbound")
				continue
			}
			r.bind(m, key)
		default:
			r.reject(m, key, "an array", "a config symbol takes one value")
		}
	}
}

func (r *configReader) reject(m jsonMember, key, what, help string) {
	r.ds.Add(diag.Errorf(jsonSpan(r.src, m.value), "CONFIG/FILE-TYPE", "config '%s' is %s, want a number, a string or a boolean", key, what).
		WithHelp("%s", help))
}

func (r *configReader) bind(m jsonMember, key string) {
	if first, again := r.seen[key]; again {
		r.ds.Add(diag.Errorf(m.keySpan, "CONFIG/FILE-DUPLICATE", "config '%s' is bound twice", key).
			WithRelated(first, "first here").
			WithHelp("remove one of the two; nested keys and dotted keys name the same symbols"))
		return
	}
	r.seen[key] = m.keySpan
	v := ConfigValue{Key: key, Span: jsonSpan(r.src, m.value), KeySpan: m.keySpan}
	if v.Text = v.Span.Text(); m.value.Value.Kind() == '"' {
		v.Text = jsonString(r.src, m.value)
	}
	r.out = append(r.out, v)
}

func badConfigKey(key string) string {
	switch {
	case key == "":
		return "is empty"
	case strings.HasPrefix(key, "@"):
		return "has an '@' that does not lead the symbol"
	case strings.HasPrefix(key, ".") || strings.HasSuffix(key, ".") || strings.Contains(key, ".."):
		return "has an empty part between dots"
	case strings.ContainsFunc(key, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._$-", c))
	}):
		return "holds a character that no symbol has"
	}
	return ""
}
