package planted

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// honest plants pages without a fault, many of which look as if they had one.
func (b *builder) honest() {
	b.plainPages()
	b.encoded()
	b.suspicious()
	b.moved()
	b.formats()
	b.slow()
}

// article plants an honest article under a new name.
func (b *builder) article(variant string, n int, a article, answer func(s *site, sentences []string) answer) *Page {
	s := b.newSite("")
	sentences := filled(a.sentences, n)
	p := b.plant(Honest, variant, s.at("https", path(n, a.title), answer(s, sentences)), a.title)
	p.Sentences = sentences
	return p
}

// asHTML answers with an article in one of the usual forms.
func asHTML(form int, t tongue, title string) func(*site, []string) answer {
	return func(_ *site, sentences []string) answer {
		return page(http.StatusOK, t.html(form, title, paragraphs(sentences)...))
	}
}

func (b *builder) plainPages() {
	for i, t := range tongues {
		b.article(t.name, i, article{t.title, t.article}, asHTML(i, t, t.title))
	}
	for i, a := range englishArticles {
		b.article(fmt.Sprintf("English, form %d", i%5), i, a, asHTML(i, english, a.title))
	}
	// Agents often give a title in English, whatever the language of the page.
	for i, c := range []struct{ code, title string }{
		{"ja", "How Wajima lacquerware is made"}, {"zh", "The craft of Yixing teapots"}, {"ko", "The paper makers of Andong"}, {"ar", "Wooden ship building in Sur, Oman"},
		{"ru", "Fireweed tea in the villages of Vologda"}, {"el", "Mastic of Chios and its growers"}, {"he", "Ancient terraces in the Jerusalem hills"}, {"th", "Silk weaving at Ban Sawai"}, {"hi", "The weavers of Banaras"}, {"fa", "The qanats of Yazd"},
	} {
		t := tongueOf(c.code)
		b.article("English title, "+t.name+" page", 40+i, article{t.title, t.article}, asHTML(i, t, t.title)).Title = c.title
	}
	for i, a := range englishArticles[:3] {
		b.article("no title", 60+i, a, func(_ *site, sentences []string) answer {
			return page(http.StatusOK, "<!DOCTYPE html><p>"+strings.Join(sentences, "</p>\n<p>"))
		})
	}
	b.article("no title given", 64, englishArticles[4], asHTML(0, english, englishArticles[4].title)).Title = ""
	b.article("the site's name as the title", 65, englishArticles[5], asHTML(1, english, "North Gazette"))
	b.article("one sentence", 66, article{englishArticles[6].title, englishArticles[6].sentences[:1]}, asHTML(0, english, englishArticles[6].title))
	b.article("short answer", 67, article{"Is the harbour gauge online today", []string{"Yes, the gauge is online."}}, asHTML(0, english, "Harbour gauge status"))
	b.article("many paragraphs", 68, englishArticles[0], func(_ *site, sentences []string) answer {
		all := paragraphs(sentences)
		for i := range 8000 {
			all = append(all, fmt.Sprintf("Reading %d: the gauge showed %d millimetres, %d more than the hour before.", i, 1000+i*7%800, i%19))
		}
		return page(http.StatusOK, english.html(1, englishArticles[0].title, all...))
	})
	home := b.newSite("")
	b.plant(Honest, "a home page that was cited as one", "https://"+home.host+"/", "Welcome to "+home.host).Sentences = []string{englishArticles[2].title + "."}
	b.plant(Honest, "a home page without a slash", "https://"+home.host, "Welcome to "+home.host)
}

