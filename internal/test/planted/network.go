package planted

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// articleOf is a title and text for the nth page of any kind.
func articleOf(n int) article { return englishArticles[n%len(englishArticles)] }

// addresses plants what a URL or a name must give away.
func (b *builder) addresses() {
	for i, url := range []string{
		"http://", "https:///path/only", "https://exa mple.org/report", "http://[::1/report", "https://example..org/report",
		"https://exam%ple.org/report", "http://example.org:port/report", "https://-/", "http://1.2.3.4.5/report", "https://256.1.1.1/report",
	} {
		b.plant("malformed", url, url, articleOf(i).title)
	}
	for i, size := range []int{2049, 100_000} {
		s := b.newSite("")
		b.plant("too_long", fmt.Sprint(size, " bytes"), "https://"+s.host+"/"+strings.Repeat("a", size-len("https:///")-len(s.host)), articleOf(i).title)
	}
	for i, form := range []string{
		"https://reader:secret@%s/report", "https://reader@%s/report", "https://%s/report?access_token=0123456789abcdef", "https://%s/report?page=2&API_KEY=0123456789abcdef",
		"https://%s/report?session=0123456789abcdef", "https://%s/report?%%74oken=0123456789abcdef",
	} {
		s := b.newSite("")
		for _, path := range []string{"/report", "/report?access_token=0123456789abcdef"} {
			s.at("https", path, page(http.StatusOK, english.html(0, articleOf(i).title, filled(articleOf(i).sentences, i)...)))
		}
		b.plant("credentials", strings.ReplaceAll(form, "%s", "…"), fmt.Sprintf(form, s.host), articleOf(i).title)
	}
	for i, host := range literals {
		b.plant("address_literal", host, "http://"+host+"/latest/meta-data/", articleOf(i).title)
	}
	for i, addrs := range privateAddresses {
		s := b.newSite("")
		s.addrs = nil
		for _, addr := range strings.Fields(addrs) {
			s.addrs = append(s.addrs, netip.MustParseAddr(addr))
		}
		b.plant("private_address", addrs, "https://"+s.host+path(i, articleOf(i).title), articleOf(i).title)
	}
	for i, target := range []string{
		"http://127.0.0.1/admin", "http://169.254.169.254/latest/meta-data/", "http://[::1]/", "http://10.0.0.1/", "http://2130706433/", "http://localhost/",
		"http://metadata.google.internal/computeMetadata/v1/", "http://[::ffff:192.168.1.1]/", "//0x7f.1/", "https://192.168.0.1/router", "http://127.0.0.1:22/", "http://[fe80::1%25eth0]/",
	} {
		s := b.newSite("")
		b.plant("redirect_to_private", target, s.at("https", path(i, articleOf(i).title), redirect(302, target)), articleOf(i).title)
	}
	for i, port := range []int{22, 25, 3306, 6379, 8080, 8443, 9200} {
		s := b.newSite("")
		b.plant("port", fmt.Sprint(port), fmt.Sprintf("http://%s:%d/", s.host, port), articleOf(i).title)
	}
	for i := range 9 {
		s := b.newSite("www.")
		s.addrs = nil
		b.plant("no_such_name", fmt.Sprint(i+1), "https://"+s.host+path(i, articleOf(i).title), articleOf(i).title)
	}
}

// literals are hosts that are an address that is not public, or a name that nobody
// can own.
var literals = []string{
	"127.0.0.1", "127.1", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "2130706433", "017700000001", "0", "0.0.0.0", "127.0.0.1.", "127.000.000.001",
	"10.0.0.1", "172.16.0.1", "172.31.255.254", "192.168.1.1", "3232235777", "169.254.169.254", "100.100.100.200", "198.18.0.1", "224.0.0.1", "255.255.255.255", "192.0.2.1",
	"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]", "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
	"[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[ff02::1]", "[2001:db8::1]", "[100::1]",
	"localhost", "LOCALHOST", "localhost.", "a.localhost", "localhost.localdomain", "printer.local", "wiki.internal", "metadata.google.internal", "intranet", "files.invalid",
	"１２７.０.０.１", "127。0。0。1", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "loc\u00adalhost", "①②⑦.⓪.⓪.①",
}

// privateAddresses are addresses that are not public, to which names resolve. A name
// that has a public address besides them is not public either.
var privateAddresses = []string{
	"127.0.0.1", "10.20.30.40", "172.20.0.5", "192.168.178.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "::1", "::", "fd12:3456::1", "fe80::1",
	"::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "198.19.1.1", "240.0.0.1",
	"20.64.250.1 127.0.0.1", "2606:4700::1 fd00::1",
}

