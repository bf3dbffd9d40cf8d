package fetch_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/test/must"
)

// wait lets a handler take its time, as long as somebody waits for it.
func wait(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// inBubble runs a test with a web and time that costs nothing.
func inBubble(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, w *small)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newSmall(t, handler)) })
}

func TestWhatIsSent(t *testing.T) {
	w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s\n", r.Method, r.RequestURI)
		r.Header.Write(w)
	})
	c := w.get(t, w.options(), "http://example.org/a b/ü?q=ä b&x=\"#part")
	want := "GET /a%20b/%C3%BC?q=%C3%A4%20b&x=%22\nAccept: text/html,application/xhtml+xml,application/pdf,text/plain;q=0.9,*/*;q=0.5\r\nAccept-Encoding: gzip\r\nUser-Agent: " + fetch.UserAgent + "\r\n"
	if got := string(c.Last().Body); got != want {
		t.Errorf("sent\n%s\nwant\n%s", got, want)
	}
	if got := c.Last().URL; got != "http://example.org/a%20b/%C3%BC?q=%C3%A4%20b&x=%22" {
		t.Errorf("the hop is of %s", got)
	}
}

func TestRetries(t *testing.T) {
	for _, c := range []struct {
		name   string
		after  []string      // Retry-After of each answer; "-" for none
		asked  int           // how often the page is asked for
		waited time.Duration // in all
		status int
	}{
		{"no time given", []string{"-", "-", "-", "-"}, 3, 3 * time.Second, 429}, // 1 s, then 2 s, at a jitter of a half
		{"a second", []string{"1", "1", "1"}, 3, 2 * time.Second, 429},
		{"ten seconds", []string{"10", "10"}, 3, 20 * time.Second, 200},
		{"eleven seconds", []string{"11"}, 1, 0, 429},
		{"an hour, the second time", []string{"1", "3600"}, 2, time.Second, 429},
		{"at once", []string{"0"}, 2, 0, 200},
		{"garbage", []string{"soon"}, 2, time.Second, 200},
		{"a negative time", []string{"-5"}, 2, time.Second, 200},
		{"a date", []string{noon.Add(4 * time.Second).Format(http.TimeFormat)}, 2, 4 * time.Second, 200},
		{"a date in the past", []string{noon.Add(-time.Hour).Format(http.TimeFormat)}, 2, 0, 200},
		{"a date next year", []string{noon.AddDate(1, 0, 0).Format(http.TimeFormat)}, 1, 0, 429},
	} {
		for _, busy := range []int{429, 503} {
			t.Run(fmt.Sprint(c.name, " ", busy), func(t *testing.T) {
				asked := 0
				inBubble(t, func(w http.ResponseWriter, r *http.Request) {
					if asked++; asked > len(c.after) {
						return
					}
					if after := c.after[asked-1]; after != "-" {
						w.Header().Set("Retry-After", after)
					}
					w.WriteHeader(busy)
				}, func(t *testing.T, w *small) {
					start := time.Now()
					got := w.get(t, w.options(), "http://example.org/")
					want := c.status
					if want == 429 {
						want = busy
					}
					if asked != c.asked || time.Since(start) != c.waited || got.Last().Status != want || len(got.Hops) != asked {
						t.Errorf("asked %d times in %v, got %d after %d answers", asked, time.Since(start), got.Last().Status, len(got.Hops))
					}
				})
			})
		}
	}
}

func TestOtherStatusesAreNotRepeated(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 408, 425, 500, 502, 504} {
		asked := 0
		w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
			asked++
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(status)
		})
		if c := w.get(t, w.options(), "http://example.org/"); asked != 1 || c.Last().Status != status {
			t.Errorf("%d: asked %d times", status, asked)
		}
	}
}

// TestTheDeadlineIsForTheWholeExchange has servers that always do a little, in
// every place where that is possible.
func TestTheDeadlineIsForTheWholeExchange(t *testing.T) {
	drip := func(w http.ResponseWriter, r *http.Request) {
		for wait(r, time.Second) {
			fmt.Fprint(w, "x")
			w.(http.Flusher).Flush()
		}
	}
	for name, handler := range map[string]http.HandlerFunc{
		"a body": drip,
		"a header": func(w http.ResponseWriter, r *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			defer conn.Close()
			for {
				if _, err := io.WriteString(conn, "H"); err != nil {
					return
				}
				conn.SetReadDeadline(time.Now().Add(time.Second))
				conn.Read(make([]byte, 1))
			}
		},
		"interim answers": func(w http.ResponseWriter, r *http.Request) {
			for wait(r, time.Second) {
				w.WriteHeader(http.StatusEarlyHints)
			}
		},
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			wait(r, 11*time.Second)
			http.Redirect(w, r, "/next", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, handler, func(t *testing.T, w *small) {
				start := time.Now()
				c := w.get(t, w.options(), "http://example.org/")
				if took := time.Since(start); c.Kind != archive.TimedOut && c.Kind != archive.Broken || took > 30*time.Second {
					t.Errorf("%s (%s) after %v", c.Kind, c.Detail, took)
				}
				synctest.Wait()
			})
		})
	}
}