func (b *builder) encoded() {
	for i, c := range []struct {
		code, charset string
		encoding      encoding.Encoding
	}{
		{"de", "iso-8859-1", charmap.ISO8859_1}, {"fr", "windows-1252", charmap.Windows1252}, {"pl", "iso-8859-2", charmap.ISO8859_2}, {"cs", "windows-1250", charmap.Windows1250},
		{"ru", "koi8-r", charmap.KOI8R}, {"ru", "windows-1251", charmap.Windows1251}, {"el", "iso-8859-7", charmap.ISO8859_7}, {"tr", "windows-1254", charmap.Windows1254},
		{"he", "windows-1255", charmap.Windows1255}, {"ar", "windows-1256", charmap.Windows1256}, {"th", "windows-874", charmap.Windows874},
		{"ja", "shift_jis", japanese.ShiftJIS}, {"ja", "euc-jp", japanese.EUCJP}, {"zh", "gb18030", simplifiedchinese.GB18030}, {"zh", "gbk", simplifiedchinese.GBK}, {"ko", "euc-kr", korean.EUCKR},
		{"zh", "big5", traditionalchinese.Big5}, {"fr", "utf-16le", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)}, {"ja", "utf-16be", unicode.UTF16(unicode.BigEndian, unicode.UseBOM)},
	} {
		t := tongueOf(c.code)
		if c.charset == "big5" {
			t.title, t.article = "台灣高山茶的製作", []string{"台灣高山茶種在海拔較高的山坡上，早晚雲霧籠罩。", "茶農在春天採摘嫩葉，日曬之後再放入室內靜置。", "揉捻時用布巾包成球狀，反覆多次才能成形。", "烘焙的火候決定香氣，師傅整夜守在炭火旁邊。"}
		}
		where := []string{"header", "meta", "http-equiv"}[i%3]
		if strings.HasPrefix(c.charset, "utf-16") {
			where = "byte-order mark"
		}
		b.article(c.charset+" by "+where, 80+i, article{t.title, t.article}, func(_ *site, sentences []string) answer {
			contentType, head := "text/html", ""
			switch where {
			case "header":
				contentType += "; charset=" + c.charset
			case "meta":
				head = `<meta charset="` + c.charset + `">`
			case "http-equiv":
				head = `<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=` + c.charset + `">`
			}
			text := fmt.Sprintf("<html lang=\"%s\"><head>%s<title>%s</title></head><body>%s</body></html>", t.code, head, html.EscapeString(t.title), t.body(0, t.title, paragraphs(sentences)))
			coded, err := encoding.ReplaceUnsupported(c.encoding.NewEncoder()).String(text)
			if err != nil {
				panic(err)
			}
			return typed(http.StatusOK, contentType, coded)
		})
	}
	t := tongueOf("fr")
	b.article("a header that names another charset than the page has", 100, article{t.title, t.article}, func(_ *site, sentences []string) answer {
		text, err := charmap.Windows1252.NewEncoder().String(strings.ReplaceAll(t.html(2, t.title, paragraphs(sentences)...), "charset=\"utf-8\"", ""))
		if err != nil {
			panic(err)
		}
		return typed(http.StatusOK, "text/html; charset=utf-8", text)
	}).Sentences = nil
	b.article("UTF-8 with a byte-order mark", 101, englishArticles[1], func(_ *site, sentences []string) answer {
		return typed(http.StatusOK, "text/html", "\ufeff"+english.html(0, englishArticles[1].title, paragraphs(sentences)...))
	})
}

