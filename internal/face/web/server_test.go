package web_test

import (
	"context"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/user"
	"github.com/tidegate/tidegate/internal/face/guard"
	"github.com/tidegate/tidegate/internal/face/web"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TestWhoIsLetIn tries every way in except the right one.
func TestWhoIsLetIn(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(web.Handler(demoSite(t), token, nil))
	t.Cleanup(server.Close)
	cookie := firstCookie(t, server.URL)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	with := func(more ...func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) {
			r.AddCookie(cookie)
			for _, change := range more {
				change(r)
			}
		}
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	method := func(name string) func(*http.Request) { return func(r *http.Request) { r.Method = name } }
	for _, c := range []struct {
		name, path string
		change     func(*http.Request)
		want       int
	}{
		{"nothing", "/", nil, 401},
		{"another token", "/?token=OPENSESAM", nil, 401},
		{"an empty token", "/?token=", nil, 401},
		{"another token with the cookie", "/?token=x", with(), 401},
		{"the token", "/?token=" + token, nil, 303},
		{"the cookie", "/", with(), 200},
		{"another cookie", "/", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie.Name, Value: "x"}) }, 401},
		{"a stream without the cookie", "/runs/harbour/events", nil, 401},
		{"a text without the cookie", "/runs/harbour/text/synthesis/1/prompt.md", nil, 401},
		{"the style without the cookie", "/style.css", nil, 200},
		{"a name that was bound to this machine", "/", with(host("evil.example")), 403},
		{"such a name with the token", "/?token=" + token, host("evil.example:80"), 403},
		{"the name of this machine", "/", with(host("localhost:80")), 200},
		{"its other address", "/", with(host("[::1]:80")), 200},
		{"a page of another origin", "/", with(header("Origin", "https://evil.example")), 403},
		{"a page that hides its origin", "/", with(header("Origin", "null")), 403},
		{"a picture in a page of another site", "/", with(header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "no-cors")), 403},
		{"a picture in a page of another port", "/", with(header("Sec-Fetch-Site", "same-site"), header("Sec-Fetch-Mode", "no-cors")), 403},
		{"a link in a page of another port", "/", with(header("Sec-Fetch-Site", "same-site"), header("Sec-Fetch-Mode", "navigate")), 200},
		{"a link in a page of another site", "/", with(header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Mode", "navigate")), 200},
		{"its own origin", "/", with(header("Origin", server.URL)), 200},
		{"POST", "/runs/harbour", with(method("POST"), header("Origin", server.URL)), 405},
		{"POST from nowhere", "/runs/harbour", with(method("POST")), 403},
		{"PUT", "/", with(method("PUT"), header("Origin", server.URL)), 405},
		{"DELETE", "/runs/harbour", with(method("DELETE"), header("Origin", server.URL)), 405},
		{"HEAD", "/runs/harbour", with(method("HEAD")), 200},
		{"a path out of the runs", "/runs/..%2f..%2fetc", with(), 404},
		{"a run that does not exist", "/runs/nothing", with(), 404},
		{"a job that does not exist", "/runs/harbour/jobs/nothing", with(), 404},
		{"a text that does not exist", "/runs/harbour/text/synthesis/1/attempt.json", with(), 404},
		{"a text out of the attempt", "/runs/harbour/text/synthesis/1/..%2fattempt.json", with(), 404},
		{"a change that does not exist", "/changes/nothing", with(), 404},
		{"a change out of the folder", "/changes/..%2f..", with(), 400},
		{"the archive of pages", "/runs/harbour/evidence/archive.warc.gz", with(), 404},
		{"a file of the run", "/runs/harbour/manifest.json", with(), 404},
		{"a page that does not exist", "/nothing", with(), 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+c.path, nil))(t)
			if c.change != nil {
				c.change(r)
			}
			answer := must.Get(http.DefaultTransport.RoundTrip(r))(t)
			defer answer.Body.Close()
			body := must.Get(io.ReadAll(answer.Body))(t)
			if answer.StatusCode != c.want {
				t.Errorf("%s is answered with %d, want %d:\n%s", c.path, answer.StatusCode, c.want, body)
			}
			if policy := answer.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "unsafe") {
				t.Errorf("the policy of %s is %q", c.path, policy)
			}
			if answer.StatusCode == 401 && strings.Contains(string(body), "harbour") {
				t.Errorf("%s tells of a run:\n%s", c.path, body)
			}
		})
	}
}