func TestWaitingForTheNameAndTheConnectionEnds(t *testing.T) {
	hang := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}
	for name, change := range map[string]func(*fetch.Options){
		"name": func(o *fetch.Options) {
			o.Resolve = func(ctx context.Context, _ string) ([]netip.Addr, error) { return nil, hang(ctx) }
		},
		"connection": func(o *fetch.Options) {
			o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { return nil, hang(ctx) }
		},
	} {
		inBubble(t, nil, func(t *testing.T, w *small) {
			options := w.options()
			change(&options)
			start := time.Now()
			c := w.get(t, options, "http://example.org/")
			if c.Kind != archive.TimedOut || time.Since(start) > 30*time.Second {
				t.Errorf("%s: %s (%s) after %v", name, c.Kind, c.Detail, time.Since(start))
			}
		})
	}
}

func TestEveryAddressOfANameIsTried(t *testing.T) {
	w := newSmall(t, func(http.ResponseWriter, *http.Request) {})
	w.addrs["example.org"] = []string{"2606:4700::1", "20.0.0.1", "20.0.0.2"}
	options := w.options()
	options.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != "20.0.0.2:80" {
			return nil, errors.New("network is unreachable")
		}
		return w.dial(ctx, network, address)
	}
	if c := w.get(t, options, "http://example.org/"); c.Kind != archive.Responded || c.Last().Address != "20.0.0.2" {
		t.Errorf("%s by %s: %s", c.Kind, c.Last().Address, c.Detail)
	}
}

func TestNamesThatCannotBeResolved(t *testing.T) {
	for want, err := range map[archive.Kind]error{
		archive.NoSuchName:  &net.DNSError{Err: "no such host", IsNotFound: true},
		archive.Unreachable: &net.DNSError{Err: "server misbehaving", IsTemporary: true},
	} {
		w := newSmall(t, nil)
		options := w.options()
		options.Resolve = func(context.Context, string) ([]netip.Addr, error) { return nil, err }
		if c := w.get(t, options, "http://example.org/"); c.Kind != want {
			t.Errorf("%v: %s", err, c.Kind)
		}
	}
}

// TestABombCostsNoMoreThanTheLimit counts what is allocated for a body that
// never ends.
func TestABombCostsNoMoreThanTheLimit(t *testing.T) {
	w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		block := make([]byte, 1<<20)
		for {
			if _, err := zip.Write(block); err != nil {
				return
			}
		}
	})
	options := w.options()
	options.Limits.MaxBody = 3 << 20
	c := w.get(t, options, "http://example.org/")
	if hop := c.Last(); c.Kind != archive.Responded || len(hop.Body) != 3<<20 || hop.Truncated != "length" || hop.Get("X-Orig-Content-Encoding") != "gzip" {
		t.Errorf("%s: %d bytes, truncated %q", c.Kind, len(hop.Body), hop.Truncated)
	}
	if size := cap(c.Last().Body); size > 4<<20 {
		t.Errorf("%d bytes of memory for a body of %d", size, len(c.Last().Body))
	}
}

func TestABodyOfExactlyTheLimitIsWhole(t *testing.T) {
	for _, size := range []int{0, 1, 8191, 8192, 8193, 99_999, 100_000, 100_001} {
		w := newSmall(t, func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, size)) })
		options := w.options()
		options.Limits.MaxBody = 100_000
		hop := w.get(t, options, "http://example.org/").Last()
		if len(hop.Body) != min(size, 100_000) || (hop.Truncated == "length") != (size > 100_000) {
			t.Errorf("%d bytes: got %d, truncated %q", size, len(hop.Body), hop.Truncated)
		}
	}
}