// suspicious plants pages that are about the faults, or whose banner, menu or notice
// looks like that of a wall.
func (b *builder) suspicious() {
	long := slices.Concat(englishArticles[1].sentences, englishArticles[2].sentences, englishArticles[3].sentences, englishArticles[4].sentences, englishArticles[7].sentences, englishArticles[8].sentences)
	about := []article{
		{"Why web servers answer 404 and what page not found means", []string{
			"The status 404 says that a server knows no page of that name.",
			"Many sites show the words page not found with a joke, and some send the status 200 with it, which search engines call a soft 404.",
			"A good error page names the site, offers a search, and does not pretend that all is well.",
			"In a study of %d sites, one in six answered with the wrong status.",
			"Links rot because articles are moved without a redirect, not because they are deleted.",
			"Administrators should read the log once a week and restore what people still ask for.",
		}},
		{"How captchas learned to tell robots from people", []string{
			"A captcha asks visitors to verify that they are human before they may go on.",
			"The first ones showed distorted letters; later ones asked for traffic lights.",
			"Programs solve them faster than people since about %d.",
			"Services such as Cloudflare now look at the browser instead and show just a moment of waiting.",
			"Blind users were locked out for years and sued several companies.",
			"Researchers expect the puzzles to disappear and proofs of work to take their place.",
		}},
		{"The economics of newspaper paywalls", []string{
			"A newspaper that asks readers to subscribe to continue reading loses visitors and gains income.",
			"The first metered paywall was raised in %d and allowed twenty articles a month.",
			"Most readers never meet the limit, which is why publishers call it porous.",
			"Already a subscriber is the phrase that readers see most often, according to one survey.",
			"Local papers found that a hard wall ends the conversation in a town.",
			"Bundles of several titles keep subscribers for longer than discounts do.",
		}},
		{"A short history of the cookie banner", []string{
			"We value your privacy is a sentence that nobody reads to its end.",
			"The banner came with a directive on electronic privacy and grew with the regulation of %d.",
			"Companies learned that accept all must be large and reject all hard to find.",
			"Regulators fined several of them, and the two buttons became equal.",
			"A browser signal that says no once and for all has been proposed many times.",
			"Until it is binding, people click it away about %d times a year.",
		}},
		{"Buying a domain name that is for sale", []string{
			"A parked domain earns a little money with advertisements while its owner waits for a buyer.",
			"This domain is for sale, says the page, and names a price that is meant to be negotiated.",
			"Brokers take a commission of about a tenth.",
			"In %d a single word was sold for thirty million.",
			"Check the history of a name before you buy it, because search engines remember what it was used for.",
			"Transfers take five days, and the money lies with a third party until then.",
		}},
		{"How to sign in safely", []string{
			"A password manager types your password only where it belongs, which is the best reason to use one.",
			"Phishing pages copy the sign in form of a bank down to the last pixel.",
			"Two factors stop most attacks, and a hardware key stops nearly all of them.",
			"In a company of %d people, six typed their password into a planted page.",
			"Forgot your password is where attackers begin, so protect the mailbox first.",
			"Passkeys replace the password by a key that never leaves the device.",
		}},
	}
	for i, a := range about {
		b.article("about a fault", 110+i, a, asHTML(i, english, a.title))
	}
	for i, code := range []string{"de", "fr", "es", "ja", "ru", "pl"} {
		t := tongueOf(code)
		b.article(t.name+" with a cookie banner", 120+i, article{t.title, t.article}, func(_ *site, sentences []string) answer {
			banner := fmt.Sprintf("<div id=\"cookie\"><p>%s</p><button>%s</button><button>%s</button></div>", html.EscapeString(t.consentText), html.EscapeString(t.accept), html.EscapeString(t.reject))
			return page(http.StatusOK, t.document(1, t.title, "", t.body(1, t.title, paragraphs(sentences))+banner))
		})
	}
	for i, code := range []string{"nl", "it", "ko", "tr"} {
		t := tongueOf(code)
		b.article(t.name+" with a sign-in form in the header", 130+i, article{t.title, t.article}, func(_ *site, sentences []string) answer {
			form := fmt.Sprintf("<header><form action=\"/login\"><input type=\"email\"><input type=\"password\"><button>%s</button></form></header>", html.EscapeString(t.signIn))
			return page(http.StatusOK, t.document(1, t.title, "", form+t.body(4, t.title, paragraphs(sentences))))
		})
	}
	b.article("marked as free", 140, englishArticles[7], func(_ *site, sentences []string) answer {
		return page(http.StatusOK, english.document(1, englishArticles[7].title, `<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":true}</script>`, english.body(1, englishArticles[7].title, paragraphs(sentences))))
	})
	b.article("marked as paid, and all of it there", 141, article{englishArticles[1].title, long}, func(_ *site, sentences []string) answer {
		return page(http.StatusOK, english.document(1, englishArticles[1].title, `<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":false}</script>`, english.body(1, englishArticles[1].title, paragraphs(sentences))))
	})
	b.article("a newsletter box", 142, englishArticles[8], func(_ *site, sentences []string) answer {
		box := "<aside><h3>Subscribe to our newsletter</h3><p>One mail a week, no advertising.</p><form><input type=\"email\"><button>Subscribe</button></form></aside>"
		return page(http.StatusOK, english.document(4, englishArticles[8].title, "", english.body(4, englishArticles[8].title, paragraphs(sentences))+box))
	})
	b.article("a script that speaks of a captcha", 143, englishArticles[9], func(_ *site, sentences []string) answer {
		return page(http.StatusOK, english.document(3, englishArticles[9].title, `<script>var messages={"error":"Please verify you are human","denied":"Access Denied","login":"Please sign in to continue"};</script>`, english.body(3, englishArticles[9].title, paragraphs(sentences))))
	})
	b.article("a noscript notice", 144, englishArticles[5], func(_ *site, sentences []string) answer {
		return page(http.StatusOK, english.document(1, englishArticles[5].title, "", "<noscript>Please enable JavaScript to see the comments.</noscript>"+english.body(1, englishArticles[5].title, paragraphs(sentences))))
	})
}

