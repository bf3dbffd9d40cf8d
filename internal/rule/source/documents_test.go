package source_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/source"
)

func TestArtifacts(t *testing.T) {
	var found []source.Found
	for wave, perspective := range []string{"b", "a"} {
		for _, c := range source.Extract([]byte("# Sources\n- T https://u:s3cret@z.test/ and https://a.test/x/\n- https://a.test/x\n- https://\n")) {
			found = append(found, source.Found{Cited: c, Wave: wave + 1, Perspective: perspective, AgentType: "r", ArtifactPath: fmt.Sprintf("wave-%d/%s.md", wave+1, perspective)})
		}
	}
	sources := source.Sources(found)
	var written, normal []string
	for _, s := range sources {
		written, normal = append(written, s.URLs...), append(normal, s.Normalized)
	}
	if got, want := string(source.URLList(append(written, written...))), "https://\nhttps://[REDACTED]@z.test/\nhttps://a.test/x\nhttps://a.test/x/\n"; got != want {
		t.Errorf("as written: got %q, want %q", got, want)
	}
	if got, want := string(source.URLList(normal)), "https://\nhttps://a.test/x\nhttps://z.test/\n"; got != want {
		t.Errorf("normalised: got %q, want %q", got, want)
	}
	if got := source.URLList(nil); len(got) != 0 {
		t.Errorf("of nothing: %q", got)
	}

	m := source.NewURLMap("r1", sources)
	want := []source.URLMapItem{
		{URLOriginal: "https://", NormalizedURL: "https://", CID: source.CID("https://")},
		{URLOriginal: "https://a.test/x", NormalizedURL: "https://a.test/x", CID: source.CID("https://a.test/x")},
		{URLOriginal: "https://a.test/x/", NormalizedURL: "https://a.test/x", CID: source.CID("https://a.test/x")},
		{URLOriginal: "https://[REDACTED]@z.test/", NormalizedURL: "https://z.test/", CID: source.CID("https://z.test/")},
	}
	if diff := cmp.Diff(want, m.Items); diff != "" {
		t.Error(diff)
	}

	records := judge(t, found, archive(map[string]*source.Page{"https://a.test/x": {Status: 503, FetchedAt: fetched}}))
	blocked := source.NewBlockedFile("r1", "2026-02-14T12:00:00.000Z", records)
	queue := "# Blocked sources\n\ngenerated_at: 2026-02-14T12:00:00.000Z\nblocked_count: 1\n\n## 1. https://a.test/x\n- normalized_url: https://a.test/x\n- reason: the server failed: HTTP 503\n" +
		"- recommended_action: Try again later with `tidegate citations fetch --again`, or name another page with `tidegate citations replace`.\n- found_by:\n" +
		"  - file: wave-1/b.md, line: - T https://\\[REDACTED\\]@z.test/ and https://a.test/x/, perspective: b, wave: 1\n  - file: wave-1/b.md, line: - https://a.test/x, perspective: b, wave: 1\n" +
		"  - file: wave-2/a.md, line: - T https://\\[REDACTED\\]@z.test/ and https://a.test/x/, perspective: a, wave: 2\n  - file: wave-2/a.md, line: - https://a.test/x, perspective: a, wave: 2\n"
	if diff := cmp.Diff(queue, blocked.Queue()); diff != "" {
		t.Error(diff)
	}
	for _, document := range []any{m, blocked, records} {
		data, err := codec.Marshal(document)
		if err != nil || strings.Contains(string(data), "s3cret") || strings.Contains(string(data), "null") {
			t.Errorf("%s, %v", data, err)
		}
	}
	if strings.Contains(source.Render("r1", records), "s3cret") {
		t.Error("credentials are rendered")
	}
}
