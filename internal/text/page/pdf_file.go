package page

import (
	"bytes"
	"maps"
	"unicode/utf16"
	"unicode/utf8"
)

// file is a PDF file. Its cross-reference tables are ignored: objects are found
// where they stand, which works for broken files as well as for sound ones.
type pdfFile struct {
	data    []byte
	budget  int // how much may still be spent
	objects map[int]place
	packed  map[int][]byte // decoded object streams
	trailer dict
	crypt   *crypt
	cache   map[int]object
	fonts   map[ref]*font
	reading map[int]bool
	off     map[int]bool // groups that are not shown, once that was asked
}

// place is where an object stands: in the file, or in an object stream.
type place struct {
	at   int
	in   int // the number of the object stream, 0 for the file itself
	next int // order of appearance
}

// maxBudget is the most that any file may cost: about that many bytes are read and
// decoded.
const maxBudget = 1 << 30

// open finds the objects of a file.
func openPDF(data []byte) *pdfFile {
	f := &pdfFile{data: data, objects: map[int]place{}, packed: map[int][]byte{}, trailer: dict{}, cache: map[int]object{}, fonts: map[ref]*font{}, reading: map[int]bool{}}
	f.budget = min(maxBudget, 16<<20+64*min(len(data), maxBudget/64))
	var packs []int
	for at := 0; at < len(data) && f.budget > 0; {
		at = f.scan(at, &packs)
	}
	if f.trailer["Encrypt"] != nil {
		f.crypt = f.newCrypt()
	}
	for _, number := range packs {
		f.unpack(number)
	}
	if f.trailer["Root"] == nil {
		f.findRoot()
	}
	return f
}

// scan looks at the next place at which an object or a trailer may begin.
func (f *pdfFile) scan(at int, packs *[]int) int {
	n := bytes.IndexAny(f.data[at:], "ot")
	if n < 0 {
		f.budget -= len(f.data) - at
		return len(f.data)
	}
	f.budget -= n + 1
	at += n
	switch {
	case bytes.HasPrefix(f.data[at:], []byte("obj")):
		if number, _, ok := header(f.data, at); ok {
			return f.define(number, at+len("obj"), packs)
		}
	case bytes.HasPrefix(f.data[at:], []byte("trailer")):
		l := lexer{f.data, at + len("trailer"), &f.budget}
		if d, ok := l.object(0).(dict); ok {
			f.join(d)
			return max(l.at, at+1)
		}
	}
	return at + 1
}

// header reads the number and generation before the word obj.
func header(data []byte, at int) (number, generation int, ok bool) {
	generation, at, ok = numberBefore(data, at)
	if !ok {
		return 0, 0, false
	}
	number, _, ok = numberBefore(data, at)
	return number, generation, ok && number > 0
}

func numberBefore(data []byte, at int) (value, start int, ok bool) {
	for at > 0 && isSpace(data[at-1]) {
		at--
	}
	end := at
	for at > 0 && end-at < 10 && '0' <= data[at-1] && data[at-1] <= '9' {
		at--
	}
	for _, c := range data[at:end] {
		value = value*10 + int(c-'0')
	}
	return value, at, at < end && value < 1<<31
}

// define notes an object, and skips its data.
func (f *pdfFile) define(number, at int, packs *[]int) int {
	l := lexer{f.data, at, &f.budget}
	o := l.object(0)
	f.objects[number] = place{at: at, next: len(f.objects)}
	d, ok := o.(dict)
	if !ok {
		return max(l.at, at)
	}
	_, end, ok := f.streamData(d, l.at)
	if !ok {
		return max(l.at, at)
	}
	switch d["Type"] {
	case name("ObjStm"):
		*packs = append(*packs, number)
	case name("XRef"):
		f.join(d)
	}
	return end
}

// join takes what a trailer says. The last one counts.
func (f *pdfFile) join(d dict) {
	for _, key := range []name{"Root", "Info", "Encrypt", "ID"} {
		if d[key] != nil {
			f.trailer[key] = d[key]
		}
	}
}

// streamData is the data of a stream whose dictionary ends at a position.
func (f *pdfFile) streamData(d dict, at int) (raw []byte, end int, ok bool) {
	l := lexer{f.data, at, &f.budget}
	l.skipSpace()
	if !bytes.HasPrefix(f.data[l.at:], []byte("stream")) {
		return nil, 0, false
	}
	start := l.at + len("stream")
	if start < len(f.data) && f.data[start] == '\r' {
		start++
	}
	if start < len(f.data) && f.data[start] == '\n' {
		start++
	}
	if length, isNumber := d["Length"].(float64); isNumber && length >= 0 && length <= float64(len(f.data)-start) {
		end := start + int(length)
		rest := bytes.TrimLeft(f.data[end:min(len(f.data), end+16)], "\r\n ")
		if bytes.HasPrefix(rest, []byte("endstream")) {
			return f.data[start:end], end, true
		}
	}
	n := bytes.Index(f.data[start:], []byte("endstream"))
	if n < 0 {
		n = len(f.data) - start
	}
	f.budget -= n
	return f.data[start : start+n], start + n, true
}

