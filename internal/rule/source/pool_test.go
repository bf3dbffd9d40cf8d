package source_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/must"
)

// every wants all URLs.
func every(string) bool { return true }

func readPool(t testing.TB, lines ...string) *source.Pool {
	t.Helper()
	pool := must.Get(source.ReadPool(t.Context(), strings.NewReader(strings.Join(lines, "\n")), "/pool", every))(t)
	return pool
}

// starred lists the ids that may be cited, in byte order, with a star after the
// paywalled ones.
func starred(p *source.Pool) []string {
	cids := []string{}
	for _, cid := range p.CIDs() {
		if p.Paywalled(cid) {
			cid += "*"
		}
		cids = append(cids, cid)
	}
	return cids
}

func TestPoolHoldsValidAndPaywalledIDs(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"empty file", "", []string{}},
		{"every status", `{"cid":"a","status":"valid"}
{"cid":"b","status":"paywalled"}
{"cid":"c","status":"blocked"}
{"cid":"d","status":"mismatch"}
{"cid":"e","status":"invalid"}
{"cid":"f","status":"Valid"}
{"cid":"g","status":" valid"}
`, []string{"a", "b*"}},
		{"one line that qualifies is enough", `{"cid":"a","status":"invalid"}
{"cid":"a","status":"valid"}
{"cid":"a","status":"blocked"}`, []string{"a"}},
		{"valid goes before paywalled, in any order", `{"cid":"a","status":"paywalled"}
{"cid":"a","status":"valid"}
{"cid":"b","status":"valid"}
{"cid":"b","status":"paywalled"}`, []string{"a", "b"}},
		{"lines without a string in both", `{"cid":"a"}
{"status":"valid"}
{"cid":1,"status":"valid","url":3}
{"cid":"b","status":null}
[]
"valid"
{}`, []string{}},
		{"blank ids", `{"cid":"","status":"valid"}
{"cid":" \t","status":"valid"}`, []string{}},
		{"ids are compared as they are", `{"cid":" a","status":"valid"}
{"cid":"A","status":"valid"}
{"cid":"a","status":"valid"}`, []string{" a", "A", "a"}},
		{"blank lines, CRLF and a byte-order mark", "\ufeff{\"cid\":\"a\",\"status\":\"valid\"}\r\n\r\n  \n{\"cid\":\"b\",\"status\":\"valid\"}", []string{"a", "b"}},
		{"unknown fields and null", `{"cid":"a","status":"valid","more":[1],"title":null,"http_status":null,"notes":null}`, []string{"a"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, starred(readPool(t, test.text))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPoolNamesTheLineThatIsWrong(t *testing.T) {
	good := `{"cid":"a","status":"valid"}` + "\n"
	tests := []struct {
		name, text, message string
		code                tidegate.Code
		details             tidegate.Details
	}{
		{"no JSON", good + "\nnot json\n" + good, "pool is not JSON: line 3, column 2: ", tidegate.InvalidJSON, tidegate.Pairs("citations_path", "/pool", "line_number", 3)},
		{"cut off", good + `{"cid":"b","sta`, "pool is not JSON: line 2", tidegate.InvalidJSON, tidegate.Pairs("citations_path", "/pool", "line_number", 2)},
		{"duplicate key", `{"cid":"a","cid":"b"}`, "pool is not JSON: line 1", tidegate.InvalidJSON, tidegate.Pairs("citations_path", "/pool", "line_number", 1)},
		{"two on one line", good + `{} {}`, "pool is not JSON: line 2", tidegate.InvalidJSON, tidegate.Pairs("citations_path", "/pool", "line_number", 2)},
		{"no UTF-8", "{\"cid\":\"\xff\"}", "pool is not JSON: line 1", tidegate.InvalidJSON, tidegate.Pairs("citations_path", "/pool", "line_number", 1)},
		{"wrong type", good + `{"cid":"b","status":"valid","url":3}`, "$.url in line 2 must be of type string, got number", tidegate.SchemaValidationFailed,
			tidegate.Pairs("path", "$.url", "citations_path", "/pool", "line_number", 2)},
		{"wrong type of a list", `{"cid":"b","status":"invalid","found_by":{}}`, "$.found_by in line 1 must be of type array", tidegate.SchemaValidationFailed,
			tidegate.Pairs("path", "$.found_by", "citations_path", "/pool", "line_number", 1)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := source.ReadPool(t.Context(), strings.NewReader(test.text), "/pool", nil)
			e := tidegate.AsError(err)
			if e == nil || e.Code != test.code || !strings.HasPrefix(e.Message, test.message) {
				t.Fatalf("got %v, want %s: %s", err, test.code, test.message)
			}
			if diff := cmp.Diff(test.details, e.Details); diff != "" {
				t.Errorf("details (-want +got):\n%s", diff)
			}
		})
	}
	broken := errors.New("broken")
	if _, err := source.ReadPool(t.Context(), iotest.ErrReader(broken), "/pool", nil); tidegate.CodeOf(err) != tidegate.ReadFailed || !errors.Is(err, broken) {
		t.Errorf("a reader that fails: got %v", err)
	}
}

func TestPoolMapsURLs(t *testing.T) {
	pool := readPool(t,
		`{"cid":"a","status":"valid","normalized_url":"https://x.org/a","url":"https://x.org/a-asked","url_original":"https://X.org/a/?utm_source=1"}`,
		`{"cid":"b","status":"paywalled","normalized_url":"https://x.org/b","url":"https://x.org/redacted","url_original":"https://x.org/a"}`,
		`{"cid":"c","status":"valid","normalized_url":"https://x.org/c","url":"https://x.org/redacted"}`,
		`{"cid":"d","status":"invalid","normalized_url":"https://x.org/d"}`,
		`{"cid":"e]","status":"valid","normalized_url":"https://x.org/e"}`,
		`{"cid":"www.f.org","status":"valid","normalized_url":"https://x.org/f"}`,
		`{"cid":"g","status":"valid","normalized_url":"http://www.g.org/"}`,
		`{"cid":"h","status":"valid","normalized_url":"https://www.h.org/"}`,
		`{"cid":"i","status":"valid","normalized_url":"http://www.h.org/"}`,
		`{"cid":"j","status":"valid","normalized_url":null,"url":"ftp://x.org/j"}`,
	)
	for url, want := range map[string]string{
		"https://x.org/a":                "a", // normalized_url of a goes before url_original of b
		"https://x.org/a-asked":          "a",
		"HTTPS://X.ORG/a/?utm_medium=2#": "a",
		"https://x.org/b":                "b",
		"https://x.org/redacted":         "", // two claim it
		"https://x.org/c":                "c",
		"https://x.org/d":                "", // not validated
		"https://x.org/e":                "", // cannot be cited
		"https://x.org/f":                "", // likewise
		"www.g.org":                      "g",
		"www.h.org":                      "", // two claim it
		"https://www.h.org":              "h",
		"ftp://x.org/j":                  "j",
		"https://x.org/unknown":          "",
	} {
		if got := pool.CIDOf(url); got != want {
			t.Errorf("%s is mapped to %q, want %q", url, got, want)
		}
	}
}

func TestPoolStopsWithItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source.ReadPool(ctx, strings.NewReader(`{"cid":"a","status":"valid"}`), "/pool", nil); tidegate.CodeOf(err) != tidegate.Cancelled {
		t.Errorf("got %v", err)
	}
}

