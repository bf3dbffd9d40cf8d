package library

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"slices"
	"sync"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/page"
)

// Entry names a text that can be found: where it lies, and what it is.
type Entry struct {
	Kind    string        `json:"kind"`    // run, audit, review, answer
	ID      string        `json:"id"`      // of the folder
	Part    string        `json:"part"`    // question, report, source, page
	Title   string        `json:"title"`   // of the page or source
	URL     string        `json:"url"`     // of the page or source
	Records []archive.Ref `json:"records"` // of the page in its archive
}

// indexedFolder is a folder that an index knows, as it was at a time.
type indexedFolder struct {
	Kind  string `json:"kind"`
	ID    string `json:"id"`
	Stamp string `json:"stamp"` // of the file that is written last
}

// posting says how often an entry has a word.
type posting struct{ entry, times uint32 }

// index finds entries by their words. It is made from folders and never the truth: it may
// be deleted or made again at any time.
type index struct {
	folders []indexedFolder
	of      []uint32 // the folder of each entry
	parts   []byte   // of each entry, its place in parts
	entries [][]byte // each as JSON, read when it is shown
	lengths []uint32 // words of each entry
	words   [][]byte // in byte order
	where   [][]byte // for each word its postings, as they are stored
}

// indexing collects what an index is made of.
type indexing struct {
	index
	postings map[string][]posting
}

func newIndexing() *indexing { return &indexing{postings: map[string][]posting{}} }

// folder begins a folder.
func (b *indexing) folder(f indexedFolder) { b.folders = append(b.folders, f) }

// add adds a text of the folder that was begun last.
func (b *indexing) add(e Entry, texts ...string) error {
	data, err := codec.MarshalLine(e)
	if err != nil {
		return err
	}
	times := map[string]uint32{}
	words := uint32(0)
	for _, text := range texts {
		page.EachFolded(text, func(word []byte, _ int) {
			if len(word) <= maxWord {
				times[string(word)]++
			}
			words++
		})
	}
	b.put(data, byte(slices.Index(parts, e.Part)), words)
	for word, n := range times {
		b.postings[word] = append(b.postings[word], posting{uint32(len(b.entries) - 1), n})
	}
	return nil
}

// maxWord is the length of the longest word that can be found, in bytes.
const maxWord = 64

func (b *indexing) put(entry []byte, part byte, words uint32) {
	b.entries, b.parts, b.lengths, b.of = append(b.entries, entry), append(b.parts, part), append(b.lengths, words), append(b.of, uint32(len(b.folders)-1))
}

// take adds what another index has of the folders that are to be kept.
func (b *indexing) take(other *index, keep func(indexedFolder) bool) {
	folder := map[uint32]bool{}
	for i, f := range other.folders {
		if keep(f) {
			folder[uint32(i)] = true
		}
	}
	place := make([]uint32, len(other.entries))
	last := -1
	for i := range other.entries {
		if !folder[other.of[i]] {
			continue
		}
		if int(other.of[i]) != last {
			last = int(other.of[i])
			b.folder(other.folders[last])
		}
		b.put(other.entries[i], other.parts[i], other.lengths[i])
		place[i] = uint32(len(b.entries)) // counted from 1, 0 for what is left out
	}
	for w, word := range other.words {
		for _, p := range other.postings(w) {
			if place[p.entry] > 0 {
				b.postings[string(word)] = append(b.postings[string(word)], posting{place[p.entry] - 1, p.times})
			}
		}
	}
}

// done is the index.
func (b *indexing) done() *index {
	out := &b.index
	for _, word := range slices.Sorted(maps.Keys(b.postings)) {
		out.words = append(out.words, []byte(word))
		list := b.postings[word]
		slices.SortFunc(list, func(a, b posting) int { return cmp.Compare(a.entry, b.entry) })
		var data []byte
		last := uint32(0)
		for _, p := range list {
			data = binary.AppendUvarint(binary.AppendUvarint(data, uint64(p.entry-last)), uint64(p.times))
			last = p.entry
		}
		out.where = append(out.where, data)
	}
	return out
}

