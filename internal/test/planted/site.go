package planted

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
)

// site is one host.
type site struct {
	host    string
	addrs   []netip.Addr // what its name resolves to; none: the name does not exist
	connect string       // "": it answers; refused, silent
	tls     string       // "": as it should be; see handshake
	answers map[string]answer
	home    answer
}

// answer is what a page does when it is asked for.
type answer func(w http.ResponseWriter, r *http.Request)

// builder makes the pages and their sites.
type builder struct {
	pages  []Page
	claims []Claim
	sites  map[string]*site
	count  int // how many addresses were given out
}

// built are the pages and sites of every web.
var built = sync.OnceValue(build)

func build() *builder {
	b := &builder{sites: map[string]*site{}}
	b.addresses()
	b.connections()
	b.answersBroken()
	b.statuses()
	b.content()
	b.elsewhere()
	b.honest()
	b.unseen()
	b.figures()
	return b
}

// plant adds a page.
func (b *builder) plant(kind, variant, url, title string) *Page {
	must, ok := kinds[kind]
	if !ok {
		panic("planted: no verdict for " + kind)
	}
	b.pages = append(b.pages, Page{URL: url, Title: title, Kind: kind, Variant: variant, Verdict: must.verdict, Rule: must.rule})
	return &b.pages[len(b.pages)-1]
}

var (
	firstWords = []string{"north", "harbour", "silver", "green", "river", "old", "bright", "stone", "west", "open", "little", "amber", "cedar", "highland", "falcon", "maple"}
	lastWords  = []string{"gazette", "review", "institute", "press", "chronicle", "museum", "science", "journal", "society", "library", "observer", "archive", "letters", "field", "works"}
	topDomains = []string{"com", "org", "net", "co.uk", "de", "fr", "info", "edu", "com.br", "eu", "nl", "ch", "io"}
)

// newSite is a site under a unique name that begins with prefix.
func (b *builder) newSite(prefix string) *site {
	n := len(b.sites)
	host := fmt.Sprintf("%s%s%s.%s", prefix, firstWords[n%len(firstWords)], lastWords[n/len(firstWords)%len(lastWords)], topDomains[n%len(topDomains)])
	if round := n / (len(firstWords) * len(lastWords)); round > 0 {
		host = fmt.Sprintf("%s%s%d%s.%s", prefix, firstWords[n%len(firstWords)], round+1, lastWords[n/len(firstWords)%len(lastWords)], topDomains[n%len(topDomains)])
	}
	return b.siteAt(host)
}

// siteAt is a site under a given name.
func (b *builder) siteAt(host string) *site {
	if b.sites[host] != nil {
		return b.sites[host]
	}
	b.count++
	s := &site{host: host, addrs: []netip.Addr{netip.AddrFrom4([4]byte{20, 64, byte(b.count >> 8), byte(b.count)})}, answers: map[string]answer{}}
	s.home = s.homePage
	b.sites[host] = s
	return s
}

// at makes a site answer for a path, and returns the URL.
func (s *site) at(scheme, path string, answer answer) string {
	s.answers[path] = answer
	return scheme + "://" + s.host + path
}

// serve answers a request.
func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	switch answer := s.answers[r.URL.RequestURI()]; {
	case answer != nil:
		answer(w, r)
	case r.URL.Path == "/":
		s.home(w, r)
	default:
		page(http.StatusNotFound, english.html(1, english.notFound, english.notFoundText))(w, r)
	}
}

// homePage is a welcome with the titles of some articles.
func (s *site) homePage(w http.ResponseWriter, r *http.Request) {
	var list []string
	for _, a := range englishArticles {
		list = append(list, a.title+".")
	}
	page(http.StatusOK, english.html(1, "Welcome to "+s.host, list...))(w, r)
}

// page answers with a status and a page.
func page(status int, html string) answer {
	return typed(status, "text/html; charset=utf-8", html)
}

func typed(status int, contentType, body string) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// redirect sends the client elsewhere.
func redirect(status int, location string) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(status)
	}
}

// raw answers with these bytes on the connection, and closes it.
func raw(text string) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer conn.Close()
		fmt.Fprint(conn, text)
	}
}

// path is the path of a page with a title, in one of several usual forms.
func path(n int, title string) string {
	slug := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r == ' ':
			return '-'
		}
		return -1
	}, title), "-")
	if len(slug) < 8 {
		slug = fmt.Sprintf("item-%d", 1000+n)
	}
	switch n % 6 {
	case 0:
		return fmt.Sprintf("/20%02d/%02d/%s", 10+n%15, 1+n%12, slug)
	case 1:
		return "/articles/" + slug + ".html"
	case 2:
		return fmt.Sprintf("/news/%d-%s", 20000+n, slug)
	case 3:
		return "/blog/" + slug + "/"
	case 4:
		return fmt.Sprintf("/content/view?id=%d&lang=xx", 4000+n)
	}
	return "/wiki/" + strings.ReplaceAll(slug, "-", "_")
}