// firstCookie is the cookie that the address with the token sets.
func firstCookie(t *testing.T, base string) *http.Cookie {
	t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer := must.Get(client.Get(base + "/runs/harbour?q=x&token=" + token))(t)
	answer.Body.Close()
	if to := answer.Header.Get("Location"); to != "/runs/harbour?q=x" {
		t.Errorf("the token stays in the address: %q", to)
	}
	cookies := answer.Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode {
		t.Fatalf("the first visit leaves %v", cookies)
	}
	return cookies[0]
}

// TestALinkDoesNotMakeABrowserAnothers: a link with the token of a user does not replace the
// cookie of another without a yes, which only our own page can send.
func TestALinkDoesNotMakeABrowserAnothers(t *testing.T) {
	t.Parallel()
	s := demoSite(t)
	s.Users = user.List{Home: t.TempDir(), Now: s.Desk.Now}
	other := must.Get(s.Users.Add(tidegate.WithActor(t.Context(), tidegate.Actor{Kind: tidegate.Person}), "mallory", user.Read, 0))(t)
	server := httptest.NewServer(web.Handler(s, token, nil))
	t.Cleanup(server.Close)
	cookie := firstCookie(t, server.URL)
	ask := func(method, path, origin string) (*http.Response, string) {
		t.Helper()
		r := must.Get(http.NewRequestWithContext(t.Context(), method, server.URL+path, nil))(t)
		r.AddCookie(cookie)
		r.Header.Set("Origin", origin)
		if origin == "" {
			r.Header.Del("Origin")
		}
		answer := must.Get(http.DefaultTransport.RoundTrip(r))(t)
		defer answer.Body.Close()
		return answer, string(must.Get(io.ReadAll(answer.Body))(t))
	}
	link := "/runs/harbour?token=" + other
	answer, page := ask(http.MethodGet, link, "")
	if answer.StatusCode != http.StatusConflict || len(answer.Cookies()) > 0 || !strings.Contains(page, "mallory") || !strings.Contains(page, `action="`+link+`"`) || strings.Contains(page, token) {
		t.Errorf("the link is answered with %d, %v:\n%s", answer.StatusCode, answer.Cookies(), page)
	}
	for _, origin := range []string{"", "https://evil.example"} {
		if answer, _ := ask(http.MethodPost, link, origin); answer.StatusCode != http.StatusForbidden || len(answer.Cookies()) > 0 {
			t.Errorf("a yes from %q is answered with %d", origin, answer.StatusCode)
		}
	}
	if answer, _ = ask(http.MethodPost, link, server.URL); answer.StatusCode != http.StatusSeeOther || len(answer.Cookies()) != 1 || answer.Cookies()[0].Value != other || answer.Header.Get("Location") != "/runs/harbour" {
		t.Errorf("a yes is answered with %d, %v", answer.StatusCode, answer.Cookies())
	}
	if answer, _ = ask(http.MethodGet, "/runs/harbour?token="+token, ""); answer.StatusCode != http.StatusSeeOther {
		t.Errorf("the same token is answered with %d", answer.StatusCode)
	}
}

// TestTheTokenLeadsNowhereElse: no path makes the first visit redirect to another
// host.
func TestTheTokenLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"//evil.example/", "/%5Cevil.example", "///evil.example"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/x", nil)
		r.URL = &url.URL{Path: strings.ReplaceAll(path, "%5C", `\`), RawQuery: "token=" + token}
		web.Handler(site(t.TempDir()), token, nil).ServeHTTP(w, r)
		if to := w.Header().Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, "://") || strings.HasPrefix(to, `/\`) {
			t.Errorf("%s leads to %q", path, to)
		}
	}
}

// TestBehindAProxy: under a path, every link stays under it, whether the proxy
// removes the path or not.
func TestBehindAProxy(t *testing.T) {
	t.Parallel()
	public := must.Get(guard.ParsePublic("https://example.org/tools/tidegate/"))(t)
	server := httptest.NewServer(web.Handler(demoSite(t), token, public))
	t.Cleanup(server.Close)
	jar := must.Get(cookiejar.New(nil))(t)
	for _, path := range []string{"/tools/tidegate/runs/harbour", "/runs/harbour"} {
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil))(t)
		r.Host = "example.org"
		r.Header.Set("Origin", "https://example.org")
		first := r.Clone(t.Context())
		first.URL.RawQuery = "token=" + token
		w := must.Get(http.DefaultTransport.RoundTrip(first))(t)
		w.Body.Close()
		cookie := w.Cookies()[0]
		if cookie.Path != "/tools/tidegate/" || !cookie.Secure || w.Header.Get("Location") != "/tools/tidegate/runs/harbour" {
			t.Errorf("%s leaves %v and leads to %q", path, cookie, w.Header.Get("Location"))
		}
		r.AddCookie(cookie)
		answer := must.Get((&http.Client{Jar: jar}).Do(r))(t)
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s is answered with %d, %v", path, answer.StatusCode, err)
		}
		for _, part := range strings.Split(string(body), `href="`)[1:] {
			if to, _, _ := strings.Cut(part, `"`); strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "/tools/tidegate/") {
				t.Errorf("%s leads out of the path: %s", path, to)
			}
		}
	}
}

