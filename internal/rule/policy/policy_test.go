package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/policy"
)

func TestRefuses(t *testing.T) {
	found := func(url string) policy.Source { return policy.Source{URL: url} }
	read := func(url, final string) policy.Source { return policy.Source{URL: url, Final: final} }
	allow := policy.Policy{AllowDomains: []string{"example.org"}}
	deny := policy.Policy{DenyDomains: []string{"example.org"}}
	since := policy.Policy{Since: "2023-06-15"}
	dated := policy.Policy{Since: "2023-06-15", Dated: true}
	german := policy.Policy{Languages: []string{"de"}}
	papers := policy.Policy{Classes: []string{"scholarly"}}
	of := func(date string) policy.Source {
		return policy.Source{URL: "https://example.org/a", Final: "https://example.org/a", Date: date}
	}
	in := func(language string) policy.Source {
		return policy.Source{URL: "https://example.org/a", Final: "https://example.org/a", Language: language}
	}
	for name, test := range map[string]struct {
		policy policy.Policy
		source policy.Source
		want   string // in the reason; "" for what is allowed
	}{
		"nothing is asked":                     {policy.Policy{}, found("https://evil.example/"), ""},
		"the domain itself":                    {allow, found("https://example.org/a"), ""},
		"a domain below":                       {allow, found("https://www.Example.ORG:8443/a"), ""},
		"a name that ends alike":               {allow, found("https://notexample.org/"), "notexample.org is of no allowed domain"},
		"a name that begins alike":             {allow, found("https://example.org.evil.example/"), "no allowed domain"},
		"credentials that look like it":        {allow, found("https://example.org@evil.example/"), "evil.example is of no allowed domain"},
		"it leads elsewhere":                   {allow, read("https://example.org/a", "https://evil.example/"), "evil.example is of no allowed domain"},
		"elsewhere leads to it":                {allow, read("https://t.example/a", "https://example.org/a"), "t.example is of no allowed domain"},
		"a resolver that was not asked":        {allow, found("https://doi.org/10.1/x"), ""},
		"a resolver that leads to it":          {allow, read("https://doi.org/10.1/x", "https://example.org/x"), ""},
		"a resolver that leads elsewhere":      {allow, read("https://doi.org/10.1/x", "https://evil.example/x"), "evil.example"},
		"denied":                               {deny, found("https://a.example.org/"), "a.example.org is of a denied domain"},
		"it leads to what is denied":           {deny, read("https://a.example/", "https://example.org/"), "example.org is of a denied domain"},
		"it comes from what is denied":         {deny, read("https://example.org/", "https://a.example/"), "denied"},
		"not denied":                           {deny, found("https://org/"), ""},
		"of that day":                          {since, of("2023-06-15T08:00:00Z"), ""},
		"a day before":                         {since, of("2023-06-14"), "it is of 2023-06-14, which is before 2023-06-15"},
		"of that month":                        {since, of("2023-06"), ""},
		"a month before":                       {since, of("2023-05"), "before"},
		"of that year":                         {since, of("2023"), ""},
		"a year before":                        {since, of("2022"), "before"},
		"undated":                              {since, of(""), ""},
		"a date that is none":                  {since, of("yesterday"), ""},
		"undated, where dates are asked for":   {dated, of(""), "no date"},
		"undated, and not read yet":            {dated, found("https://example.org/a"), ""},
		"a result with its date":               {dated, policy.Source{URL: "https://example.org/a", Date: "2019-01-01"}, "before"},
		"in that language":                     {german, in("de"), ""},
		"in another language":                  {german, in("en"), "language en"},
		"in a language that does not show":     {german, in(""), ""},
		"a journal":                            {papers, found("https://www.nature.com/articles/x"), ""},
		"a forum":                              {papers, found("https://old.reddit.com/r/x"), "old.reddit.com is of the class forum"},
		"nobody knows it":                      {papers, found("https://example.org/"), "class other"},
		"a DOI at a journal that nobody knows": {papers, read("https://doi.org/10.1/x", "https://journal.example/x"), ""},
		"a DOI at a company":                   {papers, read("https://doi.org/10.1/x", "https://www.prnewswire.com/x"), "class company"},
	} {
		t.Run(name, func(t *testing.T) {
			reason, refused := test.policy.Refuses(test.source)
			if refused != (test.want != "") || !strings.Contains(reason, test.want) {
				t.Errorf("refused %v: %q, want %q", refused, reason, test.want)
			}
		})
	}
}

