package codec

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// longFrom is how many elements a list has before [ParseLong] keeps its text.
const longFrom = 1000

// ParseLong is [Parse] for a document that may have very long lists. The text of
// a list of more than a thousand elements is kept instead of its elements, which
// take many times as much memory. [Value.Each] reads them one by one, and the
// first call of [Value.Elems] makes all of them.
//
// The value refers to data, which must not be changed any more.
func ParseLong(data []byte) (*Value, error) {
	data = bytes.TrimPrefix(data, bom)
	return parse(data, &parser{keep: data})
}

// keepList reads the rest of a list that has become long, and keeps the text of
// all of it.
func (p *parser) keepList(v *Value, start int64) (*Value, error) {
	count := len(v.elems)
	for ; p.dec.PeekKind() != jsontext.KindEndArray; count++ {
		if err := p.dec.SkipValue(); err != nil {
			return nil, err
		}
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, err
	}
	v.elems = nil
	v.large = &large{text: p.keep[start:p.dec.InputOffset()], count: count}
	return v, nil
}

// hasText reports whether v is a list of which text is kept.
func (v *Value) hasText() bool { return v.Kind() == Array && v.large != nil }

// Each calls visit for each element of an array, in order, until it returns
// false. An element is valid, and must not be changed, during the call.
func (v *Value) Each(visit func(i int, elem *Value) bool) {
	if v.Kind() != Array {
		return
	}
	first := 0
	if v.hasText() {
		p := parser{inEach: true}
		if !v.large.each(func(i int, dec *jsontext.Decoder) bool {
			p.dec, p.used = dec, 0
			elem, err := p.value(1)
			return err == nil && visit(i, elem)
		}) {
			return
		}
		first = v.large.count
	}
	for i, elem := range v.elems {
		if !visit(first+i, elem) {
			return
		}
	}
}

// each calls visit with a decoder that stands before each element, until it
// returns false, and reports whether it never did.
func (l *large) each(visit func(i int, dec *jsontext.Decoder) bool) bool {
	dec := jsontext.NewDecoder(bytes.NewBuffer(l.text))
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for i := 0; dec.PeekKind() != jsontext.KindEndArray; i++ {
		if !visit(i, dec) {
			return false
		}
	}
	return true
}

// spread makes the elements of a list of which the text was kept.
func (v *Value) spread() {
	if !v.hasText() {
		return
	}
	all := make([]*Value, 0, v.large.count+len(v.elems))
	p := parser{}
	v.large.each(func(_ int, dec *jsontext.Decoder) bool {
		p.dec = dec
		elem, err := p.value(1)
		all = append(all, elem)
		return err == nil
	})
	v.elems, v.large = append(all, v.elems...), nil
}

// marshalTo writes the elements.
func (l *large) marshalTo(enc *jsontext.Encoder) error {
	var failed error
	l.each(func(_ int, dec *jsontext.Decoder) bool {
		text, err := dec.ReadValue()
		if err == nil {
			err = enc.WriteValue(text)
		}
		failed = err
		return err == nil
	})
	return failed
}
