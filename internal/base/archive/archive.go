package archive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Entry is a summary of a capture, with the places of its records.
type Entry struct {
	URL         string
	Kind        Kind
	Time        time.Time
	Address     string
	Detail      string
	Name        string
	FinalURL    string // of the last hop; "" when nothing answered
	Status      int    // of the last hop
	ContentType string
	Truncated   string
	Records     []Ref // in order; the last is the one that ends the capture
}

func entryOf(c Capture) Entry {
	last := c.Last()
	return Entry{
		URL: c.URL, Kind: c.Kind, Time: c.Time, Address: c.Address, Detail: c.Detail, Name: c.Name,
		FinalURL: last.URL, Status: last.Status, ContentType: last.Get("Content-Type"), Truncated: last.Truncated,
	}
}

// Archive is an archive as far as it was read. It is used by one goroutine; its
// methods [List.Find] and [List.Read] may be used by several.
type Archive struct {
	List
	end  int64     // of the last complete record
	last Ref       // that record, where there is one
	open []*record // of a capture that has not ended
}

// List is complete captures of an archive.
type List struct {
	folder  *artifact.Folder
	name    string
	counts  func(digest string) bool
	entries []Entry
	byURL   map[string][]int // entries, in order
}

// Open reads the archive name of a folder. A missing one is empty. Counts says
// which records count, by their digests; it is asked again whenever that matters,
// so that its answers may change. Nil means all.
//
// It returns READ_FAILED, SCHEMA_VALIDATION_FAILED for an archive in which a
// record that counts follows one that cannot be read, and CANCELLED.
func Open(ctx context.Context, folder *artifact.Folder, name string, counts func(digest string) bool) (*Archive, error) {
	if counts == nil {
		counts = func(string) bool { return true }
	}
	a := &Archive{List: List{folder: folder, name: name, counts: counts, byURL: map[string][]int{}}}
	if err := a.Refresh(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// Refresh reads what others have added since. It returns the errors of [Open],
// and INVALID_STATE for an archive that is not the one that was read before: it has
// become shorter, or ended in another record.
func (a *Archive) Refresh(ctx context.Context) error {
	file, err := a.folder.Open(a.name)
	if tidegate.CodeOf(err) == tidegate.FileNotFound && a.end == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return a.unreadable(err)
	}
	if info.Size() < a.end {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", a.name), "the archive has become shorter, from %d to %d bytes: %s", a.end, info.Size(), a.name)
	}
	if a.end > 0 {
		if _, err := a.bytesAt(file, a.last); err != nil {
			return err
		}
	}
	a.end, err = scan(ctx, file, a.end, info.Size(), a.take, a.counts)
	if err != nil {
		return a.unreadable(err)
	}
	return nil
}

func (a *List) unreadable(err error) error {
	details := tidegate.Pairs("path", a.name)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, errDamaged):
		return tidegate.Errorf(tidegate.SchemaValidationFailed, details, "%w: %s", err, a.name)
	}
	return tidegate.Errorf(tidegate.ReadFailed, details, "cannot read (%w): %s", err, a.name)
}

// maxOpen is how many records a capture may have before the one that ends it.
const maxOpen = 64

// take takes the next record. A capture whose records are not all there, or
// whose last record is not understood, does not exist.
func (a *Archive) take(rec *record) {
	a.last = rec.Ref
	if rec.kind != "metadata" {
		if len(a.open) == maxOpen {
			a.open = slices.Delete(a.open, 0, 1)
		}
		a.open = append(a.open, rec)
		return
	}
	parts := append(a.open, rec)
	a.open = nil
	if parts = lastCapture(parts); parts == nil {
		return
	}
	capture, err := assemble(parts)
	if err != nil {
		return
	}
	entry := entryOf(capture)
	for _, part := range parts {
		entry.Records = append(entry.Records, part.Ref)
	}
	a.Add(entry)
}

