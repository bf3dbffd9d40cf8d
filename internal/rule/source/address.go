package source

import (
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/link"
)

// address is a URL taken apart for comparison.
type address struct {
	normalized string
	host       string // in lower case, without port
	site       string // the registrable domain, or the host itself
	path       string
	query      string
}

// address reads a URL, which may be relative to the page that was read. Text that
// is not a URL has no host.
func (s *subject) address(raw string) address {
	normalized, err := link.Resolve(s.page.final(), raw)
	if err != nil {
		return address{}
	}
	return splitAddress(normalized)
}

// splitAddress takes a normalised URL apart.
func splitAddress(normalized string) address {
	a := address{normalized: normalized}
	_, rest, _ := strings.Cut(normalized, "://")
	rest, a.query, _ = strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	a.path = "/" + path
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	a.host = strings.TrimSuffix(host, ".")
	a.site = siteOf(a.host)
	return a
}

// siteOf is the part of a host's name that belongs to one owner: example.co.uk of
// www.example.co.uk, and all of user.github.io. It knows only the forms that most
// countries use and the hosts that many sites share, so that a judgement does not
// change with a list that others maintain.
func siteOf(host string) string {
	labels := strings.Split(host, ".")
	n := len(labels)
	if n < 3 || strings.HasPrefix(host, "[") || isDigits(labels[n-1]) {
		return host
	}
	suffix := labels[n-2] + "." + labels[n-1]
	if len(labels[n-1]) == 2 && isSecondLevel(labels[n-2]) || slices.Contains(sharedHosts(), suffix) {
		return labels[n-3] + "." + suffix
	}
	return suffix
}

// isSecondLevel holds for the names under which countries register others.
func isSecondLevel(label string) bool {
	switch label {
	case "co", "com", "org", "net", "edu", "gov", "ac", "or", "ne", "go", "gob", "gouv", "govt", "gv", "mil", "nom", "ltd", "plc", "sch", "nhs", "id", "web", "info", "biz", "lg", "gr", "ed", "ad", "asso", "res", "nic", "firm", "gen", "ind":
		return true
	}
	return false
}

// segments are the parts of the path, in lower case.
func (a address) segments() []string {
	return strings.FieldsFunc(strings.ToLower(a.path), func(r rune) bool { return r == '/' })
}

// last is the last part of the path, in lower case.
func (a address) last() string {
	parts := a.segments()
	if len(parts) == 0 {
		return ""
	}
	return parts[len(parts)-1]
}

// slug is the last part of the path as words.
func (a address) slug() string {
	name, _, _ := strings.Cut(a.last(), ".")
	return strings.NewReplacer("-", " ", "_", " ").Replace(name)
}

// label is the part of the site's name before its public suffix: bbc of
// bbc.co.uk.
func (a address) label() string {
	label, _, _ := strings.Cut(a.site, ".")
	return label
}

// home reports whether a URL is that of a home page, in whatever language.
func (a address) home() bool {
	parts := a.segments()
	if len(parts) > 0 && isLanguage(parts[0]) {
		parts = parts[1:]
	}
	if len(parts) == 0 {
		return true
	}
	name, _, _ := strings.Cut(parts[0], ".")
	switch name {
	case "index", "home", "homepage", "default", "start", "startseite", "accueil", "inicio", "main", "welcome", "front":
		return len(parts) == 1
	}
	return false
}

// deep reports whether a URL names one page of a site.
func (a address) deep() bool {
	if !a.home() {
		return true
	}
	for pair := range strings.SplitSeq(a.query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		switch strings.ToLower(name) {
		case "p", "id", "page_id", "article", "articleid", "story", "doc", "aid", "nid", "itemid":
			if value != "" {
				return true
			}
		}
	}
	return false
}

// isLanguage holds for en, pt-br and the like.
func isLanguage(part string) bool {
	const codes = " ar bg bn ca cs cy da de el en es et eu fa fi fr ga gl gr gu he hi hr hu hy id is it ja jp ka kk ko kr lt lv mk mr ms mt nb nl nn no" +
		" pl pt ro ru sk sl sq sr sv sw ta te th tr uk ur us uz vi zh "
	language, region, found := strings.Cut(strings.ReplaceAll(part, "_", "-"), "-")
	return len(language) == 2 && strings.Contains(codes, " "+language+" ") && (!found || len(region) == 2 || len(region) == 4)
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