// million writes lines of a pool with ids of the usual length.
func million(n int) io.Reader {
	r, w := io.Pipe()
	go func() {
		out := bufio.NewWriter(w)
		for i := range n {
			fmt.Fprintf(out, `{"schema_version":"citation.v1","normalized_url":"https://example.org/%d","cid":"cid_%064x","url":"https://example.org/%d","url_original":"https://example.org/%d","status":"valid","checked_at":"2026-01-01T00:00:00Z","found_by":[{"wave":1,"perspective_id":"p1","agent_type":"unknown","artifact_path":"wave-1/p1.md"}],"notes":"ok","http_status":200,"title":"A page"}`+"\n", i, i, i, i)
		}
		out.Flush()
		w.Close()
	}()
	return r
}

func TestPoolCostsMemoryInProportionToItsIDs(t *testing.T) {
	const lines = 50_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	pool := must.Get(source.ReadPool(t.Context(), million(lines), "/pool", nil))(t)
	runtime.GC()
	runtime.ReadMemStats(&after)
	perID := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / lines
	t.Logf("%d bytes for each id", perID)
	if perID > 256 {
		t.Errorf("%d bytes for each id, want at most 256", perID)
	}
	if !pool.Has(fmt.Sprintf("cid_%064x", lines-1)) || pool.Has(fmt.Sprintf("cid_%064x", lines)) {
		t.Error("the pool does not hold what was read")
	}
}