// TestThroughAReverseProxy visits the pages through a real proxy under a path. The
// proxy removes the path or leaves it on, and names its own host or ours: every link
// stays under the path, the stream flows, and a decision is taken.
func TestThroughAReverseProxy(t *testing.T) {
	t.Parallel()
	const path = "/tools/tidegate"
	for name, rewrite := range map[string]func(*httputil.ProxyRequest, *url.URL){
		"the path is taken off": func(p *httputil.ProxyRequest, to *url.URL) {
			p.SetURL(to)
			p.Out.URL.Path, p.Out.URL.RawPath = strings.TrimPrefix(p.In.URL.Path, path), ""
		},
		"the path stays, and the host": func(p *httputil.ProxyRequest, to *url.URL) {
			p.SetURL(to)
			p.Out.Host = p.In.Host
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, manifest, _ := newRun(t)
			public := must.Get(guard.ParsePublic("http://pages.example" + path))(t)
			streams, stop := context.WithCancel(context.Background())
			behind := httptest.NewUnstartedServer(web.Handler(deciding(s), token, public))
			behind.Config.BaseContext = func(net.Listener) context.Context { return streams }
			behind.Start()
			t.Cleanup(behind.Close)
			t.Cleanup(stop)
			to := must.Get(url.Parse(behind.URL))(t)
			front := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { rewrite(p, to) }})
			t.Cleanup(front.Close)
			t.Cleanup(stop)
			jar := must.Get(cookiejar.New(nil))(t)
			dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, front.Listener.Addr().String())
			}
			b := &browser{&http.Client{Jar: jar, Transport: &http.Transport{DialContext: dial}}, "http://pages.example", nil}
			if code, page := b.get(t, path+"/?token="+token); code != http.StatusOK {
				t.Fatalf("the first visit is answered with %d:\n%s", code, page)
			}
			followed := 0
			for queue, seen := []string{path + "/"}, map[string]bool{}; len(queue) > 0; queue = queue[1:] {
				if seen[queue[0]] {
					continue
				}
				seen[queue[0]] = true
				code, page := b.get(t, queue[0])
				if code != http.StatusOK {
					t.Fatalf("%s is answered with %d:\n%s", queue[0], code, page)
				}
				followed++
				for _, m := range ownLinks.FindAllStringSubmatch(page, -1) {
					link, _, _ := strings.Cut(html.UnescapeString(m[1]), "#")
					if !strings.HasPrefix(link, path+"/") {
						t.Errorf("%s leads out of the path: %s", queue[0], link)
					}
					queue = append(queue, link)
				}
			}
			if followed < 20 {
				t.Errorf("only %d pages were visited", followed)
			}
			events := b.follow(t, path+"/runs/rain/events", strconv.Itoa(lines(t, manifest)))
			if code, body, to := b.send(t, path+"/runs/rain/decide/run-pause", b.base, b.confirmation(t, path+"/runs/rain/decide/run-pause", url.Values{"reason": {"lunch"}})); code != http.StatusSeeOther || to != path+"/runs/rain" {
				t.Fatalf("the decision is answered with %d, %q:\n%s", code, to, body)
			}
			events.nextID(t)
			if status(t, manifest) != run.Paused {
				t.Error("the run was not paused")
			}
			if code, _, _ := b.send(t, path+"/runs/rain/decide/run-resume", "https://pages.example", url.Values{"reason": {"x"}}); code != http.StatusForbidden {
				t.Errorf("the same name by another scheme is answered with %d", code)
			}
		})
	}
}

// ownLinks are the addresses of a page that begin with a slash.
var ownLinks = regexp.MustCompile(`(?:href|src|action)="(/[^"]*)"`)

func TestAddressesOfAProxy(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"example.org", "ftp://example.org", "https://", "https://u@example.org", "https://example.org/?a=b", "javascript:alert(1)", "https://example.org/#x"} {
		if _, err := guard.ParsePublic(bad); tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("%s is taken: %v", bad, err)
		}
	}
}
