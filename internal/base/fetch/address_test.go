package fetch_test

import (
	"context"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/test/must"
)

// hostile are URLs that lead to where no public page is.
var hostile = []string{
	"http://127.0.0.1/", "http://127.1/", "http://0177.0.0.1/", "http://0x7f.1/", "http://0x7F000001/", "http://2130706433/", "http://017700000001/", "http://0/", "http://0.0.0.0/",
	"http://127.0.0.1./", "http://127.000.000.001/", "http://0x7f.0x0.0x0.0x1/", "http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.0.1/", "http://3232235521/",
	"http://169.254.169.254/", "http://2852039166/", "http://0xa9fea9fe/", "http://100.64.0.1/", "http://100.100.100.200/", "http://192.0.0.192/", "http://198.18.0.1/", "http://224.0.0.1/", "http://255.255.255.255/",
	"http://[::]/", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[::ffff:8.8.8.8]/", "http://[::127.0.0.1]/", "http://[::7f00:1]/",
	"http://[64:ff9b::127.0.0.1]/", "http://[64:ff9b::a9fe:a9fe]/", "http://[64:ff9b:1::1]/", "http://[2002:7f00:1::]/", "http://[2002:a9fe:a9fe::]/", "http://[2001:0:7f00:1::]/", "http://[2001:10::1]/",
	"http://[fc00::1]/", "http://[fd00:ec2::254]/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[2606:4700::1%25eth0]/", "http://[fec0::1]/", "http://[ff02::1]/", "http://[2001:db8::1]/", "http://[3fff::1]/", "http://[100::1]/",
	"http://localhost/", "http://LocalHost/", "http://localhost./", "http://a.b.localhost/", "http://localhost.localdomain/", "http://router.lan/", "http://printer.local/", "http://wiki.internal/", "http://wiki.corp/",
	"http://metadata.google.internal/", "http://metadata/", "http://instance-data/", "http://files.invalid/", "http://a.home.arpa/", "http://hidden.onion/",
	"http://１２７.０.０.１/", "http://127。0。0。1/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "http://loc\u00adalhost/", "http://①②⑦.1/", "http://0x7f。1/", "http://ＬＯＣＡＬＨＯＳＴ/",
	"http://user@127.0.0.1/", "http://example.org@127.0.0.1/", "http://example.org:80@127.0.0.1/", "http://127.0.0.1:80@127.0.0.1/", "http://reader:secret@example.org/",
	"http://example.org:22/", "http://example.org:8080/", "https://example.org:6379/", "http://127.0.0.1:8080/", "http://example.org:65535/",
}

// noURLs cannot be asked for at all.
var noURLs = []string{
	"", "example.org", "//example.org/", "mailto:a@b.example", "javascript:alert(1)", "file:///etc/passwd", "ftp://example.org/", "gopher://example.org/", "http:", "http://", "http:/example.org/", "http:///x", "http:example.org",
	"http://[::1", "http://::1/", "http://[::1]x/", "http://example.org:0/", "http://example.org:99999/", "http://example.org:80a/", "http://exa mple.org/", "http://example..org/", "http://.example.org/", "http://%31%32%37.0.0.1/",
	"http://example.org\\@127.0.0.1/", "http://1.2.3.4.5/", "http://1.2.3.256/", "http://4294967296/", "http://0x100000000/", "http://1..1/", "http://08.1.1.1/", "http://a.b.1/", "http://xn--a/", "http://\u202eexample.org/", "http://example.org/\x00", "http://exam\tple.org/",
	"http://" + strings.Repeat("a", 64) + ".org/", "http://" + strings.Repeat("a.", 130) + "org/",
}

