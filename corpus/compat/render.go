package compat

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

// Format is one rendering of a report.
type Format struct {
	Name  string
	Doc   string
	Write func(w io.Writer, r *Report) error
}

// Formats lists the renderings.
func Formats() []Format {
	return []Format{
		{"text", "for a terminal", WriteText},
		{"json", "for programs, schema " + Schema, WriteJSON},
		{"markdown", "for a pull request", WriteMarkdown},
		{"github", "annotations of a GitHub Actions run", WriteGitHub},
		{"sarif", "for code-scanning services, SARIF 2.1.0", WriteSARIF},
		{"junit", "for test reporters, one test case per export", WriteJUnit},
		{"html", "one self-contained page", WriteHTML},
	}
}

// LookupFormat returns the format called name, and whether it exists.
// "github-actions" is another name of github.
func LookupFormat(name string) (Format, bool) {
	if name == "github-actions" {
		name = "github"
	}
	fs := Formats()
	i := slices.IndexFunc(fs, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return fs[i], true
}

// Summary is the report in one line.
func (r *Report) Summary() string {
	var parts []string
	for c := Breaking; c <= Additive; c++ {
		parts = append(parts, fmt.Sprintf("%d %s", r.Count(c), strings.ToLower(c.String())))
	}
	s := strings.Join(parts, ", ")
	if n := r.Accepted(); n > 0 {
		s += fmt.Sprintf("; %d accepted by %s", n, SettingsFile)
	}
	return s + fmt.Sprintf("; %s unchanged", counted(r.Unchanged, "export"))
}

// FileSummary says how many files differ, "" when none does.
func (r *Report) FileSummary() string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{len(r.Files.Added), "added"}, {len(r.Files.Removed), "removed"}, {len(r.Files.Changed), "changed"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "files: " + strings.Join(parts, ", ")
}

// Title names the two corpora and their sizes.
func (r *Report) Title() string {
	return fmt.Sprintf("%s → %s: %s, now %d", r.Old, r.New, counted(r.OldCount, "export"), r.NewCount)
}

// group is the findings of one category about one export or family.
type group struct {
	id       string
	findings []*Finding
}

// grouped returns a category's findings that stand, by what they are about.
func (r *Report) grouped(c Category) []group {
	var out []group
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Rule.Category != c || f.Ignored != nil {
			continue
		}
		if n := len(out); n == 0 || out[n-1].id != f.ID() {
			out = append(out, group{id: f.ID()})
		}
		out[len(out)-1].findings = append(out[len(out)-1].findings, f)
	}
	return out
}

// WriteText renders the report for a terminal.
func WriteText(w io.Writer, r *Report) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, r.Title())
	for c := Breaking; c <= Additive; c++ {
		gs := r.grouped(c)
		if len(gs) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s\n", c)
		for _, g := range gs {
			fmt.Fprintf(b, "  %s\n", g.id)
			for _, f := range g.findings {
				writeFinding(b, f)
			}
		}
	}
	if r.Accepted() > 0 {
		fmt.Fprint(b, "\naccepted\n")
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Ignored != nil {
				fmt.Fprintf(b, "  %s\n    %s: %s\n      %s: %s\n", f.ID(), f.Rule.ID, f.Message, f.Ignored.Span, f.Ignored.Reason)
			}
		}
	}
	for _, e := range r.UnusedIgnores {
		fmt.Fprintf(b, "\n%s: note: this entry accepts nothing (%s of %s)\n", e.Span, e.Rule, e.Export)
	}
	fmt.Fprintf(b, "\n%s\n", r.Summary())
	if s := r.FileSummary(); s != "" {
		fmt.Fprintln(b, s)
	}
	return b.Flush()
}

func writeFinding(b *bufio.Writer, f *Finding) {
	fmt.Fprintf(b, "    %s: %s\n", f.Rule.ID, f.Message)
	for _, s := range []struct {
		word string
		side Side
	}{{"old", f.Old}, {"new", f.New}} {
		if !s.side.Span.Valid() {
			continue
		}
		fmt.Fprintf(b, "      %s %s", s.word, s.side.Span)
		if s.side.Text != "" {
			fmt.Fprintf(b, "  %s", s.side.Text)
		}
		b.WriteByte('\n')
	}
	for _, d := range f.Detail {
		fmt.Fprintf(b, "      %s\n", d)
	}
	if len(f.Users) > 0 {
		fmt.Fprintf(b, "      used by: %s\n", strings.Join(f.Users, ", "))
	}
	if f.Rule.Fix != "" {
		fmt.Fprintf(b, "      help: %s\n", f.Rule.Fix)
	}
}

