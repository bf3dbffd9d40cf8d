package archive_test

import (
	"testing"

	"github.com/tidegate/tidegate/archive"
)

func TestMask(t *testing.T) {
	for url, want := range map[string]string{
		"https://example.org/a?b=c#d":                        "",
		"https://example.org/?author=me&keyword=k":           "",
		"https://example.org/?token=":                        "",
		"https://example.org/@user/a":                        "",
		"https://example.org/?mail=a@b":                      "",
		"/relative?x=1":                                      "",
		"https://user:pw@example.org/a":                      "https://example.org/a",
		"https://user@example.org":                           "https://example.org",
		"https://a@b@example.org/@c":                         "https://example.org/@c",
		"https://a@example.org\\@b/c":                        "https://example.org\\@b/c",
		"//user:pw@example.org/":                             "//example.org/",
		"https://example.org/?a=1&token=abc&b=2#token=x":     "https://example.org/?a=1&token=[REDACTED]&b=2#token=x",
		"https://example.org/?Access_Token=abc":              "https://example.org/?Access_Token=[REDACTED]",
		"https://example.org/?%74oken=abc":                   "https://example.org/?%74oken=[REDACTED]",
		"?password=abc":                                      "?password=[REDACTED]",
		"https://e.org/?api_key=a&apikey=b&auth=c&session=d": "https://e.org/?api_key=[REDACTED]&apikey=[REDACTED]&auth=[REDACTED]&session=[REDACTED]",
	} {
		found := want != ""
		if !found {
			want = url
		}
		got, did := archive.Mask(url)
		if got != want || did != found {
			t.Errorf("Mask(%q) = %q, %v", url, got, did)
		}
		if again, _ := archive.Mask(got); again != got {
			t.Errorf("Mask(%q) = %q, the second time", got, again)
		}
	}
}
