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
	"github.com/tidegate/tidegate/internal/face/web"
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
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				c.change(r)
			}
			answer, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
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
	answer, err := client.Get(base + "/runs/harbour?q=x&token=" + token)
	if err != nil {
		t.Fatal(err)
	}
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
	public, err := web.ParsePublic("https://example.org/tools/tidegate/")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(web.Handler(demoSite(t), token, public))
	t.Cleanup(server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/tools/tidegate/runs/harbour", "/runs/harbour"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "example.org"
		r.Header.Set("Origin", "https://example.org")
		first := r.Clone(t.Context())
		first.URL.RawQuery = "token=" + token
		w, err := http.DefaultTransport.RoundTrip(first)
		if err != nil {
			t.Fatal(err)
		}
		w.Body.Close()
		cookie := w.Cookies()[0]
		if cookie.Path != "/tools/tidegate/" || !cookie.Secure || w.Header.Get("Location") != "/tools/tidegate/runs/harbour" {
			t.Errorf("%s leaves %v and leads to %q", path, cookie, w.Header.Get("Location"))
		}
		r.AddCookie(cookie)
		answer, err := (&http.Client{Jar: jar}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
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
			public, err := web.ParsePublic("http://pages.example" + path)
			if err != nil {
				t.Fatal(err)
			}
			streams, stop := context.WithCancel(context.Background())
			behind := httptest.NewUnstartedServer(web.Handler(deciding(s), token, public))
			behind.Config.BaseContext = func(net.Listener) context.Context { return streams }
			behind.Start()
			t.Cleanup(behind.Close)
			t.Cleanup(stop)
			to, err := url.Parse(behind.URL)
			if err != nil {
				t.Fatal(err)
			}
			front := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { rewrite(p, to) }})
			t.Cleanup(front.Close)
			t.Cleanup(stop)
			jar, err := cookiejar.New(nil)
			if err != nil {
				t.Fatal(err)
			}
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
		if _, err := web.ParsePublic(bad); tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("%s is taken: %v", bad, err)
		}
	}
}
