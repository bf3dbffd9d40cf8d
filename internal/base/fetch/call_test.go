package fetch_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/test/must"
)

const secret = `k/"e y+7`

// call sends a request with a client of its own, packs what came and looks for the
// secret in it.
func (w *small) call(t testing.TB, r archive.Request) archive.Capture {
	t.Helper()
	client := fetch.New(w.options())
	defer client.Close()
	r.Secrets = []string{secret, ""}
	c := must.Get(client.Call(t.Context(), "search://0001", r))(t)
	packed := must.Get(archive.Pack(c))(t)
	if whole := fmt.Sprintf("%+v %q", packed.Capture(), c.Last().Body); strings.Contains(whole, secret) || strings.Contains(whole, url.QueryEscape(secret)) {
		t.Errorf("the secret is kept: %s", whole)
	}
	return packed.Capture()
}

func TestCallKeepsTheExchangeWithoutItsKey(t *testing.T) {
	w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("X-Echo", r.Header.Get("X-Mine"))
		fmt.Fprintf(w, "%s %s %s %s %q %s", r.Method, r.URL, r.Header.Get("X-Mine"), body, secret, base64.StdEncoding.EncodeToString([]byte(secret)))
	})
	c := w.call(t, archive.Request{Method: "POST", URL: "https://api.example.org/search?key=" + url.QueryEscape(secret), Header: []archive.Field{{Name: "X-Mine", Value: secret}}, Body: []byte(`{"q":"` + secret + `"}`)})
	if c.Kind != archive.BadTLS && c.Kind != archive.Broken {
		t.Errorf("a server without a certificate: %+v", c)
	}
	c = w.call(t, archive.Request{Method: "POST", URL: "http://api.example.org/search?key=" + url.QueryEscape(secret), Header: []archive.Field{{Name: "X-Mine", Value: secret}}, Body: []byte(`{"q":"` + secret + `"}`)})
	last := c.Last()
	if c.URL != "search://0001" || c.Kind != archive.Responded || last.Status != 200 || last.Method != "POST" || string(last.Sent) != `{"q":"[REDACTED]"}` {
		t.Errorf("got %+v, sent %q", c, last.Sent)
	}
	if !strings.HasPrefix(string(last.Body), "POST /search?key=[REDACTED] [REDACTED] {\"q\":\"[REDACTED]\"} ") || strings.Contains(string(last.Body), base64.StdEncoding.EncodeToString([]byte(secret))) {
		t.Errorf("answered %s", last.Body)
	}
}

func TestCallStaysAtItsHost(t *testing.T) {
	for to, kind := range map[string]archive.Kind{
		"http://169.254.169.254/latest": archive.Refused, "http://other.example.org/": archive.Refused, "http://api.example.org:8080/": archive.Refused,
		"https://api.example.org/": archive.Refused, "/next": archive.Responded, "http://api.example.org/next": archive.Responded,
	} {
		w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				w.Header().Set("Location", to)
				w.Header().Set("Set-Cookie", "a=b")
				w.WriteHeader(302)
				return
			}
			fmt.Fprint(w, r.Header.Get("Cookie"))
		})
		c := w.call(t, archive.Request{Method: "GET", URL: "http://api.example.org/"})
		_, dialed := w.seen()
		if c.Kind != kind || len(c.Last().Body) > 0 || len(dialed) == 0 || strings.ContainsAny(strings.Join(dialed, ""), "6") {
			t.Errorf("%s: %+v, dialed %v", to, c, dialed)
		}
	}
}

func TestCallIsBounded(t *testing.T) {
	w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write(bytes.Repeat([]byte(secret), 10<<20/len(secret)))
	})
	if c := w.call(t, archive.Request{Method: "GET", URL: "http://api.example.org/"}); c.Last().Truncated != "length" || len(c.Last().Body) != 0 {
		t.Errorf("%d bytes were kept, truncated %q", len(c.Last().Body), c.Last().Truncated)
	}
}

func TestAnAddressThatAPersonNamedIsOpenToCallsOnly(t *testing.T) {
	w := newSmall(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "{}") })
	w.addrs["search.internal"] = []string{"10.0.0.7"}
	client := fetch.New(w.options())
	defer client.Close()
	for _, try := range []struct {
		url   string
		named bool
		kind  archive.Kind
	}{{"http://search.internal:8888/search", false, archive.Refused}, {"http://search.internal:8888/search", true, archive.Responded}, {"http://127.0.0.1:8888/", true, archive.Responded}, {"::", true, archive.Malformed}} {
		c, err := client.Call(t.Context(), "search://0001", archive.Request{Method: "GET", URL: try.url, Named: try.named})
		if err != nil || c.Kind != try.kind {
			t.Errorf("%s, named %t: %+v, %v", try.url, try.named, c, err)
		}
	}
	if c, err := client.Get(t.Context(), "http://search.internal:8888/search"); err != nil || c.Kind != archive.Refused {
		t.Errorf("a page there: %+v, %v", c, err)
	}
}

func TestCallPauses(t *testing.T) {
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {}, func(t *testing.T, w *small) {
		client, began := fetch.New(w.options()), time.Now()
		for range 3 {
			client.Call(t.Context(), "search://0001", archive.Request{Method: "GET", URL: "http://api.example.org/", Pause: 3 * time.Second, Named: true})
		}
		if took := time.Since(began); took < 6*time.Second || took > 9*time.Second {
			t.Errorf("three calls took %v", took)
		}
		client.Close()
		w.server.Close()
		synctest.Wait()
	})
}

// TestHostsThatAskForALongerPause has the clients of pages and of searches share the pause
// of arXiv.
func TestHostsThatAskForALongerPause(t *testing.T) {
	pages, searches := fetch.New(fetch.Options{}), fetch.New(fetch.Options{})
	one, spacing, atOnce := pages.Gate("export.arxiv.org")
	other, _, _ := searches.Gate("export.arxiv.org")
	if one != other || spacing != 3*time.Second || atOnce != 1 {
		t.Errorf("the same: %t, %v, %d at once", one == other, spacing, atOnce)
	}
	one, spacing, atOnce = pages.Gate("example.org")
	if other, _, _ := searches.Gate("example.org"); one == other || spacing != fetch.DefaultLimits.Spacing || atOnce != fetch.DefaultLimits.PerHost {
		t.Errorf("another host: %v, %d at once", spacing, atOnce)
	}
}