// moved plants pages that are reached through others.
func (b *builder) moved() {
	n := 150
	found := func(variant string, t tongue, a article, link func(s *site, answer answer) string) {
		s := b.newSite("www.")
		sentences := filled(a.sentences, n)
		p := b.plant(Honest, variant, link(s, page(http.StatusOK, t.html(n, a.title, paragraphs(sentences)...))), a.title)
		p.Sentences = sentences
		n++
	}
	found("from http to https", english, englishArticles[0], func(s *site, then answer) string {
		const path = "/2019/05/stilling-well"
		s.at("https", path, func(w http.ResponseWriter, r *http.Request) {
			if r.TLS == nil {
				redirect(301, "https://"+s.host+path)(w, r)
				return
			}
			then(w, r)
		})
		return "http://" + s.host + path
	})
	found("from the bare name to www", english, englishArticles[1], func(s *site, then answer) string {
		bare := b.siteAt(strings.TrimPrefix(s.host, "www."))
		return bare.at("https", "/bread/sourdough", redirect(301, s.at("https", "/bread/sourdough", then)))
	})
	found("from a phone's page", english, englishArticles[2], func(s *site, then answer) string {
		phone := b.siteAt("m." + strings.TrimPrefix(s.host, "www."))
		return phone.at("https", "/story/12", redirect(302, s.at("https", "/story/12", then)))
	})
	found("from a host that was merged", english, englishArticles[3], func(s *site, then answer) string {
		blog := b.siteAt("blog." + strings.TrimPrefix(s.host, "www."))
		return blog.at("https", "/bees-on-roofs", redirect(301, s.at("https", "/blog/bees-on-roofs", then)))
	})
	found("with a slash at the end", english, englishArticles[4], func(s *site, then answer) string {
		return s.at("https", "/clock", redirect(301, s.at("https", "/clock/", then)))
	})
	found("to a new path", english, englishArticles[5], func(s *site, then answer) string {
		return s.at("https", "/article.php?id=77", redirect(301, s.at("https", "/nature/owl-pellets", then)))
	})
	found("into a language", english, englishArticles[6], func(s *site, then answer) string {
		return s.at("https", "/printing/wooden-type", redirect(302, s.at("https", "/en/printing/wooden-type", then)))
	})
	found("by five redirects", english, englishArticles[7], func(s *site, then answer) string {
		next := s.at("https", "/end/potatoes", then)
		for i := range 5 {
			next = s.at("https", fmt.Sprintf("/step/%d/potatoes", i), redirect(302, next))
		}
		return next
	})
	found("by a cookie", english, englishArticles[8], func(s *site, then answer) string {
		return s.at("https", "/geology/guide", func(w http.ResponseWriter, r *http.Request) {
			if _, err := r.Cookie("seen"); err != nil {
				http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes", Path: "/"})
				redirect(302, r.URL.RequestURI())(w, r)
				return
			}
			then(w, r)
		})
	})
	found("from a home page into a language", english, article{"Welcome", []string{"Our collection opens at nine.", "Tickets are sold at the gate until four in the afternoon."}}, func(s *site, then answer) string {
		s.at("https", "/", redirect(302, s.at("https", "/en/", then)))
		return "https://" + s.host + "/"
	})
	for i, resolver := range []string{"https://doi.org/10.1000/%d", "https://dx.doi.org/10.1000/%d", "https://hdl.handle.net/20.500/%d"} {
		found("by a resolver of identifiers", english, englishArticles[i], func(s *site, then answer) string {
			link := fmt.Sprintf(resolver, 4711+i)
			host, path, _ := strings.Cut(strings.TrimPrefix(link, "https://"), "/")
			return b.siteAt(host).at("https", "/"+path, redirect(302, s.at("https", "/doi/full/"+path, then)))
		})
	}
	found("a name of another script", tongueOf("de"), article{tongueOf("de").title, tongueOf("de").article}, func(s *site, then answer) string {
		b.siteAt("xn--kste-0ra.de").at("https", "/leuchtturm", then)
		return "https://küste.de/leuchtturm"
	})
	found("a path of another script", tongueOf("ru"), article{tongueOf("ru").title, tongueOf("ru").article}, func(s *site, then answer) string {
		s.at("https", "/%D1%87%D0%B0%D0%B9", then)
		return "https://" + s.host + "/чай"
	})
	found("a host in capitals, with its port and a fragment", english, englishArticles[9], func(s *site, then answer) string {
		s.at("https", "/nets?a=1&b=", then)
		return "HTTPS://" + strings.ToUpper(s.host) + ":443/nets?a=1&b=#knots"
	})
	found("brackets in the path", english, englishArticles[0], func(s *site, then answer) string {
		return s.at("https", "/wiki/Gauge_(tide)", then)
	})
}