func TestTheHeaderFitsTheBodyThatIsKept(t *testing.T) {
	text := strings.Repeat("text ", 1000)
	w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/gzip":
			var out bytes.Buffer
			zip := gzip.NewWriter(&out)
			io.WriteString(zip, text)
			zip.Close()
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(out.Bytes())
		case "/chunked":
			io.WriteString(w, text[:10])
			w.(http.Flusher).Flush()
			io.WriteString(w, text[10:])
		default:
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			io.WriteString(w, text)
		}
	})
	for _, path := range []string{"/plain", "/gzip", "/chunked"} {
		hop := w.get(t, w.options(), "http://example.org"+path).Last()
		if string(hop.Body) != text || hop.Get("Transfer-Encoding")+hop.Get("Content-Encoding") != "" {
			t.Errorf("%s: %d bytes, header %v", path, len(hop.Body), hop.Header)
		}
		if given := hop.Get("Content-Length"); given != "" && given != fmt.Sprint(len(text)) {
			t.Errorf("%s: Content-Length is %s", path, given)
		}
		if !slices.IsSortedFunc(hop.Header, func(a, b archive.Field) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%s: the header is in no order: %v", path, hop.Header)
		}
	}
}

func TestRedirects(t *testing.T) {
	w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
		var n int
		fmt.Sscanf(r.URL.Path, "/%d", &n)
		if n == 0 {
			fmt.Fprint(w, "here")
			return
		}
		status := []int{301, 302, 303, 307, 308}[n%5]
		w.Header().Set("Location", []string{fmt.Sprintf("/%d#x", n-1), fmt.Sprintf("http://other.example/%d", n-1), fmt.Sprintf("//third.example/%d", n-1)}[n%3])
		w.WriteHeader(status)
		fmt.Fprint(w, strings.Repeat("moved ", 100_000))
	})
	c := w.get(t, w.options(), "http://example.org/5")
	if c.Kind != archive.Responded || len(c.Hops) != 6 || string(c.Last().Body) != "here" {
		t.Errorf("five redirects: %s (%s) after %d answers", c.Kind, c.Detail, len(c.Hops))
	}
	for _, hop := range c.Hops[:5] {
		if len(hop.Body) > 64<<10 || hop.Truncated != "length" {
			t.Errorf("%s: %d bytes of a redirect are kept, truncated %q", hop.URL, len(hop.Body), hop.Truncated)
		}
	}
	c = w.get(t, w.options(), "http://example.org/6")
	if c.Kind != archive.Redirects || len(c.Hops) != 6 {
		t.Errorf("six redirects: %s (%s) after %d answers", c.Kind, c.Detail, len(c.Hops))
	}
}

func TestARedirectThatLeadsNowhere(t *testing.T) {
	for location, want := range map[string]archive.Kind{
		"":                     archive.Responded, // it is then the answer
		"http://[broken":       archive.Malformed,
		"mailto:a@example.org": archive.Malformed,
		"http://exa mple/":     archive.Malformed,
	} {
		w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
			if location != "" {
				w.Header().Set("Location", location)
			}
			w.WriteHeader(302)
		})
		if c := w.get(t, w.options(), "http://example.org/"); c.Kind != want {
			t.Errorf("%q: %s (%s)", location, c.Kind, c.Detail)
		}
	}
}

// TestSecretsStayWithTheirHost follows a chain of hosts that set cookies and put
// secrets into URLs, and looks for them where they must not be.
func TestSecretsStayWithTheirHost(t *testing.T) {
	var mu sync.Mutex
	cookies := map[string]string{}
	w := newSmall(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		cookies[r.Host+r.URL.Path] = r.Header.Get("Cookie")
		http.SetCookie(w, &http.Cookie{Name: "id", Value: "hush-" + r.Host, Domain: "example.org", Path: "/"})
		w.Header().Set("X-Auth-Token", "hush")
		w.Header().Set("Refresh", "5; url=http://example.org/?token=hush")
		switch r.Host + r.URL.Path {
		case "a.example.org/1":
			w.Header().Set("Location", "/2")
		case "a.example.org/2":
			w.Header().Set("Location", "http://b.example.org/3?session=hush&page=2")
		case "b.example.org/3":
			if r.URL.Query().Get("session") != "hush" {
				t.Errorf("the redirect was followed to %s", r.URL)
			}
			w.Header().Set("Location", "http://a.example.org/4")
		default:
			return
		}
		w.WriteHeader(302)
	})
	c := w.get(t, w.options(), "http://a.example.org/1")
	if c.Kind != archive.Responded || len(c.Hops) != 4 {
		t.Fatalf("%s (%s) after %d answers", c.Kind, c.Detail, len(c.Hops))
	}
	want := map[string]string{"a.example.org/1": "", "a.example.org/2": "id=hush-a.example.org", "b.example.org/3": "", "a.example.org/4": "id=hush-a.example.org"}
	for page, cookie := range want {
		if cookies[page] != cookie {
			t.Errorf("%s got the cookie %q, want %q", page, cookies[page], cookie)
		}
	}
	if all := fmt.Sprintf("%+v", c); strings.Contains(all, "hush") {
		t.Errorf("a secret is kept: %s", all)
	}
	if got := c.Hops[2].URL; got != "http://b.example.org/3?session=[REDACTED]&page=2" {
		t.Errorf("the third page is kept as %s", got)
	}
	// Another fetch begins without cookies.
	w.get(t, w.options(), "http://a.example.org/4")
	if cookies["a.example.org/4"] != "" {
		t.Errorf("another fetch sends the cookie %q", cookies["a.example.org/4"])
	}
}