func TestClass(t *testing.T) {
	for host, want := range map[string]string{
		"www.sec.gov": "primary", "www.epa.gov": "official", "pubmed.ncbi.nlm.nih.gov": "scholarly", "www.gov.uk": "official", "legislation.gov.uk": "primary",
		"cs.ox.ac.uk": "scholarly", "mit.edu": "scholarly", "plato.stanford.edu": "reference", "anu.edu.au": "scholarly", "medlineplus.gov": "reference",
		"de.wikipedia.org": "reference", "arxiv.org": "scholarly", "github.com": "primary", "investor.harbour.example": "company", "forum.harbour.example": "forum",
		"ec.europa.eu": "official", "harbour.example": "other", "notreddit.com": "other", "": "other", "gov": "official", "xx": "other", "go.com": "other", "a.go.com": "other", "meti.go.jp": "official",
	} {
		if got := policy.Class(host); got != want {
			t.Errorf("%q is %s, want %s", host, got, want)
		}
	}
}

// TestTheTable: every class has its row, in the order in which the classes are named,
// and no domain stands in two.
func TestTheTable(t *testing.T) {
	var names []string
	seen := map[string]string{}
	for _, row := range policy.Classes() {
		names = append(names, row.Name)
		if row.About == "" || len(row.Domains) == 0 && row.Name != policy.Other {
			t.Errorf("%s says nothing", row.Name)
		}
		for _, domain := range row.Domains {
			if other := seen[domain]; other != "" {
				t.Errorf("%s is in %s and in %s", domain, other, row.Name)
			}
			seen[domain] = row.Name
			if strings.Trim(domain, "abcdefghijklmnopqrstuvwxyz0123456789-.?*") != "" {
				t.Errorf("%q is not a domain", domain)
			}
		}
	}
	if !slices.Equal(names, policy.ClassNames) {
		t.Errorf("the table has %v", names)
	}
}

func TestChecked(t *testing.T) {
	got, err := policy.Policy{AllowDomains: []string{"Example.ORG", "bücher.example"}, Since: "2023-01-01", Languages: []string{"de"}, Classes: []string{"news"}}.Checked()
	if err != nil || !slices.Equal(got.AllowDomains, []string{"example.org", "xn--bcher-kva.example"}) {
		t.Errorf("%v, %v", got.AllowDomains, err)
	}
	if kept := policy.Read(codec.Of(got)); codec.Digest(kept) != codec.Digest(got) {
		t.Errorf("it is read as %+v", kept)
	}
	for name, wrong := range map[string]policy.Policy{
		"a URL": {AllowDomains: []string{"https://example.org/"}}, "a path": {DenyDomains: []string{"example.org/a"}}, "nothing": {DenyDomains: []string{""}},
		"a star": {AllowDomains: []string{"*.example.org"}}, "credentials": {AllowDomains: []string{"a@example.org"}}, "a year": {Since: "2023"}, "no such day": {Since: "2023-02-30"},
		"a language by its name": {Languages: []string{"german"}}, "a class that is none": {Classes: []string{"blog"}}, "a line": {DenyDomains: []string{"a\nb"}},
	} {
		if _, err := wrong.Checked(); tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("%s: %v", name, err)
		}
		if !policy.Read(codec.Of(wrong)).IsZero() {
			t.Errorf("%s is kept", name)
		}
	}
}