// formats plants what is not an HTML page with a proper header.
func (b *builder) formats() {
	for i, c := range []struct {
		variant, contentType, suffix string
		body                         func(a article, sentences []string) string
	}{
		{"plain text", "text/plain; charset=utf-8", ".txt", func(a article, s []string) string { return a.title + "\n\n" + strings.Join(s, "\n") }},
		{"markdown", "text/markdown", ".md", func(a article, s []string) string { return "# " + a.title + "\n\n- " + strings.Join(s, "\n- ") + "\n" }},
		{"JSON", "application/json", ".json", func(a article, s []string) string {
			return fmt.Sprintf(`{"title":%q,"paragraphs":["%s"]}`, a.title, strings.Join(s, `","`))
		}},
		{"XHTML", "application/xhtml+xml", ".xhtml", func(a article, s []string) string {
			return `<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>` + a.title + `</title></head><body><p>` + html.EscapeString(strings.Join(s, " ")) + `</p></body></html>`
		}},
		{"PDF", "application/pdf", ".pdf", func(a article, s []string) string { return pdf(append([]string{a.title}, s...)) }},
		{"PDF as a download", "application/octet-stream", "", func(a article, s []string) string { return pdf(append([]string{a.title}, s...)) }},
		{"no content type", "", "", func(a article, s []string) string { return english.html(0, a.title, paragraphs(s)...) }},
		{"content type in capitals", "TEXT/HTML;CHARSET=UTF-8", "", func(a article, s []string) string { return english.html(1, a.title, paragraphs(s)...) }},
		{"a table", "text/html", "", func(a article, s []string) string {
			return english.document(0, a.title, "", "<h1>"+a.title+"</h1><table><tr><td>"+strings.Join(s, "</td></tr><tr><td>")+"</td></tr></table>")
		}},
		{"entities", "text/html", "", func(a article, s []string) string {
			return english.document(0, a.title, "", "<h1>"+a.title+"</h1><p>"+strings.ReplaceAll(strings.Join(s, "</p><p>"), "e", "&#101;"))
		}},
		{"unclosed tags", "text/html", "", func(a article, s []string) string {
			return "<title>" + a.title + "</title><div><ul><li>" + strings.Join(s, "<li>") + "<b><i>"
		}},
	} {
		a := articleOf(i + 2)
		s := b.newSite("")
		sentences := filled(a.sentences, 180+i)
		answer := typed(http.StatusOK, c.contentType, c.body(a, sentences))
		if c.contentType == "" {
			body := c.body(a, sentences)
			answer = func(w http.ResponseWriter, r *http.Request) {
				w.Header()["Content-Type"] = nil
				fmt.Fprint(w, body)
			}
		}
		p := b.plant(Honest, c.variant, s.at("https", "/files/report-"+fmt.Sprint(i)+c.suffix, answer), a.title)
		p.Sentences = sentences
	}
	for i, c := range []struct {
		variant string
		send    func(w http.ResponseWriter, body string)
	}{
		{"compressed", func(w http.ResponseWriter, body string) {
			w.Header().Set("Content-Encoding", "gzip")
			fmt.Fprint(w, gzipped(body))
		}},
		{"in many chunks", func(w http.ResponseWriter, body string) {
			for piece := range strings.SplitAfterSeq(body, ">") {
				fmt.Fprint(w, piece)
				w.(http.Flusher).Flush()
			}
		}},
		{"status 203", func(w http.ResponseWriter, body string) {
			w.WriteHeader(http.StatusNonAuthoritativeInfo)
			fmt.Fprint(w, body)
		}},
	} {
		b.article(c.variant, 200+i, articleOf(i), func(_ *site, sentences []string) answer {
			body := english.html(i, articleOf(i).title, paragraphs(sentences)...)
			return func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				c.send(w, body)
			}
		})
	}
	for i, c := range []struct{ variant, contentType, body string }{
		{"a broken PDF", "application/pdf", "%PDF-1.7\n" + strings.Repeat("<< /Length 4 0 R >> stream \x80\xff", 40)},
		{"half a PDF", "application/pdf", pdf([]string{englishArticles[0].title})[:60]},
		{"a picture", "image/png", "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\x01\x02", 100)},
	} {
		b.plant(Honest, c.variant, b.newSite("").at("https", fmt.Sprint("/files/scan-", i), typed(http.StatusOK, c.contentType, c.body)), articleOf(i).title)
	}
	s := b.newSite("")
	sentences := filled(englishArticles[3].sentences, 210)
	body := english.html(1, englishArticles[3].title, paragraphs(sentences)...)
	b.plant(Honest, "until the connection closes", s.at("http", "/old/bees.html", raw("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n"+body)), englishArticles[3].title).Sentences = sentences
}

