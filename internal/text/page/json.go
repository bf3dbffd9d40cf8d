package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// deepestJSON is how deep lists and objects may lie inside each other.
const deepestJSON = 10_000

// parseJSON reads a JSON document strictly: what has bytes that are not UTF-8, a
// name twice in one object, or something after its end is no document. Readers of
// such a text would differ on what it says.
func parseJSON(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("bytes that are not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	v, err := jsonValue(dec, 0)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("text after the end of the document")
	}
	return v, nil
}

func jsonValue(dec *json.Decoder, depth int) (any, error) {
	token, err := dec.Token()
	delim, nested := token.(json.Delim)
	switch {
	case err != nil || !nested:
		return token, err
	case depth == deepestJSON:
		return nil, errors.New("too deep")
	case delim == '[':
		list := []any{}
		for dec.More() {
			v, err := jsonValue(dec, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = dec.Token()
		return list, err
	}
	object := map[string]any{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		if _, twice := object[name]; twice {
			return nil, errors.New("a name twice")
		}
		if object[name], err = jsonValue(dec, depth+1); err != nil {
			return nil, err
		}
	}
	_, err = dec.Token()
	return object, err
}
