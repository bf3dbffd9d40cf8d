package citation

import (
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/pattern"
)

// metadata gathers what a page says about itself, each fact from several places.
type metadata struct {
	title       string // of the title element
	canonical   string
	timeElement string
	named       map[string]string // meta elements by name or property, in lower case
	authors     []string          // of citation_author

	headline, published, publisher, author string // of JSON-LD
}

// meta takes a meta element.
func (m *metadata) meta(a *attributes, s *signals) {
	key := strings.ToLower(strings.TrimSpace(a.property))
	if key == "" {
		key = strings.ToLower(strings.TrimSpace(a.name))
	}
	content := tidySpace(a.content)
	if strings.EqualFold(a.equiv, "refresh") && strings.Contains(strings.ToLower(content), "url=") {
		s.refresh = true
	}
	switch {
	case key == "" || content == "":
		return
	case key == "article:content_tier" && strings.EqualFold(content, "locked"):
		s.notFree = true
	case key == "citation_author" && len(m.authors) < maxKept:
		m.authors = append(m.authors, content)
	}
	if m.named == nil {
		m.named = map[string]string{}
	}
	if _, taken := m.named[key]; !taken && len(m.named) < 4*maxKept {
		m.named[key] = content
	}
}

// settle chooses among what was gathered. A journal's own fields go before those
// made for sharing, and those before the title element.
func (m *metadata) settle(c *Content) {
	first := func(values ...string) string {
		for _, v := range values {
			if v = tidySpace(v); v != "" {
				return cutBytes(v, maxKeptLen)
			}
		}
		return ""
	}
	heading := ""
	if len(c.headings) > 0 {
		heading = c.headings[0]
	}
	n := m.named
	c.Title = first(n["citation_title"], n["og:title"], m.headline, n["dc.title"], m.title, heading)
	c.Publisher = first(n["citation_journal_title"], n["citation_publisher"], n["og:site_name"], m.publisher, n["dc.publisher"], n["application-name"])
	c.Author = first(strings.Join(m.authors, "; "), m.author, notURL(n["author"]), notURL(n["article:author"]), n["dc.creator"])
	for _, date := range []string{n["citation_publication_date"], n["citation_date"], n["article:published_time"], m.published, n["dc.date"], n["dcterms.date"],
		n["dcterms.issued"], n["date"], n["pubdate"], m.timeElement} {
		if c.Published = dateOf(date); c.Published != "" {
			break
		}
	}
	c.Canonical = first(m.canonical, n["og:url"])
	if c.Language == "" {
		c.Language = strings.ReplaceAll(n["og:locale"], "_", "-")
	}
	c.Language = cutBytes(c.Language, 35)
	c.html.title = first(m.title)
	c.html.description = first(n["description"], n["og:description"])
}

func notURL(s string) string {
	if strings.Contains(s, "://") {
		return ""
	}
	return s
}

var dateForm = pattern.New(`^\s*([12]\d{3})(?:[-/.](0?[1-9]|1[0-2])(?:[-/.](0?[1-9]|[12]\d|3[01]))?)?(?:\D|$)`)

// dateOf is the date at the start of a text, as far as it goes: 2021-03-04,
// 2021-03 or 2021.
func dateOf(s string) string {
	found := dateForm().FindStringSubmatch(s)
	if found == nil {
		return ""
	}
	date := found[1]
	for _, part := range found[2:] {
		if part == "" {
			break
		}
		date += "-" + strings.Repeat("0", 2-len(part)) + part
	}
	return date
}

var notFreeForm = pattern.New(`(?i)"isAccessibleForFree"\s*:\s*"?(false|true)`)

// linkedData takes a block of JSON-LD.
func (m *metadata) linkedData(text []byte, s *signals) {
	doc, err := codec.Parse(text)
	if err != nil {
		if found := notFreeForm().FindSubmatch(text); found != nil {
			s.says(string(found[1]))
		}
		return
	}
	m.node(doc, s, 0)
}

// node takes a node of JSON-LD and those in it that describe the page.
func (m *metadata) node(v *codec.Value, s *signals, depth int) {
	if depth > 8 {
		return
	}
	switch v.Kind() {
	case codec.Array:
		for _, elem := range firstOf(v) {
			m.node(elem, s, depth+1)
		}
	case codec.Object:
		switch free := v.Get("isAccessibleForFree"); free.Kind() {
		case codec.String:
			s.says(free.Str())
		case codec.Bool:
			s.notFree = s.notFree || !free.Bool()
			s.free = s.free || free.Bool()
		}
		set := func(field *string, value string) {
			if *field == "" {
				*field = value
			}
		}
		set(&m.headline, v.Get("headline").Str())
		set(&m.published, v.Get("datePublished").Str())
		if v.Get("headline").Kind() == codec.String {
			set(&m.publisher, nameOf(v.Get("publisher")))
			set(&m.author, nameOf(v.Get("author")))
		}
		m.node(v.Get("@graph"), s, depth+1)
		m.node(v.Get("mainEntity"), s, depth+1)
	}
}

// firstOf is as many elements of a list as are looked at.
func firstOf(list *codec.Value) []*codec.Value {
	elems := list.Elems()
	return elems[:min(len(elems), maxKept)]
}

// nameOf is the name of a person or organisation, or of the first few.
func nameOf(v *codec.Value) string {
	switch v.Kind() {
	case codec.String:
		return notURL(v.Str())
	case codec.Object:
		return v.Get("name").Str()
	case codec.Array:
		var names []string
		for _, elem := range firstOf(v) {
			if name := nameOf(elem); name != "" && elem.Kind() != codec.Array {
				names = append(names, name)
			}
		}
		return strings.Join(names, "; ")
	}
	return ""
}