// lastCapture is the records at the end of a list that belong together, as the last
// of them says, which ends the capture: for each hop a request and its response, or
// a resource. It is nil when they are not there.
func lastCapture(records []*record) []*record {
	end := len(records) - 1
	start := end
	for _, id := range slices.Backward(records[end].together) {
		start--
		if start < 0 || records[start].id != id {
			return nil
		}
		switch records[start].kind {
		case "resource":
		case "response":
			start--
			if start < 0 || records[start].kind != "request" || !slices.Equal(records[start].together, []string{id}) {
				return nil
			}
		default:
			return nil
		}
	}
	return records[start:]
}

// assemble makes a capture from its records.
func assemble(records []*record) (Capture, error) {
	last := records[len(records)-1]
	v, err := codec.Parse(last.body)
	if err != nil {
		return Capture{}, err
	}
	ended, err := time.Parse(timeLayout, v.Get("time").Str())
	if err != nil {
		return Capture{}, err
	}
	c := Capture{
		URL: v.Get("url").Str(), Kind: Kind(v.Get("kind").Str()), Time: ended, Address: v.Get("address").Str(),
		Detail: v.Get("detail").Str(), Name: v.Get("name").Str(),
	}
	var asked record
	for _, rec := range records[:len(records)-1] {
		if rec.kind == "request" {
			asked = *rec
			continue
		}
		began, err := time.Parse(timeLayout, rec.date)
		if err != nil {
			return Capture{}, err
		}
		c.Hops = append(c.Hops, Hop{
			URL: rec.target, Time: began, Address: rec.address, Method: asked.method(), Request: asked.head.fields, Sent: asked.body,
			Status: rec.status(), Header: rec.header(), Body: rec.body, Truncated: rec.truncated,
		})
	}
	if (c.Kind == Responded || c.Kind == Attached) && len(c.Hops) == 0 {
		return Capture{}, fmt.Errorf("a capture of kind %s must have a hop", c.Kind)
	}
	return c, nil
}

// Of is the captures of some URLs, as far as the archive was read: a list of its own.
// Counts is as in [Open].
func (a *List) Of(urls []string, counts func(digest string) bool) *List {
	part := &List{folder: a.folder, name: a.name, counts: counts, byURL: map[string][]int{}}
	for _, url := range urls {
		if part.byURL[url] != nil {
			continue // it was named before
		}
		for _, i := range a.byURL[url] {
			part.Add(a.entries[i])
		}
	}
	return part
}

// Add adds captures that were appended to the archive.
func (a *List) Add(entries ...Entry) {
	for _, entry := range entries {
		a.byURL[entry.URL] = append(a.byURL[entry.URL], len(a.entries))
		a.entries = append(a.entries, entry)
	}
}

// Entries are all complete captures, in the order in which they were added.
func (a *List) Entries() []Entry { return a.entries }

// Find finds the last complete capture of a URL whose records all count.
func (a *List) Find(url string) (Entry, bool) {
	for _, i := range slices.Backward(a.byURL[url]) {
		if entry := a.entries[i]; a.Counts(entry) {
			return entry, true
		}
	}
	return Entry{}, false
}

// Counts reports whether all records of a capture count.
func (a *List) Counts(entry Entry) bool {
	return !slices.ContainsFunc(entry.Records, func(ref Ref) bool { return !a.counts(ref.Digest) })
}

// Read reads a capture that [List.Find] found, with its bodies. It returns
// READ_FAILED, and INVALID_STATE when the archive has other bytes there by now.
func (a *List) Read(ctx context.Context, entry Entry) (Capture, error) {
	file, err := a.folder.Open(a.name)
	if err != nil {
		return Capture{}, err
	}
	defer file.Close()
	var parts []*record
	for _, ref := range entry.Records {
		rec, err := a.readAt(ctx, file, ref)
		if err != nil {
			return Capture{}, err
		}
		parts = append(parts, rec)
	}
	if len(parts) == 0 || len(lastCapture(parts)) != len(parts) {
		return Capture{}, a.unreadable(errors.New("these records are not one capture"))
	}
	c, err := assemble(parts)
	if err != nil {
		return Capture{}, a.unreadable(err)
	}
	return c, nil
}

