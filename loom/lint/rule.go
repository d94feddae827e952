package lint

import (
	"strings"

	"github.com/loomc/loomc/loom/diag"
)

// Rule is one static check. Exactly one of its functions is set.
type Rule struct {
	ID       string
	Severity diag.Severity

	body    func(*body)
	link    func(*link)
	sources func(*sources)
}

// Title says in a few words what the rule finds.
func (r Rule) Title() string { return r.code().Title }

// Doc says when the rule reports and why it exists.
func (r Rule) Doc() string { return r.code().Doc }

// Fix says what to do about a finding.
func (r Rule) Fix() string { return r.code().Fix }

// code is the rule's entry in the table of diagnostic codes, which the explain
// command and the SARIF rules print as well.
func (r Rule) code() diag.Code { c, _ := diag.Lookup(r.ID); return c }

// Rules lists the rules in the order of their identifiers.
func Rules() []Rule { return table() }

// LookupRule returns the rule called id, in any letter case.
func LookupRule(id string) (Rule, bool) {
	for _, r := range table() {
		if r.ID == strings.ToUpper(id) {
			return r, true
		}
	}
	return Rule{}, false
}

// table is a function because the checks refer back to it for severities.
func table() []Rule {
	return []Rule{
		{ID: assumeAddress, Severity: diag.Error, body: checkAssumeAddress},
		{ID: bankConflict, Severity: diag.Warning, body: checkBankConflict},
		{ID: barrierDivergent, Severity: diag.Error, body: checkBarrierDivergent},
		{ID: barrierSpace, Severity: diag.Error, body: checkBarrierSpace},
		{ID: boundContradicted, Severity: diag.Error, link: checkBoundContradicted},
		{ID: boundRepeated, Severity: diag.Warning, link: checkBoundRepeated},
		{ID: configUnused, Severity: diag.Warning, sources: checkConfigUnused},
		{ID: launchConfig, Severity: diag.Warning, link: checkLaunchConfig},
		{ID: maskedValue, Severity: diag.Error, body: checkMaskedValue},
		{ID: nearDuplicate, Severity: diag.Warning, sources: checkNearDuplicate},
		{ID: providerUnreachable, Severity: diag.Warning, sources: checkProviderUnreachable},
		{ID: unalignedWide, Severity: diag.Warning, body: checkUnalignedWide},
	}
}

// The identifiers. ignoreMalformed and ignoreUnused are about suppressions
// themselves and cannot be suppressed.
const (
	assumeAddress       = "LINT/ASSUME-ADDRESS"
	bankConflict        = "LINT/BANK-CONFLICT"
	barrierDivergent    = "LINT/BARRIER-DIVERGENT"
	barrierSpace        = "LINT/BARRIER-SPACE"
	boundContradicted   = "LINT/BOUND-CONTRADICTED"
	boundRepeated       = "LINT/BOUND-REPEATED"
	configUnused        = "LINT/CONFIG-UNUSED"
	launchConfig        = "LINT/LAUNCH-CONFIG"
	maskedValue         = "LINT/MASKED-VALUE"
	nearDuplicate       = "LINT/NEAR-DUPLICATE"
	providerUnreachable = "LINT/PROVIDER-UNREACHABLE"
	unalignedWide       = "LINT/UNALIGNED-WIDE"
	ignoreMalformed     = "LINT/IGNORE-MALFORMED"
	ignoreUnused        = "LINT/IGNORE-UNUSED"
)

// report adds a finding of the rule called id, with the rule's severity and, when
// the finding brings none, the rule's fix.
func (c *collector) report(id string, d diag.Diagnostic) {
	r, _ := LookupRule(id)
	d.Code, d.Severity = id, r.Severity
	if d.Help == "" {
		d.Help = lowerFirst(strings.TrimSuffix(r.Fix(), "."))
	}
	c.found = append(c.found, d)
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// collector gathers the findings of one subject.
type collector struct{ found diag.List }
