package summary

import (
	"net/url"
	"slices"
	"strings"
)

// urlIndex maps URLs to the citations that stand for them.
type urlIndex struct {
	refs   map[string]urlRef
	wanted *urlFilter // what may be looked for; nil for everything
}

// urlRef is the citation of a URL. A lower rank says it with more authority:
// normalized_url is one citation's own, url and url_original may have lost what
// told two of them apart.
type urlRef struct {
	ref   idRef // 0 when two citations claim the URL: then neither is known to be meant
	rank  byte
	taken bool
}

func (x *urlIndex) add(raw []byte, ref idRef, rank byte) {
	key := urlKey(string(raw))
	if x.wanted != nil && !x.wanted.has(key) {
		return
	}
	was := x.refs[key]
	switch {
	case !was.taken || rank < was.rank:
		x.refs[key] = urlRef{ref, rank, true}
	case rank == was.rank && ref != was.ref:
		x.refs[key] = urlRef{0, rank, true}
	}
}

// find is the citation that stands for a URL as it is written in a text, 0 when
// there is none. A URL without a scheme is looked for with both.
func (x *urlIndex) find(raw []byte) idRef {
	keys := lookupKeys(string(raw))
	if len(keys) == 1 {
		return x.refs[keys[0]].ref
	}
	secure, plain := x.refs[keys[0]], x.refs[keys[1]]
	switch {
	case !plain.taken || secure == plain:
		return secure.ref
	case !secure.taken:
		return plain.ref
	}
	return 0
}

// lookupKeys are the keys under which a URL, as it is written in a text, may be
// found: one, or without a scheme that for https and that for http.
func lookupKeys(text string) []string {
	if strings.Contains(text, "://") {
		return []string{urlKey(text)}
	}
	return []string{urlKey("https://" + text), urlKey("http://" + text)}
}

// urlKey is the same for URLs that name the same source: letter case of scheme
// and host, default ports, user names, fragments, one trailing slash, tracking
// parameters and the order and spelling of the query make no difference. What is
// no http or https URL is its own key.
func urlKey(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return raw
	}
	host := strings.ToLower(u.Host)
	if u.Scheme == "http" {
		host = strings.TrimSuffix(host, ":80")
	} else {
		host = strings.TrimSuffix(host, ":443")
	}
	path := upperEscapes(u.EscapedPath())
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	if path == "" {
		path = "/"
	}
	key := u.Scheme + "://" + host + path
	if query := queryKey(u.RawQuery); query != "" {
		key += "?" + query
	}
	return key
}

func queryKey(raw string) string {
	var pairs []string
	for pair := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, value = unescaped(name), unescaped(value)
		lower := strings.ToLower(name)
		if pair == "" || strings.HasPrefix(lower, "utm_") || lower == "gclid" || lower == "fbclid" {
			continue
		}
		pairs = append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(value))
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

func unescaped(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// upperEscapes writes the digits of percent escapes in upper case.
func upperEscapes(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	out := []byte(path)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:i+3], strings.ToUpper(string(out[i+1:i+3])))
		}
	}
	return string(out)
}
