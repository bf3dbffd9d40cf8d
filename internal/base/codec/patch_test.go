package codec_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestMergePatchVectorsOfRFC7396(t *testing.T) {
	for _, v := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`}, {`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`}, {`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`},
		{`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`}, {`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`}, {`["a","b"]`, `["c","d"]`, `["c","d"]`},
		{`{"a":"b"}`, `["c"]`, `["c"]`}, {`{"a":"foo"}`, `null`, `null`}, {`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`}, {`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		target, patch := parsed(t, v[0]), parsed(t, v[1])
		got := inOneLine(t, codec.MergePatch(target, patch))
		if got != v[2] || inOneLine(t, target) != v[0] || inOneLine(t, patch) != v[1] {
			t.Errorf("%s with %s: got %s, want %s", v[0], v[1], got, v[2])
		}
	}
}

func FuzzMergePatch(f *testing.F) {
	f.Add(`{"a":{"b":1,"c":[null]},"z":2}`, `{"a":{"b":null,"d":{}},"q":[{"x":null}]}`)
	f.Add(`[1]`, `{"a":null}`)
	f.Fuzz(func(t *testing.T, targetText, patchText string) {
		target, err := codec.Parse([]byte(targetText))
		if err != nil {
			return
		}
		patch, err := codec.Parse([]byte(patchText))
		if err != nil {
			return
		}
		before, change := inOneLine(t, target), inOneLine(t, patch)
		once := codec.MergePatch(target, patch)
		if inOneLine(t, target) != before || inOneLine(t, patch) != change {
			t.Fatal("an argument was changed")
		}
		if twice := codec.MergePatch(once, patch); inOneLine(t, twice) != inOneLine(t, once) {
			t.Fatalf("%s with %s: once %s, twice %s", before, change, inOneLine(t, once), inOneLine(t, twice))
		}
	})
}

func parsed(t *testing.T, text string) *codec.Value {
	t.Helper()
	v := must.Get(codec.Parse([]byte(text)))(t)
	return v
}

func inOneLine(t *testing.T, v *codec.Value) string {
	t.Helper()
	text := must.Get(codec.MarshalLine(v))(t)
	return string(text)
}
