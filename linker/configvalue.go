package linker

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/loomc/loomc/loom"
	"github.com/loomc/loomc/loom/diag"
)

// Binding gives a config symbol a value: what the user asked for, still text.
type Binding struct {
	Key  string // without '@'
	Text string
	Span diag.Span // place in a config file; none for a command-line flag
}

// ParseBinding splits "key=value". A leading '@' and blanks around the key are
// dropped.
func ParseBinding(s string) (Binding, diag.List) {
	key, value, ok := strings.Cut(s, "=")
	key = CleanKey(key)
	if !ok || key == "" {
		return Binding{}, diag.List{diag.Errorf(diag.Span{}, "CONFIG/SYNTAX", "config binding '%s' is not of the form key=value", s).
			WithHelp("write --config name=value, e.g. --config ggml.flash_attention.qk_head_size=128")}
	}
	return Binding{Key: key, Text: strings.TrimSpace(value)}, nil
}

// CleanKey strips blanks and the leading '@' of a config key.
func CleanKey(key string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(key), "@"))
}

// Bindings collects bindings by key and refuses a key that comes twice.
func Bindings(list []Binding) (map[string]Binding, diag.List) {
	var ds diag.List
	out := make(map[string]Binding, len(list))
	for _, b := range list {
		b.Key = CleanKey(b.Key)
		if old, ok := out[b.Key]; ok {
			d := diag.Errorf(b.Span, "CONFIG/DUPLICATE", "config '%s' is bound twice: to '%s' and to '%s'", b.Key, old.Text, b.Text)
			if old.Span.Valid() {
				d = d.WithRelated(old.Span, "first bound here")
			}
			ds.Add(d.WithHelp("keep one of the two"))
			continue
		}
		out[b.Key] = b
	}
	return out, ds
}

// valueError is a value text that does not fit its type.
type valueError struct{ code, message string }

func (e *valueError) Error() string { return e.message }

// ParseValue reads the text of a config value of type t. The error carries one
// of the status texts of the config rules; ValueCode gives its code.
func ParseValue(key string, t *loom.Type, text string) (loom.Attr, error) {
	text = strings.TrimSpace(text)
	bad := func(want string) error {
		return &valueError{"CONFIG/TYPE", fmt.Sprintf("config '%s' expects %s, got '%s'", key, want, text)}
	}
	switch {
	case t.Kind == loom.I1:
		switch strings.ToLower(text) {
		case "true", "1":
			return loom.BoolAttr(true), nil
		case "false", "0":
			return loom.BoolAttr(false), nil
		}
		return loom.Attr{}, bad("i1 value true/false/0/1")
	case t.Kind.IsInt() || t.Kind.IsIndexLike():
		if !isDecimal(text) {
			return loom.Attr{}, bad("integer value")
		}
		v, err := strconv.ParseInt(text, 10, 64)
		domain, _ := Domain(t)
		if err != nil || !domain.Contains(v) {
			lo, _ := domain.Min()
			hi, _ := domain.Max()
			return loom.Attr{}, &valueError{"CONFIG/RANGE", fmt.Sprintf("config '%s' value %s is outside the %s domain [%d, %d]", key, text, t, lo, hi)}
		}
		return loom.IntAttr(v), nil
	case t.Kind.IsFloat():
		v, err := strconv.ParseFloat(text, 64)
		if errors.Is(err, strconv.ErrSyntax) || strings.ContainsAny(text, "_xXpP") {
			return loom.Attr{}, bad("floating-point value")
		}
		if max := largestFinite(t.Kind); err != nil || !math.IsInf(v, 0) && math.Abs(v) > max {
			return loom.Attr{}, &valueError{"CONFIG/RANGE", fmt.Sprintf("config '%s' value %s is outside the %s domain [-%g, %g]", key, text, t, max, max)}
		}
		return loom.FloatAttr(v), nil
	case t.Kind == loom.EncodingKind:
		e, rest := parseEncoding(text)
		if e == nil || rest != "" {
			return loom.Attr{}, bad("encoding value such as #encoding.f16")
		}
		return loom.Attr{Kind: loom.AttrEnc, Aux: e}, nil
	}
	return loom.Attr{}, &valueError{"CONFIG/TYPE", fmt.Sprintf("config '%s' has type %s, which cannot be bound", key, t)}
}

