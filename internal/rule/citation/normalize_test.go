package citation_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/citation"
	"github.com/tidegate/tidegate/internal/text/secret"
)

func TestNormalize(t *testing.T) {
	for raw, want := range map[string]string{
		// The reference's samples.
		"https://example.com": "https://example.com/",
		"https://Example.com:443/path/?b=2&a=1&utm_source=abc#frag": "https://example.com/path?a=1&b=2",
		"https://exämple.com/ü?x=ü":                                 "https://xn--exmple-cua.com/%C3%BC?x=%C3%BC",
		"https://user:pw@example.com/x":                             "https://example.com/x",
		"http://127.1/":                                             "http://127.0.0.1/",
		"http://0x7f.1/x":                                           "http://127.0.0.1/x",
		"http://example.com:443/":                                   "http://example.com:443/",
		"https://example.com:8443/a/../b/./c":                       "https://example.com:8443/b/c",
		// Byte order, and bytes that stay distinct.
		"https://a.test/?B=1&a=2&b=0&A=3":       "https://a.test/?A=3&B=1&a=2&b=0",
		"https://a.test/?x_1=1&x1=2&x-1=3":      "https://a.test/?x-1=3&x1=2&x_1=1",
		"https://a.test/?q=a+b&r=a%20b":         "https://a.test/?q=a+b&r=a%20b",
		"https://a.test/?q=%e9":                 "https://a.test/?q=%E9",
		"https://a.test/?q=\xe9":                "https://a.test/?q=%E9",
		"https://a.test/?k&=v":                  "https://a.test/?=v&k",
		"https://a.test/?a=2&a=1&a":             "https://a.test/?a&a=1&a=2",
		"https://a.test/?a[]=1":                 "https://a.test/?a[]=1",
		"https://a.test/%2f%7e":                 "https://a.test/%2F%7E",
		"https://a.test/%zz":                    "https://a.test/%zz",
		"https://a.test/a//":                    "https://a.test/a",
		"https://a.test//":                      "https://a.test/",
		"https://a.test//a//b/":                 "https://a.test//a//b",
		"https://a.test/?&&":                    "https://a.test/",
		"https://a.test/?UTM_x=1&%75tm_y=2&utm": "https://a.test/?utm",
		"https://a.test/?gclid=1&FBCLID=2&g=3":  "https://a.test/?g=3",
		"HTTPS://A.TEST/B":                      "https://a.test/B",
		" https://a.test/x\n":                   "https://a.test/x",
		"https://a.test./x":                     "https://a.test./x",
		// Credentials are left out.
		"https://a.test/x?token=abc&id=1":         "https://a.test/x?id=1",
		"https://a.test/x?API_KEY=abc&%61uth=1":   "https://a.test/x",
		"https://a.test/x?author=smith&keyword=k": "https://a.test/x?author=smith&keyword=k",
	} {
		got, err := citation.Normalize(raw)
		if err != nil || got != want {
			t.Errorf("Normalize(%q) = %q, %v, want %q", raw, got, err, want)
		}
	}
}

func TestNormalizeRefuses(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                     "not a URL",
		"example.com/x":                        "not a URL",
		"/x":                                   "not a URL",
		"ftp://example.com/x":                  "scheme is ftp",
		"mailto:a@b.test":                      "scheme is mailto",
		"javascript:alert(1)":                  "scheme is javascript",
		"https://":                             "not a URL",
		"https://a.test:99999/":                "not a URL",
		"https://a b.test/":                    "not a URL",
		"https://a.test|b":                     "not a URL",
		"http://[fe80::1%25eth0]/":             "not a URL",
		"http://1.2.3.4.5/":                    "not a URL",
		"https://\xff.test/":                   "not a URL",
		long(citation.MaxURL + 1):              "2049 bytes",
		long(citation.MaxURL-2) + "\u00fc":     "normalised URL has 2052 bytes",
		"https://u:secret@" + "a b.test/" + "": "not a URL",
	} {
		got, err := citation.Normalize(raw)
		if tidegate.CodeOf(err) != tidegate.SchemaValidationFailed || !strings.Contains(err.Error(), want) {
			t.Errorf("Normalize(%q) = %q, %v, want an error with %q", tidegate.Cut(raw), got, err, want)
		}
		if details := tidegate.AsError(err).Details; strings.Contains(details[0].Value.(string), "secret") {
			t.Errorf("Normalize(%q) shows the password: %v", raw, details)
		}
	}
	if got, err := citation.Normalize(long(citation.MaxURL)); err != nil || len(got) != citation.MaxURL {
		t.Errorf("a URL of %d bytes: %d bytes, %v", citation.MaxURL, len(got), err)
	}
}

// long is a URL of n bytes.
func long(n int) string { return "https://a.test/" + strings.Repeat("x", n-len("https://a.test/")) }