// connections plants failures before any answer.
func (b *builder) connections() {
	for i := range 6 {
		s := b.newSite("")
		s.connect = "refused"
		b.plant("unreachable", fmt.Sprint("connection refused ", i+1), "https://"+s.host+path(i, articleOf(i).title), articleOf(i).title)
	}
	hang := func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	half := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<html><body><p>The beginning of a page")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	drip := func(w http.ResponseWriter, r *http.Request) {
		for pause(r, 5*time.Second) {
			fmt.Fprint(w, " ")
			w.(http.Flusher).Flush()
		}
	}
	for i, c := range []struct {
		variant, connect, tls string
		answer                answer
	}{
		{"no connection", "silent", "", nil},
		{"no connection, twice", "silent", "", nil},
		{"no handshake", "", "silent", nil},
		{"no answer", "", "", hang},
		{"no answer, again", "", "", hang},
		{"half a page", "", "", half},
		{"half a page, again", "", "", half},
		{"drop by drop", "", "", drip},
		{"after a redirect", "", "", redirect(302, "/slow")},
	} {
		s := b.newSite("")
		s.connect, s.tls = c.connect, c.tls
		s.at("https", "/slow", hang)
		b.plant("timeout", c.variant, s.at("https", path(i, articleOf(i).title), c.answer), articleOf(i).title)
	}
	for i, fault := range []string{"expired", "not yet", "self-signed", "unknown issuer", "other name", "plain text", "old version", "closed"} {
		for range 2 {
			s := b.newSite("")
			s.tls = fault
			b.plant("tls", fault, s.at("https", path(i, articleOf(i).title), page(200, english.html(1, articleOf(i).title, filled(articleOf(i).sentences, i)...))), articleOf(i).title)
		}
	}
}

// pause waits, and reports whether the client is still waiting.
func pause(r *http.Request, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// answersBroken plants answers that are not what they should be.
func (b *builder) answersBroken() {
	body := english.html(1, articleOf(0).title, filled(articleOf(0).sentences, 1)...)
	zipped := gzipped(body)
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	for i, c := range []struct{ variant, text string }{
		{"nothing", ""},
		{"not HTTP", "SSH-2.0-OpenSSH_9.6\r\n"},
		{"only a status line", "HTTP/1.1 200 OK\r\n"},
		{"bad status line", "HTTP/1.1 two hundred\r\n\r\n"},
		{"header without colon", "HTTP/1.1 200 OK\r\nthis is no header\r\n\r\n"},
		{"endless header", head + "X-Filler: " + strings.Repeat("x", 200_000) + "\r\n\r\n" + body},
		{"many headers", head + strings.Repeat("X-Filler: yes\r\n", 20_000) + "\r\n" + body},
		{"shorter than its length", head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body)+1000, body)},
		{"cut in the middle", head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body[:len(body)/2])},
		{"two lengths", head + fmt.Sprintf("Content-Length: %d\r\nContent-Length: %d\r\n\r\n%s", len(body), len(body)-1, body)},
		{"bad chunk", head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + body},
		{"cut chunk", head + "Transfer-Encoding: chunked\r\n\r\nffff\r\n" + body},
		{"no last chunk", head + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(body), body)},
		{"not gzip", head + "Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + body},
		{"cut gzip", head + "Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + zipped[:len(zipped)/2]},
		{"damaged gzip", head + "Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + zipped[:100] + "damage" + zipped[106:]},
	} {
		s := b.newSite("")
		b.plant("broken", c.variant, s.at("http", path(i, articleOf(i).title), raw(c.text)), articleOf(i).title)
	}
	for i, c := range []struct{ variant, unit string }{
		{"zeros", "\x00"}, {"blanks", " "}, {"text", "<p>All work and no play makes a dull page.</p>\n"}, {"tags", "<div>"},
	} {
		s := b.newSite("")
		b.plant("too_large", "bomb of "+c.variant, s.at("https", path(i, articleOf(i).title), bomb(c.unit)), articleOf(i).title)
	}
}

// bombSize is the size of a bomb after decompression.
const bombSize = 300 << 20

// bomb answers with a small body that becomes a large one: the same gzip member
// again and again.
func bomb(unit string) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Encoding", "gzip")
		const block = 1 << 20
		member := gzipped(strings.Repeat(unit, block/len(unit)))
		for written := 0; written < bombSize && r.Context().Err() == nil; written += block {
			if _, err := io.WriteString(w, member); err != nil {
				return // the client had enough
			}
		}
	}
}

func gzipped(text string) string {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	fmt.Fprint(zip, text)
	zip.Close()
	return out.String()
}

