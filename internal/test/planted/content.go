package planted

import (
	"fmt"
	"html"
	"net/http"
	"strings"
)

// sourceIn is an article in one of the tongues, English included, with the title
// that an agent would give it.
func sourceIn(n int) (tongue, article) {
	if n%3 == 0 {
		a := articleOf(n / 3)
		return english, a
	}
	t := tongues[(n*2/3)%len(tongues)]
	return t, article{t.title, t.article}
}

// content plants pages whose text says that they are not what was asked for.
func (b *builder) content() {
	b.missing()
	b.forSale()
	b.logins()
	b.consents()
	b.bots()
	b.paywalls()
	b.empty()
}

// stand plants a page that takes the place of an article.
func (b *builder) stand(kind, variant string, n int, build func(s *site, t tongue) answer) {
	t, a := sourceIn(n)
	s := b.newSite("www.")
	b.plant(kind, variant, s.at("https", path(n, a.title), build(s, t)), a.title)
}

func (w wall) answer(s *site) answer {
	body := english.document(0, put(w.title, s.host), "", put(w.body, s.host))
	if w.title == "" {
		body = "<html><head></head><body>" + put(w.body, s.host) + "</body></html>"
	}
	then := page(w.status, body)
	if w.header[0] == "" {
		return then
	}
	return headed(map[string]string{w.header[0]: w.header[1]}, then)
}

func (b *builder) missing() {
	for i, w := range softNotFound {
		b.stand("soft_404", w.name, 3*i, func(s *site, _ tongue) answer { return w.answer(s) })
	}
	for i, t := range tongues {
		s := b.newSite("www.")
		b.plant("soft_404", t.name, s.at("https", path(i, t.title), page(http.StatusOK, t.html(i, t.notFound, t.notFoundText))), t.title)
	}
	// A redirect to a page with such a name is the same fault.
	for i, name := range []string{"/404", "/errors/not-found.html", "/pagenotfound?from=link"} {
		b.stand("soft_404", "redirect to "+name, 3*i, func(s *site, t tongue) answer {
			s.at("https", name, page(http.StatusOK, t.html(1, t.notFound, t.notFoundText)))
			return redirect(302, name)
		})
	}
}

func (b *builder) forSale() {
	for i, w := range parked {
		b.stand("parked", w.name, 3*i, func(s *site, _ tongue) answer {
			s.home = w.answer(s)
			return w.answer(s)
		})
	}
	for i := range 9 {
		t := tongues[i*3]
		s := b.newSite("")
		b.plant("parked", t.name, s.at("http", path(i, t.title), page(http.StatusOK, t.html(0, s.host, t.forSale))), t.title)
	}
}

// signInPage is a page for signing in.
func (t tongue) signInPage(form int) string {
	fields := `<form method="post" action="/session"><input type="email" name="user" autocomplete="username"><input type="password" name="password"><button>` + html.EscapeString(t.signIn) + `</button></form>`
	return t.document(form, t.signIn, "", "<h1>"+html.EscapeString(t.signIn)+"</h1>"+fields+"<p>"+html.EscapeString(t.signInText)+"</p>")
}

func (b *builder) logins() {
	for i := range 28 {
		t, a := sourceIn(i)
		s := b.newSite("www.")
		link := path(i, a.title)
		variant, answer := t.name+", in place", page(http.StatusOK, t.signInPage(i))
		switch i % 4 {
		case 1:
			variant = t.name + ", by redirect"
			s.at("https", "/login?next="+link, page(http.StatusOK, t.signInPage(i)))
			answer = redirect(302, "/login?next="+link)
		case 2:
			variant = t.name + ", on a host of its own"
			door := b.siteAt("accounts." + strings.TrimPrefix(s.host, "www."))
			answer = redirect(303, door.at("https", "/signin?continue=1", page(http.StatusOK, t.signInPage(i))))
		case 3:
			variant = t.name + ", at another company"
			door := b.siteAt("login.identitybroker.com")
			answer = redirect(302, door.at("https", fmt.Sprintf("/oauth2/authorize?client=%d", i), page(http.StatusOK, t.signInPage(i))))
		}
		b.plant("login", variant, s.at("https", link, answer), a.title)
	}
}

