package archive_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
)

const name = "evidence/archive.warc.gz"

var noon = time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)

func page(url, text string) archive.Capture {
	return archive.Capture{URL: url, Kind: archive.Responded, Time: noon.Add(time.Second), Address: "example.org:443", Hops: []archive.Hop{
		{
			URL: url, Time: noon, Address: "93.184.216.34", Status: 200, Body: []byte(text),
			Request: []archive.Field{{"Host", "example.org"}, {"User-Agent", "test"}},
			Header:  []archive.Field{{"Content-Type", "text/html; charset=utf-8"}, {"X-Empty", ""}},
		},
	}}
}

// samples are captures of every shape.
func samples() []archive.Capture {
	moved := page("http://example.org/old", "moved")
	moved.Hops[0].Status = 301
	moved.Hops[0].Header = []archive.Field{{"Location", "https://example.org/new?x=1"}}
	moved.Hops = append(moved.Hops, page("https://example.org/new?x=1", "<p>new").Hops[0])
	loop := page("https://example.org/loop", "")
	loop.Kind, loop.Detail = archive.Redirects, "more than five redirects"
	loop.Hops = slices.Repeat(loop.Hops, 6)
	huge := page("https://example.org/huge", strings.Repeat("all work and no play ", 1e5))
	huge.Hops[0].Truncated = "length"
	return []archive.Capture{
		page("https://example.org/", "<p>hello"),
		moved,
		loop,
		huge,
		{URL: "https://nowhere.example/Köln weg", Kind: archive.NoSuchName, Time: noon, Address: "nowhere.example:443", Detail: "no such host"},
		{URL: "not a url\nat all", Kind: archive.Malformed, Time: noon},
		archive.Attachment("https://example.org/paper.pdf", "paper (1).pdf", "application/pdf", []byte("%PDF-1.7\r\n\r\n\x00"), noon),
	}
}

func pack(t testing.TB, captures ...archive.Capture) []*archive.Packed {
	t.Helper()
	packed := make([]*archive.Packed, len(captures))
	for i, c := range captures {
		var err error
		if packed[i], err = archive.Pack(c); err != nil {
			t.Fatal(err)
		}
	}
	return packed
}