// Diagnostics returns the findings in the form that every loomc command shares.
// Breaking findings are errors, narrowing and behaviour ones warnings, additive
// and accepted ones notes.
func (r *Report) Diagnostics() diag.List {
	var out diag.List
	for i := range r.Findings {
		f := &r.Findings[i]
		d := diag.Diagnostic{Severity: diag.Note, Code: "DIFF/" + strings.ToUpper(f.Rule.ID), Message: f.ID() + ": " + f.Message, Span: f.Place(), Help: f.Rule.Fix}
		switch {
		case f.Ignored != nil:
			d = d.WithRelated(f.Ignored.Span, "accepted: %s", f.Ignored.Reason)
		case f.Rule.Category == Breaking:
			d.Severity = diag.Error
		case f.Rule.Category != Additive:
			d.Severity = diag.Warning
		}
		if f.New.Span.Valid() && f.Old.Span.Valid() {
			d = d.WithRelated(f.Old.Span, "before: %s", orPlain(f.Old.Text, "the old side"))
		}
		for _, t := range f.Detail {
			d = d.WithRelated(diag.Span{}, "%s", t)
		}
		if len(f.Users) > 0 {
			d = d.WithRelated(diag.Span{}, "used by %s", strings.Join(f.Users, ", "))
		}
		out.Add(d)
	}
	return out
}

func orPlain(s, plain string) string {
	if s == "" {
		return plain
	}
	return s
}

// WriteGitHub renders workflow commands. Places in a commit are given as paths of
// the repository, for annotations know no other.
func WriteGitHub(w io.Writer, r *Report) error {
	ds := r.Diagnostics()
	at := map[*diag.Source]*diag.Source{}
	for i := range ds {
		src := ds[i].Span.Src
		if src == nil {
			continue
		}
		if at[src] == nil {
			at[src] = diag.NewSource(repoPath(src.Name), src.Text)
		}
		ds[i].Span.Src = at[src]
	}
	return diag.WriteGitHub(w, ds)
}

// repoPath drops the commit or corpus name in front of a path.
func repoPath(name string) string {
	if before, after, ok := strings.Cut(name, ":"); ok && after != "" && !strings.ContainsAny(before, "/\\") && len(before) > 1 {
		return after
	}
	return name
}

// WriteMarkdown renders the report for a pull request: a table of counts, then
// one list per category, the milder ones folded away.
func WriteMarkdown(w io.Writer, r *Report) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "## Kernel corpus: `%s` → `%s`\n\n", r.Old, r.New)
	fmt.Fprintf(b, "%d exports before, %d now. %s.\n\n", r.OldCount, r.NewCount, upperFirst(r.Summary()))
	b.WriteString("| breaking | narrowing | behaviour | additive |\n|---:|---:|---:|---:|\n")
	fmt.Fprintf(b, "| %d | %d | %d | %d |\n", r.Count(Breaking), r.Count(Narrowing), r.Count(Behaviour), r.Count(Additive))
	for c := Breaking; c <= Additive; c++ {
		gs := r.grouped(c)
		if len(gs) == 0 {
			continue
		}
		folded := c >= Behaviour
		if folded {
			fmt.Fprintf(b, "\n<details><summary>%s (%d)</summary>\n", c, r.Count(c))
		} else {
			fmt.Fprintf(b, "\n### %s (%d)\n", c, r.Count(c))
		}
		for _, g := range gs {
			fmt.Fprintf(b, "\n**%s**\n", mdText(g.id))
			for _, f := range g.findings {
				fmt.Fprintf(b, "- `%s` %s", f.Rule.ID, mdText(f.Message))
				if sp := f.Place(); sp.Valid() {
					fmt.Fprintf(b, " (`%s`)", mdCode(sp.String()))
				}
				b.WriteByte('\n')
				for _, d := range f.Detail {
					fmt.Fprintf(b, "  - %s\n", mdText(d))
				}
				if len(f.Users) > 0 {
					fmt.Fprintf(b, "  - used by %s\n", mdText(strings.Join(f.Users, ", ")))
				}
			}
		}
		if folded {
			b.WriteString("\n</details>\n")
		}
	}
	if r.Accepted() > 0 {
		fmt.Fprintf(b, "\n<details><summary>accepted (%d)</summary>\n\n", r.Accepted())
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Ignored != nil {
				fmt.Fprintf(b, "- **%s** `%s` %s (%s)\n", mdText(f.ID()), f.Rule.ID, mdText(f.Message), mdText(f.Ignored.Reason))
			}
		}
		b.WriteString("\n</details>\n")
	}
	if s := r.FileSummary(); s != "" {
		fmt.Fprintf(b, "\n%s\n", upperFirst(s))
	}
	return b.Flush()
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// mdText escapes what Markdown or HTML would take for markup.
func mdText(s string) string {
	return mdEscaper.Replace(s)
}

var mdEscaper = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "<", "&lt;", ">", "&gt;", "&", "&amp;", "|", "\\|", "\n", " ", "@", "@\u200b")

func mdCode(s string) string { return strings.ReplaceAll(s, "`", "'") }
