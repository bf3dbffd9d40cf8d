package link

import (
	"net/url"
	"slices"
	"strings"
)

// Keys are the keys of a URL as written in a text: one, or, where it has no
// scheme, one for https and one for http.
func Keys(url string) []string {
	switch {
	case strings.Contains(url, "://"):
		return []string{Key(url)}
	case !strings.HasPrefix(url, "//"):
		url = "//" + url
	}
	return []string{Key("https:" + url), Key("http:" + url)}
}

// Key is the same for URLs that name the same source: letter case of scheme and
// host, default ports, user names, fragments, one trailing slash, tracking
// parameters and the order and spelling of the query make no difference. Text that
// is not an http or https URL is its own key.
func Key(raw string) string {
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