func folder(t testing.TB) *artifact.Folder {
	t.Helper()
	f := must.Get(artifact.Everywhere.Open("dir", t.TempDir()))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

func open(t testing.TB, f *artifact.Folder, counts func(string) bool) *archive.Archive {
	t.Helper()
	a := must.Get(archive.Open(context.Background(), f, name, counts))(t)
	return a
}

func add(t testing.TB, f *artifact.Folder, a *archive.Archive, captures ...archive.Capture) []archive.Entry {
	t.Helper()
	lock := must.Get(f.Lock(context.Background(), time.Now))(t)
	defer lock.Unlock()
	entries := must.Get(a.Append(context.Background(), lock, pack(t, captures...)...))(t)
	return entries
}

// bytesOf is what an archive with these captures is.
func bytesOf(t testing.TB, captures ...archive.Capture) []byte {
	f := folder(t)
	add(t, f, open(t, f, nil), captures...)
	return read(t, f)
}

func read(t testing.TB, f *artifact.Folder) []byte {
	t.Helper()
	data := must.Get(f.Read(name))(t)
	return data
}

// holding is a folder with an archive of these bytes.
func holding(t testing.TB, data []byte) *artifact.Folder {
	t.Helper()
	f := folder(t)
	must.Do(t, f.Write(name, data))
	return f
}

func urls(a *archive.Archive) []string {
	all := []string{}
	for _, entry := range a.Entries() {
		all = append(all, entry.URL)
	}
	return all
}

// TestAPackedCaptureIsTheOneThatIsRead shows that a page can be judged as well from
// the packed capture as from the archive.
func TestAPackedCaptureIsTheOneThatIsRead(t *testing.T) {
	odd := page("https://example.org/a b?ü", "text")
	odd.Time = odd.Time.Add(1234567)
	odd.Detail = strings.Repeat("long ", 100)
	odd.Hops[0].Time = noon.Add(987654)
	odd.Hops[0].Status = 999
	odd.Hops[0].Address = "fe80::1%eth0"
	odd.Hops[0].Header = []archive.Field{{"Content-Type", " text/html;\r\n charset=\xff "}, {"Not a name", "x"}, {"X-Long", strings.Repeat("x", 60<<10)}, {"Y-Too-Long", strings.Repeat("y", 10<<10)}}
	blank := page("https://example.org/blank", "")
	blank.Hops[0].Header, blank.Hops[0].Request, blank.Hops[0].Body = nil, nil, nil
	for _, capture := range append(samples(), odd, blank) {
		f := folder(t)
		packed := pack(t, capture)[0]
		a := open(t, f, nil)
		lock := must.Get(f.Lock(t.Context(), time.Now))(t)
		entries := must.Get(a.Append(t.Context(), lock, packed))(t)
		lock.Unlock()
		again := open(t, f, nil)
		if diff := cmp.Diff(entries, again.Entries()); diff != "" {
			t.Errorf("%s: the entry as appended and as read:\n%s", capture.URL, diff)
		}
		got := must.Get(again.Read(t.Context(), again.Entries()[0]))(t)
		if diff := cmp.Diff(packed.Capture(), got, cmp.Comparer(bytes.Equal)); diff != "" {
			t.Errorf("%s: the capture as packed and as read:\n%s", capture.URL, diff)
		}
	}
}

func TestWhatIsAppendedIsReadAgain(t *testing.T) {
	f := folder(t)
	written := open(t, f, nil)
	want := samples()
	added := add(t, f, written, want...)
	again := open(t, f, nil)
	if diff := cmp.Diff(added, again.Entries()); diff != "" {
		t.Errorf("entries as appended and as read (-appended +read):\n%s", diff)
	}
	for _, capture := range want {
		entry, ok := again.Find(capture.URL)
		if !ok {
			t.Errorf("%q is not found", capture.URL)
			continue
		}
		got := must.Get(again.Read(context.Background(), entry))(t)
		if diff := cmp.Diff(capture, got, cmp.Comparer(bytes.Equal)); diff != "" {
			t.Errorf("%q (-written +read):\n%s", capture.URL, diff)
		}
		if entry.FinalURL != capture.Last().URL || entry.Status != capture.Last().Status {
			t.Errorf("%q: the entry says %q, %d", capture.URL, entry.FinalURL, entry.Status)
		}
	}
}

// TestTheFileItself shows what stands in the archive.
func TestTheFileItself(t *testing.T) {
	small := slices.DeleteFunc(samples(), func(c archive.Capture) bool { return c.Last().Truncated != "" || c.Kind == archive.Redirects })
	zipped := must.Get(gzip.NewReader(bytes.NewReader(bytesOf(t, small...))))(t)
	got := must.Get(io.ReadAll(zipped))(t)
	golden.Check(t, "testdata/archive.warc", got)
}

func TestTheLastCompleteCaptureThatCountsIsFound(t *testing.T) {
	f := folder(t)
	const url = "https://example.org/"
	logged := map[string]bool{}
	a := open(t, f, func(digest string) bool { return logged[digest] })
	for i, text := range []string{"first", "second", "third"} {
		again := page(url, text)
		again.Time = noon.Add(time.Duration(i) * time.Minute)
		entries := add(t, f, a, again)
		if text == "third" { // one of three digests never got its line in the log
			entries[0].Records = entries[0].Records[1:]
		}
		for _, ref := range entries[0].Records {
			logged[ref.Digest] = true
		}
	}
	for _, a := range []*archive.Archive{a, open(t, f, func(digest string) bool { return logged[digest] })} {
		entry, ok := a.Find(url)
		if !ok {
			t.Fatal("nothing is found")
		}
		c, err := a.Read(context.Background(), entry)
		if err != nil || string(c.Last().Body) != "second" {
			t.Errorf("found %q, %v", c.Last().Body, err)
		}
	}
	if _, ok := open(t, f, func(string) bool { return false }).Find(url); ok {
		t.Error("a record that does not count is found")
	}
}

// TestKilledAtAnyByte cuts an archive at any byte, and goes on with the rest.
func TestKilledAtAnyByte(t *testing.T) {
	t.Parallel()
	before := []archive.Capture{page("https://a.example/", "a"), samples()[1]}
	last := page("https://c.example/", "c")
	all := bytesOf(t, append(before, last)...)
	whole := open(t, holding(t, all), nil)
	var ends []int64 // of the captures
	for _, entry := range whole.Entries() {
		ref := entry.Records[len(entry.Records)-1]
		ends = append(ends, ref.Offset+ref.Length)
	}
	tail := map[string][]byte{"": nil, "zeros": make([]byte, 100), "noise": []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xffnoise")}
	f := folder(t)
	stride := int64(7 * full.Stride(3, 1))
	for cut := range int64(len(all)) + 1 {
		for after, junk := range tail {
			if (after != "" || cut < ends[1] || !full.Asked()) && cut%stride != 0 { // enough of them
				continue
			}
			left := slices.Concat(all[:cut], junk)
			must.Do(t, f.Write(name, left))
			a := open(t, f, nil)
			want := 0
			for want < len(ends) && bytes.HasPrefix(left, all[:ends[want]]) {
				want++
			}
			if got := len(a.Entries()); got != want {
				t.Fatalf("cut at %d%s: %d captures, want %d", cut, after, got, want)
			}
			add(t, f, a, page("https://d.example/", "d"))
			again := open(t, f, nil)
			if diff := cmp.Diff(urls(a), urls(again)); diff != "" || len(again.Entries()) != want+1 {
				t.Fatalf("cut at %d%s and gone on: %v", cut, after, urls(again))
			}
			if again.Size() != int64(len(read(t, f))) {
				t.Fatalf("cut at %d%s: something is left at the end", cut, after)
			}
		}
	}
}

func TestDamageBeforeARecordThatCountsIsAnError(t *testing.T) {
	data := bytesOf(t, samples()...)
	data[len(data)/100] ^= 0x55
	f := holding(t, data)
	_, err := archive.Open(context.Background(), f, name, nil)
	if tidegate.CodeOf(err) != tidegate.SchemaValidationFailed || !strings.Contains(err.Error(), "damaged at byte 0") {
		t.Errorf("got %v", err)
	}
	// Where nothing counts, nothing is lost.
	a := open(t, f, func(string) bool { return false })
	if len(a.Entries()) != 0 {
		t.Errorf("%d captures are read from behind the damage", len(a.Entries()))
	}
}

func TestAnArchiveThatBecameShorterIsRefused(t *testing.T) {
	data := bytesOf(t, samples()...)
	f := holding(t, data)
	a := open(t, f, nil)
	entry, _ := a.Find("https://example.org/paper.pdf")
	must.Do(t, f.Write(name, data[:len(data)/2]))
	if err := a.Refresh(context.Background()); tidegate.CodeOf(err) != tidegate.InvalidState {
		t.Errorf("refresh: %v", err)
	}
	if _, err := a.Read(context.Background(), entry); tidegate.CodeOf(err) != tidegate.ReadFailed {
		t.Errorf("read: %v", err)
	}
	lock := must.Get(f.Lock(context.Background(), time.Now))(t)
	defer lock.Unlock()
	if _, err := a.Append(context.Background(), lock, pack(t, page("https://x.example/", ""))...); tidegate.CodeOf(err) != tidegate.InvalidState {
		t.Errorf("append: %v", err)
	}
}

func TestAnArchiveWhoseLastRecordIsAnotherIsRefused(t *testing.T) {
	f := folder(t)
	a := open(t, f, nil)
	add(t, f, a, page("https://example.org/", "one text"))
	must.Do(t, f.Write(name, bytesOf(t, page("https://example.org/", "two text"), page("https://example.org/more", "which makes it longer"))))
	if err := a.Refresh(context.Background()); tidegate.CodeOf(err) != tidegate.InvalidState {
		t.Errorf("got %v", err)
	}
}

// TestAPartOfAnArchive: what an archive has of some URLs is found and read in a list of
// its own, and nothing else; what is added to one is not in the other.
func TestAPartOfAnArchive(t *testing.T) {
	f := folder(t)
	whole := open(t, f, nil)
	add(t, f, whole, page("https://example.org/a", "first"), page("https://example.org/b", "first"), page("https://example.org/a", "second"))
	part := whole.Of([]string{"https://example.org/a", "https://example.org/a", "https://example.org/none"}, func(string) bool { return true })
	want, _ := whole.Find("https://example.org/a")
	added := add(t, f, whole, page("https://example.org/a", "third"), page("https://example.org/c", "third"))
	part.Add(added[1])
	got, found := part.Find("https://example.org/a")
	if diff := cmp.Diff(want, got); diff != "" || !found {
		t.Error(diff)
	}
	if _, found := part.Find("https://example.org/b"); found || len(part.Entries()) != 3 {
		t.Errorf("%+v", part.Entries())
	}
	for _, entry := range part.Entries() {
		if _, err := part.Read(context.Background(), entry); err != nil {
			t.Error(err)
		}
	}
}

func TestARecordThatChangedIsNotRead(t *testing.T) {
	f := folder(t)
	a := open(t, f, nil)
	add(t, f, a, page("https://example.org/", "one text"))
	entry, _ := a.Find("https://example.org/")
	must.Do(t, f.Write(name, bytesOf(t, page("https://example.org/", "two text"))))
	if _, err := a.Read(context.Background(), entry); tidegate.CodeOf(err) != tidegate.InvalidState && tidegate.CodeOf(err) != tidegate.ReadFailed {
		t.Errorf("got %v", err)
	}
}

func TestTwoWritersTakeTurns(t *testing.T) {
	f := folder(t)
	one, two := open(t, f, nil), open(t, f, nil)
	var want []string
	for i := range 20 {
		url := fmt.Sprintf("https://example.org/%d", i)
		want = append(want, url)
		add(t, f, []*archive.Archive{one, two}[i*7%3%2], page(url, url))
	}
	if diff := cmp.Diff(want, urls(open(t, f, nil))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPackRefusesWhatCannotBeKept(t *testing.T) {
	for name, c := range map[string]archive.Capture{
		"not UTF-8":   page("https://example.org/\xff", ""),
		"credentials": page("https://example.org/?token=hush", ""),
		"too large":   {URL: "x", Hops: []archive.Hop{{Body: make([]byte, archive.MaxBlock)}}},
	} {
		if _, err := archive.Pack(c); tidegate.CodeOf(err) != tidegate.InvalidArgs || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNothingBreaksOutOfARecord gives every text of a capture line ends and
// things that look like records.
func TestNothingBreaksOutOfARecord(t *testing.T) {
	const evil = "x\r\n\r\n\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n\r\n"
	c := page("https://example.org/"+evil, evil)
	c.Address, c.Detail, c.Name = evil, evil, evil
	hop := &c.Hops[0]
	hop.URL += evil
	hop.Address, hop.Truncated = evil, evil
	hop.Header = append(hop.Header, archive.Field{Name: evil, Value: evil}, archive.Field{Name: "A", Value: evil})
	hop.Request = append(hop.Request, archive.Field{Name: "B", Value: evil})
	data := bytesOf(t, c, page("https://example.org/", "next"))
	a := must.Get(archive.Open(context.Background(), holding(t, data), name, nil))(t)
	if a.Size() != int64(len(data)) || len(a.Entries()) == 0 || a.Entries()[len(a.Entries())-1].URL != "https://example.org/" {
		t.Errorf("%d of %d bytes are records, of %q", a.Size(), len(data), urls(a))
	}
}

// member is a gzip member that holds a text.
func member(text string) []byte { return bomb(text, "", 0) }

// bomb is a gzip member that holds a text, and then a filling again and again, of
// size bytes at least.
func bomb(text, filling string, size int) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		panic(err)
	}
	io.WriteString(w, text)
	for block := strings.Repeat(filling, 64<<10); size > 0; size -= len(block) {
		io.WriteString(w, block)
	}
	w.Close()
	return out.Bytes()
}

// TestHostileArchives reads what must not be in an archive: none of these has a
// capture, takes long, or takes much memory.
func TestHostileArchives(t *testing.T) {
	const sum = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" // of nothing
	header := func(lines ...string) string {
		return "WARC/1.1\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n"
	}
	good := []string{"WARC-Type: metadata", "WARC-Record-ID: <urn:x>", "WARC-Date: 2026-01-01T00:00:00.000Z", "WARC-Block-Digest: " + sum}
	with := func(more ...string) string { return header(append(slices.Clone(good), more...)...) }
	whole := bytesOf(t, page("https://example.org/", "text"))
	for name, data := range map[string][]byte{
		"empty":                  {},
		"zeros":                  make([]byte, 1<<20),
		"text":                   []byte(strings.Repeat("WARC/1.1\r\n", 1e5)),
		"not compressed":         []byte(with("Content-Length: 0") + "\r\n\r\n"),
		"empty members":          bytes.Repeat(member(""), 1000),
		"bomb":                   bomb("", "\x00", 80<<20),
		"bomb in a header":       bomb("WARC/1.1\r\nX: ", "x", 20<<20),
		"bomb of lines":          bomb("WARC/1.1\r\n", "X: x\r\n", 12<<20),
		"bomb in a block":        bomb(with("Content-Length: 67108864"), "\x00", 80<<20),
		"bomb of gzip headers":   bytes.Repeat([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x04\xff"), 1e5),
		"no length":              member(with() + "\r\n\r\n"),
		"two lengths":            member(with("Content-Length: 0", "Content-Length: 0") + "\r\n\r\n"),
		"negative length":        member(with("Content-Length: -1") + "\r\n\r\n"),
		"large length":           member(with("Content-Length: 9223372036854775807") + "\r\n\r\n"),
		"length above the limit": member(with("Content-Length: 67108865") + "\r\n\r\n"),
		"longer than its length": member(with("Content-Length: 0") + "more\r\n\r\n"),
		"short of its length":    member(with("Content-Length: 9") + "\r\n\r\n"),
		"two records in one":     member(strings.Repeat(with("Content-Length: 0")+"\r\n\r\n", 2)),
		"other digest":           member(with("Content-Length: 1") + "x\r\n\r\n"),
		"two types":              member(with("WARC-Type: response", "Content-Length: 0") + "\r\n\r\n"),
		"no type":                member(header(append(good[1:], "Content-Length: 0")...) + "\r\n\r\n"),
		"other version":          member(strings.Replace(with("Content-Length: 0"), "1.1", "1.0", 1) + "\r\n\r\n"),
		"line feeds":             member(strings.ReplaceAll(with("Content-Length: 0"), "\r\n", "\n") + "\r\n\r\n"),
		"no JSON":                member(with("Content-Length: 0") + "\r\n\r\n"),
		"wrong checksum":         append(whole[:len(whole)-8:len(whole)-8], 0, 0, 0, 0, 0, 0, 0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			f := holding(t, data)
			before := allocated()
			a, err := archive.Open(context.Background(), f, "evidence/archive.warc.gz", nil)
			if taken := allocated() - before; taken > 8<<20 {
				t.Errorf("reading takes %d bytes of memory", taken)
			}
			if err != nil {
				if tidegate.CodeOf(err) != tidegate.SchemaValidationFailed {
					t.Error(err)
				}
				return
			}
			if len(a.Entries()) != 0 {
				t.Errorf("it has captures: %q", urls(a))
			}
		})
	}
}

// TestRecordsThatDoNotBelongTogether changes which records a capture is made of.
func TestRecordsThatDoNotBelongTogether(t *testing.T) {
	f := folder(t)
	a := open(t, f, nil)
	entries := add(t, f, a, page("https://a.example/", "a"), page("https://b.example/", "b"))
	data := read(t, f)
	part := func(entry, i int) []byte {
		ref := entries[entry].Records[i]
		return data[ref.Offset : ref.Offset+ref.Length]
	}
	changed := func(data []byte, from, to string) []byte {
		zip := must.Get(gzip.NewReader(bytes.NewReader(data)))(t)
		text, err := io.ReadAll(zip)
		if err != nil || !strings.Contains(string(text), from) {
			t.Fatalf("there is no %q in %s: %v", from, text, err)
		}
		return member(strings.Replace(string(text), from, to, 1))
	}
	for _, c := range []struct {
		name  string
		parts [][]byte
		want  []string
	}{
		{"packed again", [][]byte{changed(part(0, 0), "\r\n", "\r\n"), part(0, 1), part(0, 2)}, []string{"https://a.example/"}},
		{"another body", [][]byte{part(0, 0), changed(part(0, 1), "\r\n\r\na", "\r\n\r\nb"), part(0, 2)}, nil},
		{"another end", [][]byte{part(0, 0), part(0, 1), changed(part(0, 2), `"url":"https://a`, `"url":"https://b`)}, nil},
		{"a response for a request", [][]byte{changed(part(0, 0), "WARC-Type: request", "WARC-Type: response"), part(0, 1), part(0, 2)}, []string{}},
		{"as they were", [][]byte{part(0, 0), part(0, 1), part(0, 2)}, []string{"https://a.example/"}},
		{"after records without an end", [][]byte{part(1, 0), part(1, 1), part(0, 0), part(0, 1), part(0, 2)}, []string{"https://a.example/"}},
		{"no response", [][]byte{part(0, 0), part(0, 2)}, []string{}},
		{"no request", [][]byte{part(0, 1), part(0, 2)}, []string{}},
		{"another response", [][]byte{part(0, 0), part(1, 1), part(0, 2)}, []string{}},
		{"another request", [][]byte{part(1, 0), part(0, 1), part(0, 2)}, []string{}},
		{"in another order", [][]byte{part(0, 1), part(0, 0), part(0, 2)}, []string{}},
		{"ended twice", [][]byte{part(0, 0), part(0, 1), part(0, 2), part(0, 2)}, []string{"https://a.example/"}},
		{"only the end", [][]byte{part(0, 2)}, []string{}},
	} {
		a, err := archive.Open(context.Background(), holding(t, slices.Concat(c.parts...)), name, nil)
		if c.want == nil { // a record that cannot be read, with others after it or not
			if err == nil && len(a.Entries()) > 0 {
				t.Errorf("%s: %q", c.name, urls(a))
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, urls(a)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// FuzzOpen changes archives: reading them fails only in the ways that it should, and
// what was read can be continued.
func FuzzOpen(f *testing.F) {
	data := bytesOf(f, samples()[:2]...)
	f.Add(data, uint16(0), byte(0))
	f.Add(data, uint16(300), byte(1))
	f.Add(append(data[:100:100], data...), uint16(9), byte(0))
	f.Fuzz(func(t *testing.T, data []byte, at uint16, flip byte) {
		if len(data) > 0 {
			data = slices.Clone(data)
			data[int(at)%len(data)] ^= flip
		}
		folder := holding(t, data)
		a, err := archive.Open(context.Background(), folder, name, nil)
		if err != nil {
			if tidegate.CodeOf(err) != tidegate.SchemaValidationFailed {
				t.Fatal(err)
			}
			return
		}
		for _, entry := range a.Entries() {
			must.Get(a.Read(context.Background(), entry))(t)
		}
		add(t, folder, a, page("https://d.example/", "d"))
		if again := open(t, folder, nil); len(again.Entries()) != len(a.Entries()) || again.Size() != int64(len(read(t, folder))) {
			t.Fatalf("%q became %q", urls(a), urls(again))
		}
	})
}

// TestRandomBodies reads bodies of every size around the limits of buffers.
func TestRandomBodies(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []archive.Capture
	for i, size := range []int{0, 1, 4095, 4096, 4097, 65535, 65536, 65537, 1 << 20} {
		body := make([]byte, size)
		for i := range body {
			body[i] = byte(random.Uint32())
		}
		all = append(all, page(fmt.Sprintf("https://example.org/%d", i), string(body)))
	}
	a := open(t, holding(t, bytesOf(t, all...)), nil)
	for i, entry := range a.Entries() {
		c, err := a.Read(context.Background(), entry)
		if err != nil || !bytes.Equal(c.Last().Body, all[i].Last().Body) {
			t.Errorf("%d bytes: %v", len(all[i].Last().Body), err)
		}
	}
	if len(a.Entries()) != len(all) {
		t.Errorf("%d captures of %d", len(a.Entries()), len(all))
	}
}
