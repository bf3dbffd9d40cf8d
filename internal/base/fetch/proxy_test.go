package fetch_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/fetch"
)

// throughProxy fetches a URL with an environment that names a proxy, and returns
// what was dialled and what the proxy was asked.
func throughProxy(t *testing.T, use bool, url string, resolve func(string) ([]netip.Addr, error)) (c archive.Capture, dialed, asked []string) {
	t.Helper()
	t.Setenv("http_proxy", "http://user:hush@10.9.9.9:3128")
	t.Setenv("no_proxy", "direct.example")
	w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.RequestURI)
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	})
	options := w.options()
	options.Proxy = use
	if resolve != nil {
		options.Resolve = func(_ context.Context, host string) ([]netip.Addr, error) { return resolve(host) }
	}
	c = w.get(t, options, url)
	_, dialed = w.seen()
	return c, dialed, asked
}

// TestAProxyThatIsNotUsedOrDoesNotAnswerIsNamed fetches where nothing answers.
func TestAProxyThatIsNotUsedOrDoesNotAnswerIsNamed(t *testing.T) {
	for use, says := range map[bool]string{
		false: "https_proxy names a proxy, which is used where tidegate.toml has `[fetch] proxy = true`",
		true:  "the proxy 10.9.9.9:3128 does not answer: refused",
	} {
		for _, url := range []string{"https://example.org/", "http://example.org/"} {
			environ := map[string]string{"https_proxy": "http://10.9.9.9:3128", "http_proxy": "http://10.9.9.9:3128"}
			client := fetch.New(fetch.Options{
				Proxy: use, Getenv: func(name string) string { return environ[name] }, Now: time.Now,
				Resolve: func(context.Context, string) ([]netip.Addr, error) {
					return []netip.Addr{netip.MustParseAddr("20.1.2.3")}, nil
				},
				Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("refused") },
			})
			err := client.Each(t.Context(), []string{url}, func(batch []*archive.Packed) error {
				if e := batch[0].Entry(); e.Kind != archive.Unreachable || !strings.Contains(e.Detail, says) {
					t.Errorf("%s: %s, %s", url, e.Kind, e.Detail)
				}
				return nil
			}, nil)
			client.Close()
			if err != nil {
				t.Error(err)
			}
		}
	}
}

func TestProxies(t *testing.T) {
	unknown := func(string) ([]netip.Addr, error) { return nil, &net.DNSError{IsNotFound: true} }
	private := func(string) ([]netip.Addr, error) { return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil }
	for _, c := range []struct {
		name    string
		use     bool
		url     string
		resolve func(string) ([]netip.Addr, error)
		kind    archive.Kind
		dialed  []string
		asked   []string
	}{
		{"not wanted", false, "http://example.org/", nil, archive.Responded, []string{"20.1.2.3:80"}, []string{"/"}},
		{"wanted", true, "http://example.org/", nil, archive.Responded, []string{"10.9.9.9:3128"}, []string{"http://example.org/"}},
		{"not for this host", true, "http://direct.example/", nil, archive.Responded, []string{"20.1.2.3:80"}, []string{"/"}},
		{"a name that only the proxy knows", true, "http://example.org/", unknown, archive.Responded, []string{"10.9.9.9:3128"}, []string{"http://example.org/"}},
		{"a private name", true, "http://example.org/", private, archive.Refused, nil, nil},
		{"a private address", true, "http://10.0.0.1/", nil, archive.Refused, nil, nil},
		{"the proxy itself", true, "http://10.9.9.9:3128/", nil, archive.Refused, nil, nil},
		{"localhost", true, "http://localhost/", nil, archive.Refused, nil, nil},
		{"a redirect to a private address", true, "http://example.org/?to=http://10.0.0.1/", nil, archive.Refused, []string{"10.9.9.9:3128"}, []string{"http://example.org/?to=http://10.0.0.1/"}},
		{"a redirect to the proxy", true, "http://example.org/?to=http://10.9.9.9:3128/", nil, archive.Refused, []string{"10.9.9.9:3128"}, []string{"http://example.org/?to=http://10.9.9.9:3128/"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, dialed, asked := throughProxy(t, c.use, c.url, c.resolve)
			if got.Kind != c.kind || !slices.Equal(dialed, c.dialed) || !slices.Equal(asked, c.asked) {
				t.Errorf("%s (%s), dialled %q, asked %q", got.Kind, got.Detail, dialed, asked)
			}
			if len(got.Hops) > 0 && c.dialed[0] == "10.9.9.9:3128" && got.Hops[0].Address != "" {
				t.Errorf("the address %s is written down, which is not that of the page", got.Hops[0].Address)
			}
		})
	}
}
