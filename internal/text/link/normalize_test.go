package link_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/link"
)

const maxURL = 2048 // bytes, of a source

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
		got, err := link.Normalize(raw)
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
		long(maxURL + 1):                       "2049 bytes",
		long(maxURL-2) + "\u00fc":              "normalised URL has 2052 bytes",
		"https://u:secret@" + "a b.test/" + "": "not a URL",
	} {
		got, err := link.Normalize(raw)
		if tidegate.CodeOf(err) != tidegate.SchemaValidationFailed || !strings.Contains(err.Error(), want) {
			t.Errorf("Normalize(%q) = %q, %v, want an error with %q", tidegate.Cut(raw), got, err, want)
		}
		if details := tidegate.AsError(err).Details; strings.Contains(details[0].Value.(string), "secret") {
			t.Errorf("Normalize(%q) shows the password: %v", raw, details)
		}
	}
	if got, err := link.Normalize(long(maxURL)); err != nil || len(got) != maxURL {
		t.Errorf("a URL of %d bytes: %d bytes, %v", maxURL, len(got), err)
	}
}

// long is a URL of n bytes.
func long(n int) string { return "https://a.test/" + strings.Repeat("x", n-len("https://a.test/")) }

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
		if got := link.Mask(raw); got != want {
			t.Errorf("Mask(%q) = %q, want %q", raw, got, want)
		}
		if !strings.HasPrefix(raw, "-") && !link.HasCredentials(raw) {
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
		if got := link.Mask(raw); got != raw || link.HasCredentials(raw) {
			t.Errorf("Mask(%q) = %q, HasCredentials %v", raw, got, link.HasCredentials(raw))
		}
	}
	// A fragment is never sent, so it makes no source invalid; what is kept is
	// masked all the same.
	raw := "https://h.test/x#access_token=s3cret"
	if link.HasCredentials(raw) || link.Mask(raw) != "https://h.test/x#access_token=[REDACTED]" {
		t.Errorf("Mask(%q) = %q, HasCredentials %v", raw, link.Mask(raw), link.HasCredentials(raw))
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
		once, err := link.Normalize(raw)
		hidden := link.Mask(raw)
		if again := link.Mask(hidden); again != hidden {
			t.Errorf("Mask(%q) = %q, and then %q", raw, hidden, again)
		}
		if err != nil {
			return
		}
		twice, err := link.Normalize(once)
		if err != nil || twice != once {
			t.Errorf("%q is %q, and then %q, %v", raw, once, twice, err)
		}
		if link.HasCredentials(once) {
			t.Errorf("%q is %q, which has credentials", raw, once)
		}
		if other, err := link.Normalize(hidden); len(hidden) <= maxURL && (err != nil || other != once) {
			t.Errorf("%q is %q, masked %q it is %q, %v", raw, once, hidden, other, err)
		}
		if link.HasCredentials(raw) && !link.HasCredentials(hidden) {
			t.Errorf("%q has credentials, masked %q it has none", raw, hidden)
		}
	})
}