// TestHostileAddressesReachNoSocket asks for every one of them, directly and by
// way of a redirect.
func TestHostileAddressesReachNoSocket(t *testing.T) {
	for _, url := range append(slices.Clone(hostile), noURLs...) {
		want := archive.Refused
		if !slices.Contains(hostile, url) {
			want = archive.Malformed
		}
		w := newSmall(t, nil)
		if c := w.get(t, w.options(), url); c.Kind != want {
			t.Errorf("%q: %s (%s), want %s", url, c.Kind, c.Detail, want)
		}
		if resolved, dialed := w.seen(); len(dialed) > 0 || len(resolved) > 0 {
			t.Errorf("%q: resolved %q, dialled %q", url, resolved, dialed)
		}
	}
	for _, url := range hostile {
		w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", url)
			w.WriteHeader(http.StatusFound)
		})
		c := w.get(t, w.options(), "http://example.org/")
		if c.Kind != archive.Refused || len(c.Hops) != 1 {
			t.Errorf("a redirect to %q: %s (%s)", url, c.Kind, c.Detail)
		}
		if _, dialed := w.seen(); !slices.Equal(dialed, []string{"20.1.2.3:80"}) {
			t.Errorf("a redirect to %q: dialled %q", url, dialed)
		}
	}
}

func TestNamesThatResolveToHostileAddresses(t *testing.T) {
	for _, addrs := range [][]string{
		{"127.0.0.1"}, {"::1"}, {"::ffff:127.0.0.1"}, {"::ffff:169.254.169.254"}, {"169.254.169.254"}, {"64:ff9b::7f00:1"}, {"2002:7f00:1::"}, {"fe80::1%eth0"}, {"fe80::1"}, {"0.0.0.0"}, {"10.9.8.7"}, {"fd00::1"},
		{"20.1.2.3", "127.0.0.1"}, {"2606:4700::1111", "::1"},
	} {
		w := newSmall(t, nil)
		w.addrs["example.org"] = addrs
		if c := w.get(t, w.options(), "https://example.org/"); c.Kind != archive.Refused {
			t.Errorf("%q: %s (%s)", addrs, c.Kind, c.Detail)
		}
		if _, dialed := w.seen(); len(dialed) > 0 {
			t.Errorf("%q: dialled %q", addrs, dialed)
		}
	}
}

// TestRebinding has a name that is public when it is checked and private when it
// is asked for again. It must be asked once for each connection.
func TestRebinding(t *testing.T) {
	w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // the next request needs a connection of its own
		http.Redirect(w, r, "/again", http.StatusFound)
	})
	options := w.options()
	asked := 0
	options.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		if asked++; asked == 1 {
			return []netip.Addr{netip.MustParseAddr("20.1.2.3")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	c := w.get(t, options, "http://rebind.example/")
	if c.Kind != archive.Refused || c.Address != "127.0.0.1:80" || len(c.Hops) != 1 {
		t.Errorf("got %s at %s after %d answers", c.Kind, c.Address, len(c.Hops))
	}
	if _, dialed := w.seen(); asked != 2 || !slices.Equal(dialed, []string{"20.1.2.3:80"}) {
		t.Errorf("asked %d times, dialled %q", asked, dialed)
	}
}

func TestTheAddressThatWasCheckedIsDialled(t *testing.T) {
	w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "xn--kste-0ra.example" {
			t.Errorf("Host is %q", r.Host)
		}
	})
	w.addrs["xn--kste-0ra.example"] = []string{"::ffff:20.4.5.6"}
	c := w.get(t, w.options(), "http://KÜSTE.example./")
	if resolved, dialed := w.seen(); !slices.Equal(resolved, []string{"xn--kste-0ra.example"}) || !slices.Equal(dialed, []string{"20.4.5.6:80"}) {
		t.Errorf("resolved %q, dialled %q", resolved, dialed)
	}
	if c.Kind != archive.Responded || c.Last().Address != "20.4.5.6" || c.Last().URL != "http://xn--kste-0ra.example/" {
		t.Errorf("got %s from %s at %s: %s", c.Kind, c.Last().URL, c.Last().Address, c.Detail)
	}
}