// consentPage is a page that only asks for consent.
func (t tongue) consentPage(form int) string {
	return t.document(form, t.consent, "", fmt.Sprintf("<div role=\"dialog\"><h1>%s</h1><p>%s</p><form method=\"post\"><button>%s</button><button>%s</button></form></div>",
		html.EscapeString(t.consent), html.EscapeString(t.consentText), html.EscapeString(t.accept), html.EscapeString(t.reject)))
}

func (b *builder) consents() {
	for i := range 28 {
		t, a := sourceIn(i + 1)
		s := b.newSite("www.")
		link := path(i, a.title)
		variant, answer := t.name+", in place", page(http.StatusOK, t.consentPage(i))
		switch i % 3 {
		case 1:
			variant = t.name + ", by redirect"
			s.at("https", "/gdpr/consent", page(http.StatusOK, t.consentPage(i)))
			answer = redirect(302, "/gdpr/consent")
		case 2:
			variant = t.name + ", on a host of its own"
			door := b.siteAt("consent." + strings.TrimPrefix(s.host, "www."))
			answer = redirect(302, door.at("https", "/v2/collectConsent?lang="+t.code, page(http.StatusOK, t.consentPage(i))))
		}
		b.plant("consent", variant, s.at("https", link, answer), a.title)
	}
}

func (b *builder) bots() {
	for i, w := range botWalls {
		b.stand("bot_wall", w.name, i, func(s *site, _ tongue) answer { return w.answer(s) })
	}
}

func (b *builder) paywalls() {
	marks := []struct{ name, head, class string }{
		{"structured data", `<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":"…","isAccessibleForFree":false,"hasPart":{"@type":"WebPageElement","isAccessibleForFree":false,"cssSelector":".paywall"}}</script>`, "paywall"},
		{"structured data as text", `<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":"False"}</script>`, "gate"},
		{"content tier", `<meta property="article:content_tier" content="locked">`, "premium"},
		{"only words", ``, "paywall-overlay"},
		{"microdata", `<meta itemprop="isAccessibleForFree" content="false">`, "subscriber-only"},
	}
	for i := range 28 {
		t, a := sourceIn(i + 2)
		mark := marks[i%len(marks)]
		teaser := filled(a.sentences, i)[:1+i%2]
		body := t.body(1, a.title, teaser) + fmt.Sprintf("<div class=\"%s\"><h2>%s</h2><p>%s</p></div>", mark.class, html.EscapeString(t.subscribe), html.EscapeString(t.subscribeFor))
		s := b.newSite("www.")
		b.plant("paywall", t.name+", "+mark.name, s.at("https", path(i, a.title), page(http.StatusOK, t.document(1, a.title, mark.head, body))), a.title)
	}
}

func (b *builder) empty() {
	for i, c := range []struct{ variant, body string }{
		{"nothing", ""},
		{"blanks", "\n \n\t\n"},
		{"an empty page", "<!DOCTYPE html><html><head><title></title></head><body></body></html>"},
		{"an app", `<!DOCTYPE html><html><head><title>App</title></head><body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script src="/static/js/main.js"></script></body></html>`},
		{"a frame", `<html><head><title>Viewer</title></head><body><iframe src="/inner" width="100%" height="100%"></iframe></body></html>`},
		{"a page that leads on", `<html><head><title>Redirecting</title><meta http-equiv="refresh" content="0; url=/archive/real"></head><body><p>Redirecting you to <a href="/archive/real">the page</a>.</p></body></html>`},
		{"only a script", `<html><body><script>location.href="/real?x="+Math.random()</script></body></html>`},
	} {
		b.stand("no_text", c.variant, 3*i, func(*site, tongue) answer { return page(http.StatusOK, c.body) })
	}
	b.stand("no_text", "status 204", 0, func(*site, tongue) answer {
		return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) }
	})
}
