// Package scholar knows the ids of papers and books, and what registries say of them:
// title, authors, date, journal, and whether a work was retracted. It opens no
// connection: [ID.Missing] says which address to ask, and [ID.Work] reads what the
// archive has of the answers.
package scholar

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/text/link"
)

// Kind is a kind of id.
type Kind string

// The kinds.
const (
	DOI    Kind = "doi"
	ArXiv  Kind = "arxiv"
	PubMed Kind = "pmid"
	ISBN   Kind = "isbn"
)

// ID names a work. The zero value names none.
type ID struct {
	Kind  Kind
	Value string // in lower case; an ISBN without hyphens
}

// String is the id with its kind, such as doi:10.1000/182, and "" for none.
func (id ID) String() string {
	if id.Kind == "" {
		return ""
	}
	return string(id.Kind) + ":" + id.Value
}

// Parse reads an id as [ID.String] writes it.
func Parse(text string) (ID, bool) {
	kind, value, found := strings.Cut(text, ":")
	return ID{Kind(kind), value}, found && registries[Kind(kind)] != nil
}

type patterns struct{ doi, arxivPath, arxivText, pubmedPath, pubmedText, isbnPath, isbnText, landing *regexp.Regexp }

var forms = sync.OnceValue(func() patterns {
	const arxiv = `(\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?`
	return patterns{
		doi:        regexp.MustCompile(`(?i)\b10\.\d{4,9}/[^\s"<>?&#|]+`),
		arxivPath:  regexp.MustCompile(`(?i)^/(?:abs|pdf|html)/` + arxiv + `(?:\.pdf)?$`),
		arxivText:  regexp.MustCompile(`(?i)\barxiv:\s?` + arxiv),
		pubmedPath: regexp.MustCompile(`(?i)^/(?:pubmed/|(?:article|abstract)/med/)?(\d{4,9})$`),
		pubmedText: regexp.MustCompile(`(?i)\bPMID:?\s?(\d{4,9})\b`),
		isbnPath:   regexp.MustCompile(`(?i)^/isbn/([0-9x-]{10,17})$`),
		isbnText:   regexp.MustCompile(`(?i)\bISBN(?:-1[03])?:?\s?([0-9][0-9x -]{8,16}[0-9x])\b`),
		landing:    regexp.MustCompile(`(?i)(?:/(?:full|abstract|pdf|epdf|epub|meta|fulltext|html|summary)|\.pdf|\.full|\.abstract|v\d+\.full(?:\.pdf)?)$`),
	}
})

// InURL is the id in an address, and false where it has none.
func InURL(address string) (ID, bool) {
	if !mayHaveID(address) {
		return ID{}, false
	}
	normalized, err := link.Normalize(address)
	if err != nil {
		return ID{}, false
	}
	u, err := url.Parse(normalized)
	if err != nil {
		return ID{}, false
	}
	f, host, path := forms(), strings.TrimPrefix(u.Hostname(), "www."), strings.TrimSuffix(u.Path, "/")
	switch host {
	case "doi.org", "dx.doi.org":
		return doiOf(strings.TrimPrefix(path, "/"), false)
	case "arxiv.org", "export.arxiv.org":
		return first(ArXiv, f.arxivPath, path)
	case "pubmed.ncbi.nlm.nih.gov", "ncbi.nlm.nih.gov", "europepmc.org":
		return first(PubMed, f.pubmedPath, path)
	case "openlibrary.org":
		return first(ISBN, f.isbnPath, path)
	}
	query, _ := url.QueryUnescape(u.RawQuery)
	return doiOf(path+" "+strings.ReplaceAll(query, "=", " "), true)
}

// mayHaveID is false for most addresses, which need not be normalised then. What an escape
// or a character beyond ASCII stands for shows only in the normal form.
func mayHaveID(address string) bool {
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == '%' || r >= 0x7f }) {
		return true
	}
	lower := strings.ToLower(address)
	return slices.ContainsFunc([]string{"10.", "arxiv.org", "ncbi.nlm.nih.gov", "europepmc.org", "openlibrary.org"},
		func(sign string) bool { return strings.Contains(lower, sign) })
}

// InText is the id that a text names, and false where it names none.
func InText(text string) (ID, bool) {
	f := forms()
	if id, ok := first(ArXiv, f.arxivText, text); ok {
		return id, true
	}
	if id, ok := doiOf(text, false); ok {
		return id, true
	}
	if id, ok := first(PubMed, f.pubmedText, text); ok {
		return id, true
	}
	return first(ISBN, f.isbnText, text)
}

// first is the id that a pattern finds in a text.
func first(kind Kind, pattern *regexp.Regexp, text string) (ID, bool) {
	found := pattern.FindStringSubmatch(text)
	if found == nil {
		return ID{}, false
	}
	value := strings.ToLower(found[1])
	if kind == ISBN {
		value = strings.NewReplacer("-", "", " ", "").Replace(value)
		if !isISBN(value) {
			return ID{}, false
		}
	}
	return ID{kind, value}, true
}

// doiOf is the DOI in a text. In the path of a publisher's page it may be followed by
// the name of a view. One that stands for an arXiv id is that.
func doiOf(text string, path bool) (ID, bool) {
	doi := strings.ToLower(forms().doi.FindString(text))
	for trimmed := ""; trimmed != doi; {
		trimmed = doi
		doi = strings.TrimRight(doi, ".,;:!'*_]}’”»")
		if strings.HasSuffix(doi, ")") && strings.Count(doi, ")") > strings.Count(doi, "(") {
			doi = doi[:len(doi)-1]
		}
	}
	if path {
		doi = forms().landing.ReplaceAllString(doi, "")
	}
	if id, ok := strings.CutPrefix(doi, "10.48550/arxiv."); ok {
		return first(ArXiv, forms().arxivText, "arxiv:"+id)
	}
	if _, suffix, _ := strings.Cut(doi, "/"); suffix == "" {
		return ID{}, false
	}
	return ID{DOI, doi}, true
}

// isISBN checks the last digit of an ISBN of ten or thirteen.
func isISBN(s string) bool {
	sum := 0
	for i, r := range s {
		digit := int(r - '0')
		if r == 'x' {
			digit = 10
		}
		switch {
		case digit > 9 && (i != 9 || len(s) != 10):
			return false
		case len(s) == 10:
			sum += (10 - i) * digit
		case i%2 == 1:
			sum += 3 * digit
		default:
			sum += digit
		}
	}
	return len(s) == 10 && sum%11 == 0 || len(s) == 13 && sum%10 == 0
}