// unpack notes the objects of an object stream. An object of the file itself takes
// precedence, but a file does not have both.
func (f *pdfFile) unpack(number int) {
	s, ok := f.resolve(ref{number, 0}).(*stream)
	if !ok {
		return
	}
	data := f.decode(s)
	first, _ := s.dict["First"].(float64)
	count, _ := s.dict["N"].(float64)
	if first < 0 || first > float64(len(data)) {
		return
	}
	l := lexer{data[:int(first)], 0, &f.budget}
	for i := 0; float64(i) < count && !l.done(); i++ {
		n, okN := l.object(0).(float64)
		offset, okO := l.object(0).(float64)
		if !okN || !okO || offset < 0 || first+offset >= float64(len(data)) {
			return
		}
		if _, known := f.objects[int(n)]; !known || f.objects[int(n)].in > 0 {
			f.objects[int(n)] = place{at: int(first + offset), in: number, next: len(f.objects)}
		}
	}
	f.packed[number] = data
}

// findRoot looks for a catalogue where no trailer names one.
func (f *pdfFile) findRoot() {
	best := -1
	for number := range f.objects {
		if d, ok := f.resolve(ref{number, 0}).(dict); ok && d["Type"] == name("Catalog") && number > best {
			best = number
		}
	}
	if best >= 0 {
		f.trailer["Root"] = ref{best, 0}
	}
}

// resolve follows references to the object they lead to.
func (f *pdfFile) resolve(o object) object {
	for range maxDepth {
		r, ok := o.(ref)
		if !ok {
			return o
		}
		o = f.load(r)
	}
	return nil
}

func (f *pdfFile) load(r ref) object {
	if o, known := f.cache[r.number]; known {
		return o
	}
	p, known := f.objects[r.number]
	if !known || f.reading[r.number] || f.budget <= 0 {
		return nil
	}
	f.reading[r.number] = true
	defer delete(f.reading, r.number)
	var o object
	if p.in > 0 {
		l := lexer{f.packed[p.in], p.at, &f.budget}
		o = l.object(0)
	} else {
		l := lexer{f.data, p.at, &f.budget}
		o = l.object(0)
		if _, isNumber := o.(float64); isNumber {
			o = l.reference(o)
		}
		if d, isDict := o.(dict); isDict {
			if raw, _, isStream := f.streamData(d, l.at); isStream {
				if length, isRef := d["Length"].(ref); isRef {
					if n, ok := f.resolve(length).(float64); ok && n >= 0 && n <= float64(len(raw)) {
						raw = f.exactly(raw, int(n))
					}
				}
				o = &stream{dict: d, raw: raw, self: r}
			}
		}
		if f.crypt != nil {
			o = f.crypt.text(o, r, 0)
		}
	}
	f.cache[r.number] = o
	return o
}

// exactly cuts data at the length that the file gives for it, if what follows
// confirms it: the word endstream may occur in the data itself.
func (f *pdfFile) exactly(raw []byte, n int) []byte {
	if len(bytes.TrimRight(raw[n:], "\r\n ")) == 0 {
		return raw[:n]
	}
	return raw
}

// pages lists the pages in order, with what they inherit. Where the tree is broken,
// it lists all objects that are pages.
func (f *pdfFile) pages() []dict {
	var pages []dict
	root, _ := f.resolve(f.trailer["Root"]).(dict)
	seen := map[int]bool{}
	nodes := 0
	var walk func(o object, inherited dict, depth int)
	walk = func(o object, inherited dict, depth int) {
		if r, ok := o.(ref); ok {
			if seen[r.number] {
				return
			}
			seen[r.number] = true
		}
		node, ok := f.resolve(o).(dict)
		if nodes++; !ok || depth > maxDepth || nodes > maxKids || len(pages) >= maxPages {
			return
		}
		inherited = maps.Clone(inherited)
		for _, key := range []name{"Resources", "MediaBox", "CropBox"} {
			if node[key] != nil {
				inherited[key] = node[key]
			}
		}
		if kids, ok := f.resolve(node["Kids"]).(array); ok {
			for _, kid := range kids {
				walk(kid, inherited, depth+1)
			}
			return
		}
		for _, key := range []name{"Contents", "Annots", "UserUnit"} {
			inherited[key] = node[key]
		}
		pages = append(pages, inherited)
	}
	if root != nil {
		walk(root["Pages"], dict{}, 0)
	}
	if len(pages) > 0 {
		return pages
	}
	for _, number := range f.inOrder() {
		if d, ok := f.resolve(ref{number, 0}).(dict); ok && d["Type"] == name("Page") && len(pages) < maxPages {
			pages = append(pages, d)
		}
	}
	return pages
}

// inOrder lists the numbers of all objects in the order of the file.
func (f *pdfFile) inOrder() []int {
	numbers := make([]int, 0, len(f.objects))
	for number := range f.objects {
		numbers = append(numbers, number)
	}
	sortBy(numbers, func(n int) int { return f.objects[n].next })
	return numbers
}

// textString is a text for people: in UTF-16 or UTF-8 with a mark, otherwise in
// PDF's own encoding, which is nearly Latin-1.
func (f *pdfFile) textString(o object) string {
	s, ok := f.resolve(o).(str)
	if !ok || len(s) > 1<<16 {
		return ""
	}
	switch {
	case len(s) >= 2 && s[0] == 0xfe && s[1] == 0xff:
		return utf16Text(string(s[2:]))
	case len(s) >= 3 && s[:3] == "\xef\xbb\xbf":
		return string(s[3:])
	}
	b, table := make([]rune, 0, len(s)), winAnsi()
	for i := range len(s) {
		b = append(b, table[s[i]])
	}
	return string(b)
}

// utf16Text decodes big-endian UTF-16.
func utf16Text(s string) string {
	units := make([]uint16, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	var b []byte
	for _, r := range utf16.Decode(units) {
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}
