package link_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/text/link"
)

func TestMask(t *testing.T) {
	for text, want := range map[string]string{
		"https://user:pw@h.test/x":                           "https://[REDACTED]@h.test/x",
		"https://user@h.test":                                "https://[REDACTED]@h.test",
		"//user:pw@h.test/":                                  "//[REDACTED]@h.test/",
		`https:\\user:pw@h.test/x`:                           `https:\\[REDACTED]@h.test/x`,
		"https://a@h.test\\@b/c":                             "https://[REDACTED]@h.test\\@b/c",
		"https://u:p@p@h.test/x@y":                           "https://[REDACTED]@h.test/x@y",
		"https://user%3Apw%40h.test/x":                       "https://[REDACTED]%40h.test/x",
		"https://h.test/https://u:p@g.test":                  "https://h.test/https://[REDACTED]@g.test",
		"https://h.test/x?a=1&token=s3cret&b=2":              "https://h.test/x?a=1&token=[REDACTED]&b=2",
		"https://h.test/x?a=1;token=s3cret":                  "https://h.test/x?a=1;token=[REDACTED]",
		"https://h.test/x?token=a;b":                         "https://h.test/x?token=[REDACTED]",
		"https://h.test/x?Access_Token=s3cret#f":             "https://h.test/x?Access_Token=[REDACTED]#f",
		"https://h.test/x?a=1&amp;apikey=s3cret":             "https://h.test/x?a=1&amp;apikey=[REDACTED]",
		"https://h.test/x?%74oken=s3cret":                    "https://h.test/x?%74oken=[REDACTED]",
		"https://h.test/x?session=":                          "https://h.test/x?session=[REDACTED]",
		"?password=abc":                                      "?password=[REDACTED]",
		"- [x](https://u:p@h.test) <https://v@g.test>":       "- [x](https://[REDACTED]@h.test) <https://[REDACTED]@g.test>",
		"https://e.org/?api_key=a&apikey=b&auth=c&session=d": "https://e.org/?api_key=[REDACTED]&apikey=[REDACTED]&auth=[REDACTED]&session=[REDACTED]",
	} {
		if got := link.Mask(text); got != want || link.Mask(got) != got || !link.ShowsCredentials(text) {
			t.Errorf("Mask(%q) = %q, want %q; In %v", text, got, want, link.ShowsCredentials(text))
		}
	}
	for _, text := range []string{
		"", "nothing", "/relative?x=1", "https://h.test/a?b=c#d", "https://h.test/x?author=a&keyword=b&monkey=c&session_date=d&tokenizer=e", "https://h.test/@user/a",
		"https://h.test/user@example.com", "https://h.test/?q=a@b", "https://h.test/#user@x", "mail to:a@b.test, see https://h.test/x", "https://h.test/token=1/x", "<u@h.test>",
	} {
		if got := link.Mask(text); got != text || link.ShowsCredentials(text) {
			t.Errorf("Mask(%q) = %q; In %v", text, got, link.ShowsCredentials(text))
		}
	}
}

// TestWhatIsNeverSent: a fragment stays with the browser, so a credential in it does
// not count; what is kept is still masked.
func TestWhatIsNeverSent(t *testing.T) {
	const text = "https://h.test/x#access_token=s3cret"
	if got := link.Mask(text); link.ShowsCredentials(text) || got != "https://h.test/x#access_token=[REDACTED]" {
		t.Errorf("Mask(%q) = %q; In %v", text, got, link.ShowsCredentials(text))
	}
}

func FuzzMask(f *testing.F) {
	f.Add("//u@h https://u:p@h/?token=a;b&x#auth=1")
	f.Fuzz(checkMask)
}

// checkMask checks what must be true of any text that is masked.
func checkMask(t *testing.T, text string) {
	t.Helper()
	masked := link.Mask(text)
	if again := link.Mask(masked); again != masked {
		t.Errorf("Mask(%q) = %q, and then %q", text, masked, again)
	}
	if link.ShowsCredentials(text) != link.ShowsCredentials(masked) {
		t.Errorf("In(%q) = %v, masked %q it is %v", text, link.ShowsCredentials(text), masked, link.ShowsCredentials(masked))
	}
}

// TestLongTexts would not end if the cost grew faster than the text. However long it
// is, what stands behind it is masked too.
func TestLongTexts(t *testing.T) {
	for _, piece := range []string{"://", "//@", "?token=", "a://b:", "%40", "&", ":", "://u@"} {
		text := strings.Repeat(piece, 1<<20/len(piece)) + " https://ann:hunter2@example.org/\n"
		checkMask(t, text)
		if masked := link.Mask(text); strings.Contains(masked, "hunter2") || !strings.HasSuffix(masked, "@example.org/\n") {
			t.Errorf("after many %q it ends with %q", piece, masked[max(0, len(masked)-60):])
		}
	}
}