func TestPoolHoldsIDsOfAnyLength(t *testing.T) {
	var lines []string
	want := map[string]bool{}
	for _, n := range []int{1, 127, 128, 1 << 19, 1<<20 - 10, 1 << 20, 3 << 20, 2} {
		cid := strings.Repeat("x", n)
		want[cid] = true
		lines = append(lines, `{"cid":"`+cid+`","status":"valid"}`)
	}
	pool := readPool(t, lines...)
	for cid := range want {
		if !pool.Has(cid) || pool.Has(cid+"y") {
			t.Errorf("an id of %d bytes is not held as it is", len(cid))
		}
	}
	if got := len(pool.CIDs()); got != len(want) {
		t.Errorf("%d ids, want %d", got, len(want))
	}
}

// FuzzPool: the pool is what a plain reading of its lines gives, or the first
// line that is wrong is named.
func FuzzPool(f *testing.F) {
	f.Add(`{"cid":"a","status":"valid"}` + "\n\n" + `{"cid":"b","status":"paywalled","url":"https://x"}`)
	f.Add(`{"cid":"a","status":"valid","found_by":1}`)
	f.Add("{\n}\n[]\n\ufeff")
	f.Fuzz(func(t *testing.T, text string) {
		want, wantLine := plainPool(text)
		pool, err := source.ReadPool(t.Context(), strings.NewReader(text), "/pool", every)
		if err != nil {
			line, _ := tidegate.AsError(err).Details.Get("line_number")
			if line != wantLine {
				t.Fatalf("got %v, want a fault in line %d", err, wantLine)
			}
			return
		}
		if wantLine != 0 {
			t.Fatalf("no fault, want one in line %d", wantLine)
		}
		if diff := cmp.Diff(want, starred(pool)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// plainPool reads a pool with the means of codec: the ids, or the number of the
// first line that is wrong.
func plainPool(text string) (cids []string, wrong int) {
	shape := source.Shape().Using()
	found := map[string]bool{} // true when a line says valid
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		v, err := codec.Parse([]byte(line))
		if err != nil || strings.HasPrefix(line, "\ufeff") {
			return nil, i + 1
		}
		cid, status := v.Get("cid"), v.Get("status")
		if cid.Kind() != codec.String || status.Kind() != codec.String || strings.TrimSpace(cid.Str()) == "" {
			continue
		}
		withoutNull := v.Clone()
		for _, m := range v.Members() {
			if m.Value.Kind() == codec.Null || m.Key == "found_by" && m.Value.Kind() == codec.Array {
				withoutNull.Delete(m.Key)
			}
		}
		if shape.Check(withoutNull) != nil {
			return nil, i + 1
		}
		if s := status.Str(); s == "valid" || s == "paywalled" {
			found[cid.Str()] = found[cid.Str()] || s == "valid"
		}
	}
	cids = []string{}
	for cid := range found {
		cids = append(cids, cid)
	}
	slices.Sort(cids)
	for i, cid := range cids {
		if !found[cid] {
			cids[i] += "*"
		}
	}
	return cids, 0
}
