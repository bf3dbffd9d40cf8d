package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
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
func (m *metadata) meta(a *attributes, s *Signals) {
	key := strings.ToLower(strings.TrimSpace(a.property))
	if key == "" {
		key = strings.ToLower(strings.TrimSpace(a.name))
	}
	content := TidySpace(a.content)
	if strings.EqualFold(a.equiv, "refresh") && strings.Contains(strings.ToLower(content), "url=") {
		s.Refresh = true
	}
	switch {
	case key == "" || content == "":
		return
	case key == "article:content_tier" && strings.EqualFold(content, "locked"):
		s.NotFree = true
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
			if v = TidySpace(v); v != "" {
				return CutBytes(v, maxKeptLen)
			}
		}
		return ""
	}
	heading := ""
	if titles := c.Titles(); len(titles) > 0 {
		heading = titles[0]
	}
	n := m.named
	c.Title = first(n["citation_title"], n["og:title"], m.headline, n["dc.title"], m.title, heading)
	c.Publisher = first(n["citation_journal_title"], n["citation_publisher"], n["og:site_name"], m.publisher, n["dc.publisher"], n["application-name"])
	c.Author = first(strings.Join(m.authors, "; "), m.author, notURL(n["author"]), notURL(n["article:author"]), n["dc.creator"])
	for _, date := range []string{n["citation_publication_date"], n["citation_date"], n["article:published_time"], m.published, n["dc.date"], n["dcterms.date"],
		n["dcterms.issued"], n["date"], n["pubdate"], m.timeElement} {
		if c.Published = Date(date); c.Published != "" {
			break
		}
	}
	c.DOI = first(n["citation_doi"], n["prism.doi"], n["bepress_citation_doi"], n["dc.identifier"])
	c.Canonical = first(m.canonical, n["og:url"])
	if c.Language == "" {
		c.Language = strings.ReplaceAll(n["og:locale"], "_", "-")
	}
	c.Language = CutBytes(c.Language, 35)
	c.Signals.Title = first(m.title)
	c.Signals.Description = first(n["description"], n["og:description"])
}

func notURL(s string) string {
	if strings.Contains(s, "://") {
		return ""
	}
	return s
}

var dateForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*([12]\d{3})(?:[-/.](0?[1-9]|1[0-2])(?:[-/.](0?[1-9]|[12]\d|3[01]))?)?(?:\D|$)`)
})

// Date is the date at the start of a text, as far as it goes: 2021-03-04,
// 2021-03 or 2021.
func Date(s string) string {
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

var notFreeForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)"isAccessibleForFree"\s*:\s*"?(false|true)`)
})

// linkedData takes a block of JSON-LD.
func (m *metadata) linkedData(text []byte, s *Signals) {
	doc, err := parseJSON(text)
	if err != nil {
		if found := notFreeForm().FindSubmatch(text); found != nil {
			s.says(string(found[1]))
		}
		return
	}
	m.node(doc, s, 0)
}

// node takes a node of JSON-LD and those in it that describe the page.
func (m *metadata) node(v any, s *Signals, depth int) {
	if depth > 8 {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, elem := range firstOf(v) {
			m.node(elem, s, depth+1)
		}
	case map[string]any:
		switch free := v["isAccessibleForFree"].(type) {
		case string:
			s.says(free)
		case bool:
			s.NotFree = s.NotFree || !free
			s.Free = s.Free || free
		}
		set := func(field *string, value string) {
			if *field == "" {
				*field = value
			}
		}
		headline, titled := v["headline"].(string)
		published, _ := v["datePublished"].(string)
		set(&m.headline, headline)
		set(&m.published, published)
		if titled {
			set(&m.publisher, nameOf(v["publisher"]))
			set(&m.author, nameOf(v["author"]))
		}
		m.node(v["@graph"], s, depth+1)
		m.node(v["mainEntity"], s, depth+1)
	}
}

// firstOf is as many elements of a list as are looked at.
func firstOf(list []any) []any { return list[:min(len(list), maxKept)] }

// nameOf is the name of a person or organisation, or of the first few.
func nameOf(v any) string {
	switch v := v.(type) {
	case string:
		return notURL(v)
	case map[string]any:
		name, _ := v["name"].(string)
		return name
	case []any:
		var names []string
		for _, elem := range firstOf(v) {
			if _, list := elem.([]any); list {
				continue
			}
			if name := nameOf(elem); name != "" {
				names = append(names, name)
			}
		}
		return strings.Join(names, "; ")
	}
	return ""
}

// deepestJSON is how deep lists and objects may lie inside each other.
const deepestJSON = 10_000

// parseJSON reads a JSON document strictly: what has bytes that are not UTF-8, a
// name twice in one object, or something after its end is no document. Readers of
// such a text would differ on what it says.
func parseJSON(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("bytes that are not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	v, err := jsonValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("text after the end of the document")
	}
	return v, nil
}

func jsonValue(dec *json.Decoder, depth int) (any, error) {
	token, err := dec.Token()
	delim, nested := token.(json.Delim)
	switch {
	case err != nil || !nested:
		return token, err
	case depth == deepestJSON:
		return nil, errors.New("too deep")
	case delim == '[':
		list := []any{}
		for dec.More() {
			v, err := jsonValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = dec.Token()
		return list, err
	}
	object := map[string]any{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		if _, twice := object[name]; twice {
			return nil, errors.New("a name twice")
		}
		if object[name], err = jsonValue(dec, depth+1); err != nil {
			return nil, err
		}
	}
	_, err = dec.Token()
	return object, err
}
