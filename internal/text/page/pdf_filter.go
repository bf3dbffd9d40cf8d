package page

import (
	"bytes"
	"compress/flate"
	"io"
)

// decode applies the filters of a stream. Its result costs as much of the budget as
// it has bytes; broken data ends where it breaks.
func (f *pdfFile) decode(s *stream) []byte {
	data := s.raw
	if f.crypt != nil && s.dict["Type"] != name("XRef") {
		data = f.crypt.decrypt(data, s.self, f.crypt.streams)
	}
	filters := f.list(s.dict["Filter"])
	parameters := f.list(s.dict["DecodeParms"])
	for i, filter := range filters {
		if i == 8 {
			return nil
		}
		kind, _ := f.resolve(filter).(name)
		var p dict
		if i < len(parameters) {
			p, _ = f.resolve(parameters[i]).(dict)
		}
		switch kind {
		case "FlateDecode", "Fl":
			data = f.predicted(f.inflate(data), p)
		case "LZWDecode", "LZW":
			data = f.predicted(f.unLZW(data, p["EarlyChange"] != 0.0), p)
		case "ASCII85Decode", "A85":
			data = f.unASCII85(data)
		case "ASCIIHexDecode", "AHx":
			l := lexer{append([]byte("<"), data...), 0, &f.budget}
			hex, _ := l.hex().(str)
			data = []byte(hex)
		case "RunLengthDecode", "RL":
			data = f.unRunLength(data)
		case "Crypt":
		default:
			return nil // an image
		}
		f.budget -= len(data)
	}
	return data
}

// list is an array, or an object as an array of one.
func (f *pdfFile) list(o object) array {
	switch o := f.resolve(o).(type) {
	case nil:
		return nil
	case array:
		return o
	default:
		return array{o}
	}
}

// inflate decompresses as much as the data has and the budget allows.
func (f *pdfFile) inflate(data []byte) []byte {
	if len(data) < 2 {
		return nil
	}
	// The checksum at the end is ignored: a file that was cut still has text.
	out := f.limited(flate.NewReader(bytes.NewReader(data[2:])))
	if len(out) == 0 {
		out = f.limited(flate.NewReader(bytes.NewReader(data)))
	}
	return out
}

func (f *pdfFile) limited(r io.Reader) []byte {
	out, _ := io.ReadAll(io.LimitReader(r, int64(max(0, f.budget))))
	return out
}

// predicted undoes the predictor: the compressor was given differences in place of
// the data.
func (f *pdfFile) predicted(data []byte, p dict) []byte {
	number := func(key name, otherwise, most int) int {
		v, ok := f.resolve(p[key]).(float64)
		if !ok || v < 1 || v > float64(most) {
			return otherwise
		}
		return int(v)
	}
	predictor := number("Predictor", 1, 15)
	if predictor < 2 {
		return data
	}
	depth := (number("Colors", 1, 64)*number("BitsPerComponent", 8, 16) + 7) / 8
	row := (number("Columns", 1, 1<<20)*number("Colors", 1, 64)*number("BitsPerComponent", 8, 16) + 7) / 8
	if predictor == 2 {
		for start := 0; start+row <= len(data); start += row {
			for i := start + depth; i < start+row; i++ {
				data[i] += data[i-depth]
			}
		}
		return data
	}
	out := make([]byte, 0, len(data))
	before := make([]byte, row)
	for len(data) > 1 {
		kind := data[0]
		line := make([]byte, row)
		n := copy(line, data[1:])
		data = data[1+n:]
		unfilter(kind, line, before, depth)
		out = append(out, line[:n]...)
		before = line
	}
	return out
}

// unfilter undoes a PNG filter on a row.
func unfilter(kind byte, line, before []byte, depth int) {
	for i := range line {
		var left, corner byte
		if i >= depth {
			left, corner = line[i-depth], before[i-depth]
		}
		switch kind {
		case 1:
			line[i] += left
		case 2:
			line[i] += before[i]
		case 3:
			line[i] += byte((int(left) + int(before[i])) / 2)
		case 4:
			line[i] += paeth(left, before[i], corner)
		}
	}
}

func paeth(a, b, c byte) byte {
	p := int(a) + int(b) - int(c)
	pa, pb, pc := abs(p-int(a)), abs(p-int(b)), abs(p-int(c))
	switch {
	case pa <= pb && pa <= pc:
		return a
	case pb <= pc:
		return b
	}
	return c
}

func abs(n int) int { return max(n, -n) }

// unLZW undoes the compression of Lempel, Ziv and Welch, with codes of nine to
// twelve bits, most significant bit first.
func (f *pdfFile) unLZW(data []byte, early bool) []byte {
	const clear, end = 256, 257
	type entry struct {
		before int32
		last   byte
		length int32
	}
	table := make([]entry, 258, 4096)
	for i := range 256 {
		table[i] = entry{-1, byte(i), 1}
	}
	var out []byte
	width, bits, held := uint(9), uint(0), uint32(0)
	before := int32(-1)
	change := 0
	if early {
		change = 1
	}
	expand := func(code int32) {
		n := int(table[code].length)
		out = append(out, make([]byte, n)...)
		for i := len(out) - 1; n > 0; i, n = i-1, n-1 {
			out[i] = table[code].last
			code = table[code].before
		}
	}
	for _, c := range data {
		held, bits = held<<8|uint32(c), bits+8
		for bits >= width && len(out) < f.budget {
			code := int32(held >> (bits - width) & (1<<width - 1))
			bits -= width
			if code == end {
				return out
			}
			if code == clear {
				table, width, before = table[:258], 9, -1
				continue
			}
			start := len(out)
			switch {
			case int(code) < len(table) && code != clear:
				expand(code)
			case before >= 0 && int(code) == len(table):
				expand(before)
				out = append(out, out[start])
			default:
				return out
			}
			if before >= 0 && len(table) < 4096 {
				table = append(table, entry{before, out[start], table[before].length + 1})
			}
			before = code
			switch n := len(table) + change; {
			case n >= 2048:
				width = 12
			case n >= 1024:
				width = 11
			case n >= 512:
				width = 10
			}
		}
	}
	return out
}

func (f *pdfFile) unASCII85(data []byte) []byte {
	var out []byte
	var group [5]byte
	n := 0
	flush := func() {
		for i := n; i < 5; i++ {
			group[i] = 84
		}
		var v uint32
		for _, g := range group {
			v = v*85 + uint32(g)
		}
		out = append(out, []byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}[:n-1]...)
		n = 0
	}
	for _, c := range data {
		switch {
		case c == '~':
			if n > 1 {
				flush()
			}
			return out
		case c == 'z' && n == 0:
			out = append(out, 0, 0, 0, 0)
		case '!' <= c && c <= 'u':
			group[n] = c - '!'
			if n++; n == 5 {
				flush()
			}
		}
	}
	if n > 1 {
		flush()
	}
	return out
}

func (f *pdfFile) unRunLength(data []byte) []byte {
	var out []byte
	for len(data) > 1 && len(out) < f.budget {
		n := int(data[0])
		switch {
		case n == 128:
			return out
		case n < 128:
			end := min(len(data), n+2)
			out = append(out, data[1:end]...)
			data = data[end:]
		default:
			out = append(out, bytes.Repeat(data[1:2], 257-n)...)
			data = data[2:]
		}
	}
	return out
}