// TestPoliteness watches how many requests one host and the whole web get at
// once, and how far apart they are.
func TestPoliteness(t *testing.T) {
	var mu sync.Mutex
	now, most := map[string]int{}, map[string]int{}
	began := map[string][]time.Time{}
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		count := func(d int) {
			mu.Lock()
			defer mu.Unlock()
			for _, name := range []string{r.Host, "all"} {
				now[name] += d
				most[name] = max(most[name], now[name])
			}
			if d > 0 {
				began[r.Host] = append(began[r.Host], time.Now())
			}
		}
		count(1)
		wait(r, time.Second)
		count(-1)
	}, func(t *testing.T, w *small) {
		options := w.options()
		options.Limits = fetch.DefaultLimits
		client := fetch.New(options)
		defer client.Close()
		var urls []string
		for i := range 20 {
			urls = append(urls, fmt.Sprintf("http://busy.example/%d", i))
		}
		for i := range 40 {
			urls = append(urls, fmt.Sprintf("http://h%d.example/", i))
		}
		kept := 0
		start := time.Now()
		if err := client.Each(t.Context(), urls, func(batch []*archive.Packed) error { kept += len(batch); return nil }, nil); err != nil || kept != len(urls) {
			t.Fatalf("%d of %d pages: %v", kept, len(urls), err)
		}
		if most["busy.example"] > fetch.DefaultLimits.PerHost || most["all"] > fetch.DefaultLimits.Parallel || most["all"] < 3 {
			t.Errorf("at once %d to one host, %d in all", most["busy.example"], most["all"])
		}
		times := began["busy.example"]
		slices.SortFunc(times, time.Time.Compare)
		for i := 1; i < len(times); i++ {
			if gap := times[i].Sub(times[i-1]); gap < fetch.DefaultLimits.Spacing {
				t.Errorf("two requests to one host are %v apart", gap)
			}
		}
		// 20 pages of one host, two at a time, take ten seconds, and 40 others five: nobody waits for a host that is busy.
		if took := time.Since(start); took > 16*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestABusyHostIsLeftAlone(t *testing.T) {
	var mu sync.Mutex
	var times []time.Time
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		times = append(times, time.Now())
		if len(times) == 1 {
			w.Header().Set("Retry-After", "8")
			w.WriteHeader(429)
		}
	}, func(t *testing.T, w *small) {
		options := w.options()
		options.Limits.PerHost = 1
		client := fetch.New(options)
		defer client.Close()
		must.Do(t, client.Each(t.Context(), []string{"http://a.example/1", "http://a.example/2", "http://a.example/3"}, func([]*archive.Packed) error { return nil }, nil))
		for _, at := range times[1:] {
			if at.Sub(times[0]) < 8*time.Second {
				t.Errorf("the host was asked again after %v", at.Sub(times[0]))
			}
		}
		if len(times) != 4 {
			t.Errorf("%d requests", len(times))
		}
	})
}

