package source

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/link"
)

// Found is where an output of a run names a URL.
type Found struct {
	Cited
	Wave         int // 1 or 2
	Perspective  string
	AgentType    string
	ArtifactPath string // of the output, relative to the run root
}

// Source is a page that outputs cite: all URLs that normalise alike.
type Source struct {
	CID        string
	Normalized string   // the text as written where that is not a URL
	URLs       []string // as written, in byte order, each once
	FoundBy    []Found  // in order of wave, perspective and place

	fault       error // why it is not a URL
	credentials bool  // one of its URLs, or the one that a person named in its place, has them
}

// Sources groups what outputs cite, in byte order of the normalised URLs. What
// only looks like a URL is a source of its own, under the text as written.
func Sources(found []Found) []Source {
	groups := map[string]*Source{}
	for _, f := range found {
		normalized, fault := link.Normalize(f.URL)
		if fault != nil {
			normalized = f.URL
		}
		s := groups[normalized]
		if s == nil {
			s = &Source{CID: CID(normalized), Normalized: normalized, fault: fault}
			groups[normalized] = s
		}
		s.FoundBy = append(s.FoundBy, f)
		s.URLs = append(s.URLs, f.URL)
	}
	sources := make([]Source, 0, len(groups))
	for _, s := range groups {
		slices.Sort(s.URLs)
		s.URLs = slices.Compact(s.URLs)
		s.credentials = slices.ContainsFunc(s.URLs, link.HasCredentials)
		slices.SortStableFunc(s.FoundBy, func(a, b Found) int {
			return cmp.Or(cmp.Compare(a.Wave, b.Wave), strings.Compare(a.Perspective, b.Perspective), strings.Compare(a.ArtifactPath, b.ArtifactPath),
				cmp.Compare(a.Number, b.Number), strings.Compare(a.URL, b.URL))
		})
		sources = append(sources, *s)
	}
	slices.SortFunc(sources, func(a, b Source) int { return strings.Compare(a.Normalized, b.Normalized) })
	return sources
}

// CID is the id of a citation: cid_ and the SHA-256 of its normalised URL.
func CID(normalized string) string {
	sum := sha256.Sum256([]byte(normalized))
	return "cid_" + hex.EncodeToString(sum[:])
}

// FetchURL is the URL to fetch for a source: as written, and of several that
// normalise alike the first in byte order. It is false for what cannot be
// fetched: what is not a URL, and a source of which an output shows credentials.
func (s *Source) FetchURL() (string, bool) {
	if s.fault != nil || s.credentials {
		return "", false
	}
	return s.URLs[0], true
}

// replacedBy is the source under the URL that a person chose: it is judged by
// that, and keeps its id, its place and its title.
func (s *Source) replacedBy(url string) *Source {
	replaced := *s
	_, replaced.fault = link.Normalize(url)
	replaced.credentials = link.HasCredentials(url)
	return &replaced
}

// maxTitles is how many titles of a source are looked at.
const maxTitles = 64

// titles are what outputs call the source.
func (s *Source) titles() []string {
	var titles []string
	for _, f := range s.FoundBy {
		if f.Title != "" && !slices.Contains(titles, f.Title) && len(titles) < maxTitles {
			titles = append(titles, f.Title)
		}
	}
	return titles
}
