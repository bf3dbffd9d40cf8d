package codec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/codec"
)

// longDocument has a list of n elements in the middle, each spelt in a way that
// is not ours.
func longDocument(n int) []byte {
	var out strings.Builder
	// The keys stand in another order by UTF-16 than by bytes.
	out.WriteString("\ufeff{\"before\" : 1.50, \"\ufb33\":{}, \"\U0001f600\":[], \"list\":[")
	for i := range n {
		if i > 0 {
			out.WriteString(" ,")
		}
		fmt.Fprintf(&out, `{"n":%d,"s":"\u0041<\u00e9 %d", "deep":[[%d, 1e2], {}], "b":0.10}`, i, i, i)
	}
	out.WriteString(`], "after":"x"}` + "\n")
	return []byte(out.String())
}

func TestALongListIsTheSameKeptAsText(t *testing.T) {
	for _, n := range []int{0, 1, 999, 1000, 1001, 3000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			data := longDocument(n)
			plain, err := codec.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			for what, change := range map[string]func(v *codec.Value) *codec.Value{
				"as read":  func(v *codec.Value) *codec.Value { return v },
				"cloned":   (*codec.Value).Clone,
				"appended": func(v *codec.Value) *codec.Value { v.Get("list").Append(codec.Of("last")); return v },
				"appended to a clone": func(v *codec.Value) *codec.Value {
					c := v.Clone()
					c.Get("list").Append(codec.Of("last"))
					return c
				},
				"spread":              func(v *codec.Value) *codec.Value { v.Get("list").Elems(); return v },
				"appended and spread": func(v *codec.Value) *codec.Value { v.Get("list").Append(codec.Of(1)); v.Get("list").Elems(); return v },
			} {
				long, err := codec.ParseLong(data)
				if err != nil {
					t.Fatal(err)
				}
				want, got := change(plain.Clone()), change(long)
				if want.Get("list").Len() != got.Get("list").Len() {
					t.Errorf("%s: %d elements, want %d", what, got.Get("list").Len(), want.Get("list").Len())
				}
				if diff := cmp.Diff(marshal(t, want), marshal(t, got)); diff != "" {
					t.Errorf("%s (-plain +long):\n%.400s", what, diff)
				}
				if codec.Digest(want) != codec.Digest(got) {
					t.Errorf("%s: the digests differ", what)
				}
				i := 0
				got.Get("list").Each(func(at int, elem *codec.Value) bool {
					if at != i || marshal(t, elem) != marshal(t, want.Get("list").Elems()[i]) {
						t.Errorf("%s: element %d is %s at %d", what, i, marshal(t, elem), at)
					}
					i++
					return true
				})
				if i != want.Get("list").Len() {
					t.Errorf("%s: %d elements were visited", what, i)
				}
			}
			if diff := cmp.Diff(marshal(t, plain), marshal(t, mustParse(t, data))); diff != "" {
				t.Errorf("a change of a clone changed the document:\n%.400s", diff)
			}
		})
	}
}

func TestFaultsInALongListAreFound(t *testing.T) {
	for name, tail := range map[string]string{
		"duplicate key":    `{"a":1,"a":2}]}`,
		"not UTF-8":        "\"\xff\"]}",
		"lone surrogate":   `"\ud800"]}`,
		"no end":           `1`,
		"wrong end":        `1}}`,
		"text after":       `1]} x`,
		"a comma too many": `1,]}`,
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(`{"list":[` + strings.Repeat("0,\n", 1500) + tail)
			_, plain := codec.Parse(data)
			_, long := codec.ParseLong(data)
			if plain == nil || long == nil || plain.Error() != long.Error() {
				t.Errorf("got %v, want %v", long, plain)
			}
		})
	}
	shape := codec.Table(codec.Field{Name: "list", Shape: codec.List(codec.IntegerFrom(0), 0)})
	v, err := codec.ParseLong([]byte(`{"list":[` + strings.Repeat("0,", 1500) + `-1,-2]}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := shape.Check(v); err == nil || !strings.Contains(err.Error(), "$.list[1500]") {
		t.Errorf("got %v", err)
	}
}

func mustParse(t *testing.T, data []byte) *codec.Value {
	t.Helper()
	v, err := codec.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func marshal(t *testing.T, v *codec.Value) string {
	t.Helper()
	data, err := codec.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