// TestStoppingKeepsWhatIsThere ends a call after some pages.
func TestStoppingKeepsWhatIsThere(t *testing.T) {
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Host, "slow") {
			<-r.Context().Done()
		}
	}, func(t *testing.T, w *small) {
		client := fetch.New(w.options())
		defer client.Close()
		ctx, cancel := context.WithCancel(t.Context())
		var kept []string
		urls := []string{"http://slow1.example/", "http://a.example/", "http://b.example/", "http://slow2.example/"}
		err := client.Each(ctx, urls, func(batch []*archive.Packed) error {
			for _, packed := range batch {
				kept = append(kept, packed.Entry().URL)
			}
			if len(kept) == 2 {
				cancel()
			}
			return nil
		}, nil)
		slices.Sort(kept)
		if !errors.Is(err, context.Canceled) || !slices.Equal(kept, urls[1:3]) {
			t.Errorf("kept %q: %v", kept, err)
		}
		if _, err := client.Get(ctx, urls[0]); !errors.Is(err, context.Canceled) {
			t.Errorf("a single page: %v", err)
		}
	})
}

func TestWhatCannotBeKeptEndsTheCall(t *testing.T) {
	inBubble(t, func(http.ResponseWriter, *http.Request) {}, func(t *testing.T, w *small) {
		client := fetch.New(w.options())
		defer client.Close()
		full := errors.New("the disk is full")
		calls := 0
		var urls []string
		for i := range 50 {
			urls = append(urls, fmt.Sprintf("http://h%d.example/", i))
		}
		err := client.Each(t.Context(), urls, func([]*archive.Packed) error { calls++; return full }, nil)
		if !errors.Is(err, full) || calls != 1 {
			t.Errorf("%v after %d calls", err, calls)
		}
	})
}

// TestSlowKeepingHoldsUpFetching makes the disk slow: fetching waits for it.
func TestSlowKeepingHoldsUpFetching(t *testing.T) {
	var mu sync.Mutex
	asked, kept, most := 0, 0, 0
	inBubble(t, func(http.ResponseWriter, *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked++
		most = max(most, asked-kept)
	}, func(t *testing.T, w *small) {
		options := w.options()
		options.Limits.Parallel = 3
		client := fetch.New(options)
		defer client.Close()
		var urls []string
		for i := range 300 {
			urls = append(urls, fmt.Sprintf("http://h%d.example/", i))
		}
		err := client.Each(t.Context(), urls, func(batch []*archive.Packed) error {
			<-time.After(time.Second)
			mu.Lock()
			defer mu.Unlock()
			kept += len(batch)
			return nil
		}, nil)
		if err != nil || kept != 300 {
			t.Fatalf("kept %d: %v", kept, err)
		}
		if most > 3+32+32 { // under way, waiting, and being kept
			t.Errorf("%d pages were fetched and not kept", most)
		}
	})
}

func TestProgressNamesWhatIsSlow(t *testing.T) {
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "slow.example" {
			wait(r, 10*time.Second)
		}
	}, func(t *testing.T, w *small) {
		client := fetch.New(w.options())
		defer client.Close()
		var heard []string
		must.Do(t, client.Each(t.Context(), []string{"http://slow.example/", "http://a.example/", "http://a.example/", "http://u:p@b.example/"},
			func([]*archive.Packed) error { return nil },
			func(p fetch.Progress) {
				heard = append(heard, fmt.Sprintf("%d/%d %s %v", p.Done, p.Total, p.Slow, p.For))
			}))
		for _, want := range []string{"1/2  0s", "1/2 http://slow.example/ 3s", "1/2 http://slow.example/ 9s", "2/2  0s"} {
			if !slices.Contains(heard, want) {
				t.Errorf("nobody heard %q: %q", want, heard)
			}
		}
	})
}

func TestLargeBodiesAreFewAtOnce(t *testing.T) {
	var mu sync.Mutex
	open, most := 0, 0
	inBubble(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write(make([]byte, 3<<20/2))
		w.(http.Flusher).Flush()
		mu.Lock() // the client has taken more than a small body
		open++
		most = max(most, open)
		mu.Unlock()
		wait(r, time.Second)
		mu.Lock()
		open--
		mu.Unlock()
		w.Write(make([]byte, 1<<20))
	}, func(t *testing.T, w *small) {
		client := fetch.New(w.options())
		defer client.Close()
		var urls []string
		for i := range 12 {
			urls = append(urls, fmt.Sprintf("http://h%d.example/", i))
		}
		err := client.Each(t.Context(), urls, func(batch []*archive.Packed) error {
			for _, packed := range batch {
				if entry := packed.Entry(); entry.Kind != archive.Responded || entry.Truncated != "" {
					t.Errorf("%s: %s %s", entry.URL, entry.Kind, entry.Truncated)
				}
			}
			return nil
		}, nil)
		if err != nil || most > 2 {
			t.Errorf("%d large bodies at once: %v", most, err)
		}
	})
}
