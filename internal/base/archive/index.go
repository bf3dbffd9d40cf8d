package archive

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"mime"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// Indexed is a line of an index (CDXJ): where an archive has what was answered at a URL.
type Indexed struct {
	URL          string    `json:"url"`
	Digest       string    `json:"digest"` // of the body
	Mime         string    `json:"mime"`
	Filename     string    `json:"filename"`
	Offset       int64     `json:"offset"`
	Length       int64     `json:"length"`
	RecordDigest string    `json:"recordDigest"` // of the record as it stands in the file
	Status       int       `json:"status"`
	Time         time.Time `json:"-"`
}

// Index lists the answers of an archive that count, for a reader that finds pages by
// URL: what was answered to GET, and files that a person handed over under a URL. Filename is the name
// of the archive. The records that end captures are not in it: a reader might show one in
// the place of its page. It returns the errors of [List.Read].
func (a *List) Index(ctx context.Context, filename string) ([]Indexed, error) {
	var lines []Indexed
	for _, entry := range a.entries {
		if !a.Counts(entry) {
			continue
		}
		capture, err := a.Read(ctx, entry)
		if err != nil {
			return nil, err
		}
		for i, hop := range capture.Hops {
			ref := entry.Records[i]
			if capture.Kind != Attached {
				ref = entry.Records[2*i+1] // behind its request
			}
			if web := strings.HasPrefix(hop.URL, "https://") || strings.HasPrefix(hop.URL, "http://"); web && hop.Method == "" {
				lines = append(lines, indexed(hop, filename, ref))
			}
		}
	}
	return lines, nil
}

func indexed(hop Hop, filename string, ref Ref) Indexed {
	media, _, err := mime.ParseMediaType(hop.Get("Content-Type"))
	if err != nil {
		media = "application/octet-stream"
	}
	return Indexed{URL: uri(hop.URL), Digest: codec.DigestBytes(hop.Body), Mime: media, Filename: filename,
		Offset: ref.Offset, Length: ref.Length, RecordDigest: ref.Digest, Status: cmp.Or(hop.Status, 200), Time: hop.Time}
}

// CDXJ writes an index, in its order. Of several answers at one URL and time the last
// one counts.
func CDXJ(lines []Indexed) ([]byte, error) {
	byKey := map[string][]byte{}
	var keys []string
	for _, line := range lines {
		key := searchable(line.URL) + " " + strings.Replace(line.Time.UTC().Format("20060102150405.000"), ".", "", 1)
		data, err := codec.MarshalLine(line)
		if err != nil {
			return nil, err
		}
		if byKey[key] == nil {
			keys = append(keys, key)
		}
		byKey[key] = data
	}
	slices.Sort(keys)
	var out bytes.Buffer
	for _, key := range keys {
		fmt.Fprintf(&out, "%s %s\n", key, byKey[key])
	}
	return out.Bytes(), nil
}

// searchable is a URL as an index sorts it: org,example)/page.
func searchable(url string) string {
	_, rest, _ := strings.Cut(strings.ToLower(uri(url)), "://")
	host, path := rest, "/"
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	names := strings.Split(host, ".")
	slices.Reverse(names)
	return strings.Join(names, ",") + ")" + path
}

// Single is one answer as an archive of its own that is not compressed, with its line of
// an index.
func Single(hop Hop, filename string) (data []byte, line Indexed) {
	d := draftsOf(Responded, hop)[1]
	d.header.WriteString("\r\n")
	data = slices.Concat(d.header.Bytes(), d.head, d.body, []byte("\r\n\r\n"))
	return data, indexed(hop, filename, Ref{0, int64(len(data)), codec.DigestBytes(data)})
}