func TestWhatAPersonAllows(t *testing.T) {
	for _, c := range []struct {
		allow, url string
		addr       string // of the name
		want       archive.Kind
	}{
		{"127.0.0.1:8080", "http://127.0.0.1:8080/", "", archive.Responded},
		{"127.0.0.1:8080", "http://127.0.0.1/", "", archive.Refused},
		{"127.0.0.1:8080", "http://127.0.0.1:8081/", "", archive.Refused},
		{"127.0.0.1", "http://127.0.0.1/", "", archive.Responded},
		{"127.0.0.1", "http://0x7f.1/", "", archive.Responded},
		{"127.0.0.1", "http://127.0.0.1:8080/", "", archive.Refused},
		{"127.0.0.1", "http://127.0.0.2/", "", archive.Refused},
		{"[::1]:8080", "http://[::1]:8080/", "", archive.Responded},
		{"::1", "http://[::1]/", "", archive.Responded},
		{"wiki.internal", "http://wiki.internal/", "10.0.0.9", archive.Responded},
		{"Wiki.Internal.", "http://wiki.internal/", "10.0.0.9", archive.Responded},
		{"wiki.internal", "http://other.internal/", "10.0.0.9", archive.Refused},
		{"wiki.internal:8080", "http://wiki.internal:8080/", "10.0.0.9", archive.Responded},
		{"wiki.internal:8080", "http://wiki.internal/", "10.0.0.9", archive.Refused},
		{"10.0.0.0/8", "http://pages.example/", "10.0.0.9", archive.Responded},
		{"10.0.0.0/8", "http://pages.example/", "192.168.0.9", archive.Refused},
		{"10.0.0.0/8", "http://pages.example:8080/", "10.0.0.9", archive.Refused},
		{"10.0.0.0/8", "http://10.1.1.1/", "", archive.Responded},
		{"10.0.0.0/8", "http://wiki.internal/", "10.0.0.9", archive.Refused},
		{"fd00::/8", "http://[fd00::1]/", "", archive.Responded},
		{"pages.example:8080", "http://pages.example:8080/", "20.1.2.3", archive.Responded},
	} {
		w := newSmall(t, func(http.ResponseWriter, *http.Request) {})
		options := w.options()
		var err error
		if options.Allow, err = fetch.ParseAllow([]string{"203.0.113.7", c.allow}); err != nil {
			t.Fatal(err)
		}
		if c.addr != "" {
			for _, name := range []string{"wiki.internal", "other.internal", "pages.example"} {
				w.addrs[name] = []string{c.addr}
			}
		}
		if got := w.get(t, options, c.url); got.Kind != c.want {
			t.Errorf("%s with %s: %s (%s), want %s", c.url, c.allow, got.Kind, got.Detail, c.want)
		}
	}
}

func TestParseAllowRefuses(t *testing.T) {
	for _, entry := range []string{"", " ", "http://example.org", "example.org:", "example.org:http", "example.org:0", "example.org:70000", "10.0.0.0/33", "10.0.0.0/", "*.example.org", "exa mple", "fe80::1%eth0", "a:b:c", "/8"} {
		_, err := fetch.ParseAllow([]string{entry})
		if tidegate.CodeOf(err) != tidegate.InvalidArgs {
			t.Errorf("%q: %v", entry, err)
		}
	}
}

// FuzzTarget looks for a URL that reaches an address that is not public,
// although no name resolves to one.
func FuzzTarget(f *testing.F) {
	for _, url := range append(hostile, noURLs...) {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		w := newSmall(t, func(http.ResponseWriter, *http.Request) {})
		options := w.options()
		client := fetch.New(options)
		defer client.Close()
		c := must.Get(client.Get(t.Context(), url))(t)
		_, dialed := w.seen()
		for _, address := range dialed {
			at := netip.MustParseAddrPort(address)
			if !at.Addr().IsGlobalUnicast() || at.Addr().IsPrivate() || at.Port() != 80 && at.Port() != 443 {
				t.Errorf("%q: dialled %s", url, address)
			}
		}
		if fetch.Fetchable(url) {
			if _, err := archive.Pack(c); err != nil {
				t.Errorf("%q: %v", url, err)
			}
		}
	})
}