// slow plants pages that take their time or must be asked again.
func (b *builder) slow() {
	b.article("slow", 220, englishArticles[4], func(_ *site, sentences []string) answer {
		pieces := strings.SplitAfter(english.html(1, englishArticles[4].title, paragraphs(sentences)...), "</p>")
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			for _, piece := range pieces {
				if !pause(r, 50*time.Millisecond) {
					return
				}
				fmt.Fprint(w, piece)
				w.(http.Flusher).Flush()
			}
		}
	})
	b.article("slow to begin", 221, englishArticles[5], func(_ *site, sentences []string) answer {
		then := page(http.StatusOK, english.html(1, englishArticles[5].title, paragraphs(sentences)...))
		return func(w http.ResponseWriter, r *http.Request) {
			if pause(r, 300*time.Millisecond) {
				then(w, r)
			}
		}
	})
	for i, c := range []struct {
		variant string
		status  int
		after   string
		times   int
	}{
		{"429 once", 429, "0", 1}, {"429 twice", 429, "0", 2}, {"503 once, in a second", 503, "1", 1}, {"503 without a time", 503, "", 1},
	} {
		b.article(c.variant, 230+i, articleOf(i+6), func(_ *site, sentences []string) answer {
			then := page(http.StatusOK, english.html(1, articleOf(i+6).title, paragraphs(sentences)...))
			return func(w http.ResponseWriter, r *http.Request) {
				if asked(r)%(c.times+1) == 0 {
					then(w, r)
					return
				}
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.status)
			}
		})
	}
}