// ReadRecords reads a capture by the places of its records, for somebody who has noted
// them. It returns the errors of [List.Read].
func ReadRecords(ctx context.Context, folder *artifact.Folder, name string, records []Ref) (Capture, error) {
	return (&List{folder: folder, name: name}).Read(ctx, Entry{Records: records})
}

// ReadPacked is [ReadRecords] for somebody who adds the same records to another archive.
func ReadPacked(ctx context.Context, folder *artifact.Folder, name string, records []Ref) (*Packed, error) {
	a := &List{folder: folder, name: name}
	capture, err := a.Read(ctx, Entry{Records: records})
	if err != nil {
		return nil, err
	}
	file, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &Packed{capture: capture}
	for _, ref := range records {
		member, err := a.bytesAt(file, ref)
		if err != nil {
			return nil, err
		}
		p.members = append(p.members, member)
	}
	return p, nil
}

// maxMember is more than any record takes.
const maxMember = 2 * MaxBlock

// bytesAt reads the bytes of a record, if they still have their digest.
func (a *List) bytesAt(file io.ReaderAt, ref Ref) ([]byte, error) {
	if ref.Offset < 0 || ref.Length <= 0 || ref.Length > maxMember {
		return nil, a.changed(ref) // its place was noted by somebody else
	}
	data := make([]byte, ref.Length)
	if _, err := file.ReadAt(data, ref.Offset); err != nil {
		return nil, a.unreadable(err)
	}
	if codec.DigestBytes(data) != ref.Digest {
		return nil, a.changed(ref)
	}
	return data, nil
}

// readAt reads one record, if it still has its digest.
func (a *List) readAt(ctx context.Context, file io.ReaderAt, ref Ref) (*record, error) {
	data, err := a.bytesAt(file, ref)
	if err != nil {
		return nil, err
	}
	in := takeMembers(ctx, bytes.NewReader(data), 0, ref.Length)
	defer in.giveBack()
	rec, err := in.next(true)
	if err != nil {
		return nil, a.unreadable(err)
	}
	return rec, nil
}

func (a *List) changed(ref Ref) error {
	return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", a.name, "offset", ref.Offset, "digest", ref.Digest),
		"the record at byte %d is not the one that was read before: %s", ref.Offset, a.name)
}

// Append adds captures, in one write that is durable when it returns, and says
// what was added. It first reads what others have added since, and cuts off the part
// of a record that a killed process left. Lock is that of the archive's folder.
//
// It returns WRITE_FAILED, after which nothing was added, and the errors of
// [Archive.Refresh].
func (a *Archive) Append(ctx context.Context, lock *artifact.Lock, captures ...*Packed) ([]Entry, error) {
	if err := a.Refresh(ctx); err != nil {
		return nil, err
	}
	data, added := Lay(a.end, captures...)
	if err := lock.Append(a.name, a.end, data); err != nil {
		return nil, err
	}
	a.end += int64(len(data))
	a.open = nil
	for _, entry := range added {
		a.last = entry.Records[len(entry.Records)-1]
	}
	a.Add(added...)
	return added, nil
}

// Lay is the bytes of captures as they stand in an archive from an offset on, with what
// stands where.
func Lay(at int64, captures ...*Packed) (data []byte, laid []Entry) {
	size := 0
	for _, p := range captures {
		for _, member := range p.members {
			size += len(member)
		}
	}
	data, laid = make([]byte, 0, size), make([]Entry, len(captures))
	for i, p := range captures {
		laid[i] = p.Entry()
		for _, member := range p.members {
			laid[i].Records = append(laid[i].Records, Ref{at + int64(len(data)), int64(len(member)), codec.DigestBytes(member)})
			data = append(data, member...)
		}
	}
	return data, laid
}

// Size is how many bytes of the archive are complete records.
func (a *Archive) Size() int64 { return a.end }

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