// ValueCode returns the diagnostic code of an error of ParseValue.
func ValueCode(err error) string {
	var v *valueError
	if errors.As(err, &v) {
		return v.code
	}
	return "CONFIG/TYPE"
}

func isDecimal(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func largestFinite(k loom.Kind) float64 {
	switch k {
	case loom.F8E4M3:
		return 448
	case loom.F8E5M2:
		return 57344
	case loom.F16:
		return 65504
	case loom.BF16:
		return 0x1.fep127
	case loom.F32:
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

// parseEncoding reads "#family<name = value, …>" with static values and returns
// what follows it. It returns nil when the text is not an encoding.
func parseEncoding(s string) (*loom.Encoding, string) {
	s, ok := strings.CutPrefix(strings.TrimSpace(s), "#")
	name, rest := splitName(s)
	if !ok || name == "" {
		return nil, s
	}
	e := &loom.Encoding{Family: name}
	rest, open := strings.CutPrefix(strings.TrimSpace(rest), "<")
	if !open {
		return e, rest
	}
	for {
		var p loom.NamedAttr
		p.Name, rest = splitName(strings.TrimSpace(rest))
		var eq bool
		if rest, eq = strings.CutPrefix(strings.TrimSpace(rest), "="); !eq || p.Name == "" {
			return nil, rest
		}
		if p.Value, rest, ok = parseStatic(strings.TrimSpace(rest)); !ok {
			return nil, rest
		}
		e.Params = append(e.Params, p)
		rest = strings.TrimSpace(rest)
		if after, ok := strings.CutPrefix(rest, ">"); ok {
			return e, strings.TrimSpace(after)
		}
		if rest, ok = strings.CutPrefix(rest, ","); !ok {
			return nil, rest
		}
	}
}

func parseStatic(s string) (loom.Attr, string, bool) {
	switch {
	case strings.HasPrefix(s, "#"):
		e, rest := parseEncoding(s)
		return loom.Attr{Kind: loom.AttrEnc, Aux: e}, rest, e != nil
	case strings.HasPrefix(s, "\""):
		q, err := strconv.QuotedPrefix(s)
		if err != nil {
			return loom.Attr{}, s, false
		}
		text, err := strconv.Unquote(q)
		return loom.Attr{Kind: loom.AttrString, Str: text}, s[len(q):], err == nil
	case strings.HasPrefix(s, "["):
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return loom.Attr{}, s, false
		}
		var ints []int64
		for _, f := range strings.Split(s[1:end], ",") {
			v, err := strconv.ParseInt(strings.TrimSpace(f), 10, 64)
			if err != nil {
				return loom.Attr{}, s, false
			}
			ints = append(ints, v)
		}
		return loom.Attr{Kind: loom.AttrInts, Aux: ints}, s[end+1:], true
	}
	end := strings.IndexAny(s, ",> \t\n")
	if end < 0 {
		end = len(s)
	}
	word, rest := s[:end], s[end:]
	if v, err := strconv.ParseInt(word, 10, 64); err == nil {
		return loom.IntAttr(v), rest, true
	}
	if v, err := strconv.ParseFloat(word, 64); err == nil && strings.ContainsAny(word, ".e") {
		return loom.FloatAttr(v), rest, true
	}
	switch word {
	case "true", "false":
		return loom.BoolAttr(word == "true"), rest, true
	}
	name, tail := splitName(word)
	return loom.WordAttr(word), rest, name != "" && tail == ""
}

func splitName(s string) (name, rest string) {
	i := 0
	for i < len(s) && (s[i] == '_' || s[i] == '.' || s[i] >= 'a' && s[i] <= 'z' || s[i] >= 'A' && s[i] <= 'Z' ||
		i > 0 && (s[i] >= '0' && s[i] <= '9' || s[i] == '-')) {
		i++
	}
	return s[:i], s[i:]
}

// valueText is the canonical text of a config value as bindings write it.
func valueText(a loom.Attr) string { return a.String() }