// postings are the entries that have a word, in their order.
func (x *index) postings(word int) []posting {
	var out []posting
	entry := uint64(0)
	for data := x.where[word]; len(data) > 0; {
		step, n := binary.Uvarint(data)
		times, m := binary.Uvarint(data[max(n, 0):])
		if n <= 0 || m <= 0 {
			break
		}
		if entry += step; entry < uint64(len(x.entries)) {
			out = append(out, posting{uint32(entry), uint32(times)})
		}
		data = data[n+m:]
	}
	return out
}

// beginning are the places of the words that begin with one, at most so many.
func (x *index) beginning(word string, most int) (from, to int) {
	from, _ = slices.BinarySearchFunc(x.words, []byte(word), bytes.Compare)
	for to = from; to < len(x.words) && to-from < most && bytes.HasPrefix(x.words[to], []byte(word)); to++ {
	}
	return from, to
}

// indexMagic begins the file of an index; it changes with its form.
var indexMagic = []byte("tidegate index 1\n")

// castagnoli is made when an index is first read or written: every start of the program
// would pay for it.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// bytes is the index as it is stored: lists of pieces, each with its length before it, and
// a sum at the end.
func (x *index) bytes() ([]byte, error) {
	folders, err := codec.MarshalLine(x.folders)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(indexMagic)
	piece := func(data []byte) { out = append(binary.AppendUvarint(out, uint64(len(data))), data...) }
	piece(folders)
	out = binary.AppendUvarint(out, uint64(len(x.entries)))
	for i, entry := range x.entries {
		out = append(binary.AppendUvarint(binary.AppendUvarint(out, uint64(x.of[i])), uint64(x.lengths[i])), x.parts[i])
		piece(entry)
	}
	out = binary.AppendUvarint(out, uint64(len(x.words)))
	for i, word := range x.words {
		piece(word)
		piece(x.where[i])
	}
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli())), nil
}

// readIndex reads an index as it was stored; nil for what is none, or was damaged.
func readIndex(data []byte) *index {
	at := len(data) - 4
	if at < len(indexMagic) || !bytes.HasPrefix(data, indexMagic) || binary.LittleEndian.Uint32(data[at:]) != crc32.Checksum(data[:at], castagnoli()) {
		return nil
	}
	in := stored{data: data[len(indexMagic):at]}
	x := &index{}
	folders, err := codec.Parse(in.piece())
	if err != nil {
		return nil
	}
	for _, f := range folders.Elems() {
		x.folders = append(x.folders, indexedFolder{f.Get("kind").Str(), f.Get("id").Str(), f.Get("stamp").Str()})
	}
	for n := in.number(); n > 0 && !in.bad; n-- {
		of, length, part := in.number(), in.number(), in.number()
		if of >= uint64(len(x.folders)) || part >= uint64(len(parts)) {
			return nil
		}
		x.of, x.lengths, x.parts, x.entries = append(x.of, uint32(of)), append(x.lengths, uint32(length)), append(x.parts, byte(part)), append(x.entries, in.piece())
	}
	for n := in.number(); n > 0 && !in.bad; n-- {
		x.words, x.where = append(x.words, in.piece()), append(x.where, in.piece())
	}
	if in.bad {
		return nil
	}
	return x
}

// stored reads what was stored.
type stored struct {
	data []byte
	bad  bool
}

func (s *stored) number() uint64 {
	v, n := binary.Uvarint(s.data)
	if n <= 0 {
		s.bad, s.data = true, nil
		return 0
	}
	s.data = s.data[n:]
	return v
}

func (s *stored) piece() []byte {
	n := s.number()
	if n > uint64(len(s.data)) {
		s.bad, s.data = true, nil
		return nil
	}
	out := s.data[:n]
	s.data = s.data[n:]
	return out
}
