package exports

import (
	"github.com/loomc/loomc/corpus"
	"github.com/loomc/loomc/linker"
)

// record is the part of a manifest's export record that a kernel can confirm.
func record(e *corpus.Export) linker.ExportRecord {
	return linker.ExportRecord{
		Name: text(e.Name), Symbol: text(e.Symbol),
		Workload: params(e.WorkloadParameters), Launch: params(e.LaunchParameters),
		Bindings: texts(e.Bindings), Access: texts(e.BindingAccess),
		TargetSelector: text(e.TargetSelector),
		Span:           e.Span, WorkloadSpan: e.WorkloadSpan, LaunchSpan: e.LaunchSpan, BindingsSpan: e.BindingsSpan, AccessSpan: e.AccessSpan,
	}
}

func text(t corpus.Text) linker.Text { return linker.Text{Value: t.Value, Span: t.Span} }

func texts(ts []corpus.Text) []linker.Text {
	if ts == nil {
		return nil
	}
	out := make([]linker.Text, len(ts))
	for i, t := range ts {
		out[i] = text(t)
	}
	return out
}

func params(ps []corpus.Param) []linker.ParamRecord {
	out := make([]linker.ParamRecord, len(ps))
	for i, p := range ps {
		out[i] = linker.ParamRecord{Name: text(p.Name), Type: text(p.Type)}
	}
	return out
}