// statuses plants answers whose status says everything.
func (b *builder) statuses() {
	loops := []struct {
		variant string
		answer  func(s *site) answer
	}{
		{"to itself", func(s *site) answer {
			return func(w http.ResponseWriter, r *http.Request) { redirect(302, r.URL.RequestURI())(w, r) }
		}},
		{"there and back", func(s *site) answer {
			s.at("https", "/a", redirect(301, "/b"))
			s.at("https", "/b", redirect(301, "/a"))
			return redirect(301, "/a")
		}},
		{"to http and back", func(s *site) answer {
			return func(w http.ResponseWriter, r *http.Request) {
				scheme := "https"
				if r.TLS != nil {
					scheme = "http"
				}
				redirect(301, scheme+"://"+s.host+r.URL.RequestURI())(w, r)
			}
		}},
		{"ever deeper", func(s *site) answer {
			for i := range 20 {
				s.at("https", "/deep"+strings.Repeat("/x", i), redirect(302, "/deep"+strings.Repeat("/x", i+1)))
			}
			return redirect(302, "/deep")
		}},
		{"six redirects", func(s *site) answer {
			for i := range 6 {
				s.at("https", fmt.Sprint("/step/", i), redirect(307, fmt.Sprint("/step/", i+1)))
			}
			return redirect(308, "/step/1")
		}},
		{"for want of a cookie", func(s *site) answer {
			return func(w http.ResponseWriter, r *http.Request) {
				http.SetCookie(w, &http.Cookie{Name: fmt.Sprint("try", len(r.Cookies())), Value: "1", Path: "/"})
				redirect(302, r.URL.RequestURI())(w, r)
			}
		}},
	}
	for i := range 2 * len(loops) {
		c, s := loops[i%len(loops)], b.newSite("")
		b.plant("loop", c.variant, s.at("https", path(i, articleOf(i).title), c.answer(s)), articleOf(i).title)
	}
	b.plantStatus("status_401", 401, 6, "Authorization required", "This server could not verify that you are authorized to access the document requested.")
	b.plantStatus("status_402", 402, 5, "Payment required", "You have read all your free articles. Choose a plan to go on.")
	b.plantStatus("status_403", 403, 10, "Forbidden", "You don't have permission to access this resource.")
	b.plantStatus("status_404", 404, 14, "Not found", "The requested page was not found.")
	b.plantStatus("status_410", 410, 6, "Gone", "This page has been removed for good.")
	b.plantStatus("status_451", 451, 5, "Unavailable for legal reasons", "This page is not available in your country for legal reasons.")
	for i, wait := range []string{"", "1", "3600", "garbage", "Wed, 21 Oct 2093 07:28:00 GMT", "-1"} {
		s := b.newSite("")
		header := map[string]string{}
		if wait != "" {
			header["Retry-After"] = wait
		}
		b.plant("status_429", "Retry-After: "+wait, s.at("https", path(i, articleOf(i).title), headed(header, page(429, english.html(0, "Too many requests", "Slow down.")))), articleOf(i).title)
	}
	for i, status := range []int{300, 304, 400, 405, 406, 418, 423, 999} {
		s := b.newSite("")
		b.plant("status_other", fmt.Sprint(status), s.at("https", path(i, articleOf(i).title), page(status, "")), articleOf(i).title)
	}
	for i, status := range []int{500, 501, 502, 503, 503, 504, 505, 507, 520, 522, 525, 530} {
		s := b.newSite("")
		b.plant("status_5xx", fmt.Sprint(status), s.at("https", path(i, articleOf(i).title), page(status, english.html(i, fmt.Sprint(status, " server error"), "Something went wrong on our side."))), articleOf(i).title)
	}
}

// plantStatus plants pages with one status, some of them with the text of an
// article, which makes no difference.
func (b *builder) plantStatus(kind string, status, count int, title, text string) {
	for i := range count {
		s, a := b.newSite(""), articleOf(i)
		variant, html := "a notice", english.html(i, title, text)
		switch i % 4 {
		case 1:
			variant, html = "nothing", ""
		case 2:
			variant, html = "the article", english.html(i, a.title, paragraphs(filled(a.sentences, i))...)
		case 3:
			t := tongues[(i*5+status)%len(tongues)]
			variant, html = t.name, t.html(i, t.notFound, t.notFoundText)
		}
		b.plant(kind, variant, s.at("https", path(i, a.title), page(status, html)), a.title)
	}
}

// headed answers with additional header fields.
func headed(header map[string]string, then answer) answer {
	return func(w http.ResponseWriter, r *http.Request) {
		for name, value := range header {
			w.Header().Set(name, value)
		}
		then(w, r)
	}
}