func TestCID(t *testing.T) {
	for url, want := range map[string]string{
		"https://example.com/":             "cid_0f115db062b7c0dd030b16878c99dea5c354b49dc37b38eb8846179c7783e9d7",
		"https://example.com/a":            "cid_2dce0a4c50441bfccfa9caf4b58c3cba6e06c420505dd829f0436de1aa44baac",
		"https://example.com/path?a=1&b=2": "cid_94ab2087f4c4ce19d248cfbab9e2b19cc5065e443510f7f37cab7347aaa7df0c",
		"http://example.com/dir":           "cid_95ae74423c47bff8e8db31d8cc04babf7cf6213794495c99d5a76b53f9316bb8",
		"https://example.com/trailing":     "cid_9fdb6f213bdb23a482e31da618010d9f59bfa856ba8780cf32bf16b071746c8f",
	} {
		if got := citation.CID(url); got != want {
			t.Errorf("CID(%q) = %s, want %s", url, got, want)
		}
		if got, err := citation.Normalize(url); got != url || err != nil {
			t.Errorf("Normalize(%q) = %q, %v", url, got, err)
		}
	}
}

func TestCredentials(t *testing.T) {
	for raw, want := range map[string]string{
		"https://user:pw@h.test/x":                     "https://[REDACTED]@h.test/x",
		"https://user@h.test/x":                        "https://[REDACTED]@h.test/x",
		"https:\\\\user:pw@h.test/x":                   "https:\\\\[REDACTED]@h.test/x",
		"https://u:p@p@h.test/x@y":                     "https://[REDACTED]@h.test/x@y",
		"https://user%3Apw%40h.test/x":                 "https://[REDACTED]%40h.test/x",
		"https://h.test/x?a=1&token=s3cret&b=2":        "https://h.test/x?a=1&token=[REDACTED]&b=2",
		"https://h.test/x?Access_Token=s3cret#f":       "https://h.test/x?Access_Token=[REDACTED]#f",
		"https://h.test/x?a=1&amp;apikey=s3cret":       "https://h.test/x?a=1&amp;apikey=[REDACTED]",
		"https://h.test/x?%74oken=s3cret":              "https://h.test/x?%74oken=[REDACTED]",
		"https://h.test/x?session=":                    "https://h.test/x?session=[REDACTED]",
		"- [x](https://u:p@h.test) <https://v@g.test>": "- [x](https://[REDACTED]@h.test) <https://[REDACTED]@g.test>",
	} {
		if got := secret.Mask(raw); got != want {
			t.Errorf("Mask(%q) = %q, want %q", raw, got, want)
		}
		if !strings.HasPrefix(raw, "-") && !citation.HasCredentials(raw) {
			t.Errorf("HasCredentials(%q) = false", raw)
		}
	}
	for _, raw := range []string{
		"https://h.test/x?author=a&keyword=b&monkey=c&session_date=d&tokenizer=e",
		"https://h.test/user@example.com",
		"https://h.test/?q=a@b",
		"https://h.test/#user@x",
		"mail to:a@b.test, see https://h.test/x",
		"https://h.test/token=1/x",
	} {
		if got := secret.Mask(raw); got != raw || citation.HasCredentials(raw) {
			t.Errorf("Mask(%q) = %q, HasCredentials %v", raw, got, citation.HasCredentials(raw))
		}
	}
	// A fragment is never sent, so it makes no source invalid; what is kept is
	// masked all the same.
	raw := "https://h.test/x#access_token=s3cret"
	if citation.HasCredentials(raw) || secret.Mask(raw) != "https://h.test/x#access_token=[REDACTED]" {
		t.Errorf("Mask(%q) = %q, HasCredentials %v", raw, secret.Mask(raw), citation.HasCredentials(raw))
	}
}

func FuzzNormalize(f *testing.F) {
	for _, seed := range []string{
		"https://Example.com:443/path/?b=2&a=1&utm_source=abc#frag", "http://user:pw@[::1]:80//a/../b//?%74oken=1",
		"https:\\\\exämple.com\\ü?x=ü\xff", "http://0x7f.1/%2e%2E/%7e//", "https://a.test/?&=&a&a=&token",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		once, err := citation.Normalize(raw)
		hidden := secret.Mask(raw)
		if again := secret.Mask(hidden); again != hidden {
			t.Errorf("Mask(%q) = %q, and then %q", raw, hidden, again)
		}
		if err != nil {
			return
		}
		twice, err := citation.Normalize(once)
		if err != nil || twice != once {
			t.Errorf("%q is %q, and then %q, %v", raw, once, twice, err)
		}
		if citation.HasCredentials(once) {
			t.Errorf("%q is %q, which has credentials", raw, once)
		}
		if other, err := citation.Normalize(hidden); len(hidden) <= citation.MaxURL && (err != nil || other != once) {
			t.Errorf("%q is %q, masked %q it is %q, %v", raw, once, hidden, other, err)
		}
		if citation.HasCredentials(raw) && !citation.HasCredentials(hidden) {
			t.Errorf("%q has credentials, masked %q it has none", raw, hidden)
		}
	})
}
