package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/link"
)

// The artifacts of the stage besides the records, as pure functions of what was
// found and judged. None of them holds credentials.

// URLList writes URLs one to a line, each once and in byte order: the content of
// normalized-urls.txt. Without URLs it is empty.
func URLList(urls []string) []byte {
	sorted := slices.Clone(urls)
	slices.Sort(sorted)
	var b strings.Builder
	for _, url := range slices.Compact(sorted) {
		b.WriteString(link.Mask(url) + "\n")
	}
	return []byte(b.String())
}

// URLMap is url-map.json (url_map.v1): the source of each URL as written.
type URLMap struct {
	SchemaVersion string       `json:"schema_version"`
	RunID         string       `json:"run_id"`
	Items         []URLMapItem `json:"items"`
}

// URLMapItem maps one URL.
type URLMapItem struct {
	URLOriginal   string `json:"url_original"`
	NormalizedURL string `json:"normalized_url"`
	CID           string `json:"cid"`
}

// NewURLMap maps every URL as written, in byte order of the normalised URLs and
// then of the URLs.
func NewURLMap(runID string, sources []Source) URLMap {
	m := URLMap{SchemaVersion: "url_map.v1", RunID: runID, Items: []URLMapItem{}}
	for i := range sources {
		for _, url := range sources[i].URLs {
			m.Items = append(m.Items, URLMapItem{link.Mask(url), sources[i].Normalized, sources[i].CID})
		}
	}
	return m
}

// BlockedFile is blocked-urls.json (blocked_urls.v1): what waits for a person or
// a later try.
type BlockedFile struct {
	SchemaVersion string        `json:"schema_version"`
	RunID         string        `json:"run_id"`
	GeneratedAt   string        `json:"generated_at"`
	Items         []BlockedItem `json:"items"`
}

// BlockedItem is a source that could not be judged.
type BlockedItem struct {
	NormalizedURL string    `json:"normalized_url"`
	CID           string    `json:"cid"`
	Status        Status    `json:"status"`
	URL           string    `json:"url"`
	Notes         string    `json:"notes"`
	Action        string    `json:"action"`
	FoundBy       []FoundBy `json:"found_by"`
}

// NewBlockedFile lists the blocked records, in byte order of their URLs, each
// with what can be done about it.
func NewBlockedFile(runID, generatedAt string, records []Record) BlockedFile {
	file := BlockedFile{SchemaVersion: "blocked_urls.v1", RunID: runID, GeneratedAt: generatedAt, Items: []BlockedItem{}}
	for _, r := range records {
		if r.Status == Blocked {
			file.Items = append(file.Items, BlockedItem{r.NormalizedURL, r.CID, r.Status, r.URL, r.Notes, blockedAction(r.Rule), r.FoundBy})
		}
	}
	slices.SortFunc(file.Items, func(a, b BlockedItem) int {
		return cmp.Or(strings.Compare(a.NormalizedURL, b.NormalizedURL), strings.Compare(a.URL, b.URL))
	})
	return file
}

// blockedAction is what to do about a source that a rule blocked.
func blockedAction(rule string) string {
	switch rule {
	case "not-checked":
		return "Fetch it with `tidegate citations fetch`, or attach a copy with `tidegate citations attach`."
	case "timed-out", "no-connection", "server-error", "no-page":
		return "Try again later with `tidegate citations fetch --again`, or name another page with `tidegate citations replace`."
	}
	return "Open the page yourself and attach a copy with `tidegate citations attach`, or name another page with `tidegate citations replace`."
}

// Queue is the file for people to read: blocked-urls.queue.md.
func (f BlockedFile) Queue() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Blocked sources\n\ngenerated_at: %s\nblocked_count: %d\n", plainMarkdown(f.GeneratedAt), len(f.Items))
	for i, item := range f.Items {
		fmt.Fprintf(&b, "\n## %d. %s\n- normalized_url: %s\n- reason: %s\n- recommended_action: %s\n", i+1, plainMarkdown(item.URL), plainMarkdown(item.NormalizedURL),
			plainMarkdown(item.Notes), item.Action)
		if len(item.FoundBy) > 0 {
			b.WriteString("- found_by:\n")
		}
		for _, place := range item.FoundBy {
			fmt.Fprintf(&b, "  - file: %s, line: %s, perspective: %s, wave: %d\n", plainMarkdown(place.ArtifactPath), plainMarkdown(place.SourceLine), plainMarkdown(place.Perspective), place.Wave)
		}
	}
	return b.String()
}
