package codec_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestMarshalKeepsOrderAndText(t *testing.T) {
	type result struct {
		OK    codec.True       `json:"ok"`
		Text  string           `json:"text"`
		List  []string         `json:"list"`
		Cap   float64          `json:"cap"`
		Extra tidegate.Details `json:"extra"`
	}
	got := must.Get(codec.Marshal(result{
		Text:  "a<b>&\u2028 \xff",
		Cap:   800,
		Extra: tidegate.Pairs("z", []string(nil), "a", tidegate.Pairs("<", 1)),
	}))(t)
	want := "{\n  \"ok\": true,\n  \"text\": \"a<b>&\u2028 \ufffd\",\n  \"list\": [],\n  \"cap\": 800,\n  \"extra\": {\n    \"z\": [],\n    \"a\": {\n      \"<\": 1\n    }\n  }\n}"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("bytes differ (-want +got):\n%s", diff)
	}
}

func TestMarshalOfParsedDocumentChangesOneMemberOnly(t *testing.T) {
	v := must.Get(codec.Parse([]byte(`{"b": 1.50, "a": [1e2, "x"], "zero": {}}`)))(t)
	v.Set("a", codec.Of("changed"))
	v.Set("more", codec.Of([]int{}))
	v.Delete("zero")
	got := must.Get(codec.MarshalLine(v))(t)
	if want := `{"b":1.50,"a":"changed","more":[]}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestDigestVectors(t *testing.T) {
	for _, tt := range []struct{ document, want string }{
		{`{}`, "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},
		{`{"status":"paused"}`, "sha256:d9f037e74d8b805128e9f67ea027bb95e71f3a0d979b530992d7400be0bae792"},
		{`{"metrics":{"beta":{"y":2,"x":1},"alpha":1}}`, "sha256:41b857f47ac327e600a7dcba283ca6c6904d68c5f46bdc24585cd71597a2a844"},
		{`{"n":0.571429,"a":[{"d":null,"c":"é<&>` + "\u2028" + `"}],"b":1}`, "sha256:d45c081d0b4f4c525d52773876ce734531145dad9f8ac25f8d0a2575629e9302"},
	} {
		v := must.Get(codec.Parse([]byte(tt.document)))(t)
		if got := codec.Digest(v); got != tt.want {
			t.Errorf("digest of %s = %s, want %s", tt.document, got, tt.want)
		}
	}
}

func TestParseNamesThePositionOfAFault(t *testing.T) {
	manyKeys := ""
	for i := range 64 {
		manyKeys += fmt.Sprintf(`"k%d":0,`, i)
	}
	for _, tt := range []struct{ name, document, want string }{
		{"empty", "", "line 1, column 1: the document ends too early"},
		{"unclosed", "{\n\"a\": [1,", "line 2, column 9: the document ends too early"},
		{"trailing data", "{}\n{}", "line 2, column 1: text after the end of the document"},
		{"duplicate key", `{"a":1,"b":{"x":1,"x":2}}`, `line 1, column 19: duplicate key "x"`},
		{"duplicate key, spelt otherwise", `{"a/b":1,"a\/b":2}`, `line 1, column 10: duplicate key "a/b"`},
		{"duplicate key among many", "{" + manyKeys + `"k7":0}`, `line 1, column 504: duplicate key "k7"`},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "line 1, column 7: "},
		{"bare word", "nope", "line 1, column "},
		{"text after the end", "{} x", "line 1, column 4: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := codec.Parse([]byte(tt.document))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want prefix %q", err, tt.want)
			}
		})
	}
}

// TestWhatIsHandedInStaysSmall: indentation makes a deep document many times as
// large when it is written, so a document that is handed in is bounded.
func TestWhatIsHandedInStaysSmall(t *testing.T) {
	nested := func(depth int, inside string) string {
		return strings.Repeat("[", depth) + inside + strings.Repeat("]", depth)
	}
	for _, tt := range []struct{ name, document, want string }{
		{"as deep as allowed", nested(codec.MaxDepth, "1"), ""},
		{"too deep", nested(codec.MaxDepth+1, ""), "line 1, column 65: objects and lists lie inside each other deeper than 64 levels"},
		{"9,000 deep", strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000), "line 1, column 321: objects and lists"},
		{"broad", nested(2, strings.Repeat("1,", 10_000)+"1"), ""},
		{"broad at the bottom", nested(codec.MaxDepth, strings.Repeat("1,", 100_000)+"1"), "line 1, column "},
		{"unclosed", "[", "line 1, column 2: the document ends too early"},
		{"text after the end", "{} {}", "line 1, column 4: text after the end of the document"},
		{"a byte-order mark", "\ufeff{}", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v, err := codec.ParseGiven([]byte(tt.document))
			if tt.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if written, _ := codec.Marshal(v); len(written) > len(tt.document)+codec.MaxIndent {
					t.Errorf("%d bytes became %d", len(tt.document), len(written))
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want prefix %q", err, tt.want)
			}
		})
	}
	if _, err := codec.Parse([]byte(nested(1000, ""))); err != nil {
		t.Errorf("a file of another program: %v", err)
	}
}

func TestParseSkipsAByteOrderMark(t *testing.T) {
	if _, err := codec.Parse([]byte("\ufeff{}")); err != nil {
		t.Error(err)
	}
}

func TestIntAcceptsIntegralSpellingsOnly(t *testing.T) {
	for literal, want := range map[string]int64{"800": 800, "800.0": 800, "8e2": 800, "-3": -3} {
		v, _ := codec.Parse([]byte(literal))
		if got, ok := v.Int(); !ok || got != want {
			t.Errorf("Int of %s = %d, %v", literal, got, ok)
		}
	}
	for _, literal := range []string{"0.5", "1e300", `"8"`, "true", "null", "1e999"} {
		v, _ := codec.Parse([]byte(literal))
		if _, ok := v.Int(); ok {
			t.Errorf("Int of %s is accepted", literal)
		}
	}
}

// TestReadingChangesNothing shares values between goroutines that only read;
// the race detector sees a reader that writes. The digests show that each saw
// the whole value.
func TestReadingChangesNothing(t *testing.T) {
	small := must.Get(codec.Parse([]byte(`{"b":[1,{"a":null,"c":"x"}],"a":1.50}`)))(t)
	large, list := codec.NewObject(), codec.Of([]any{})
	for i := range 2000 {
		large.Set(strconv.Itoa(i), codec.Of(i))
		list.Append(codec.Of([]int{i}))
	}
	large.Set("list", list)
	parsed := must.Get(codec.Parse([]byte(inOneLine(t, large))))(t)
	for _, shared := range []*codec.Value{small, large, parsed} {
		want, text := codec.Digest(shared.Clone()), inOneLine(t, shared)
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				read(shared)
				if got := codec.Digest(shared); got != want {
					t.Errorf("a reader saw %s, want %s", got, want)
				}
				if err := codec.Table(codec.Field{Name: "list", Optional: true, Shape: codec.List(codec.List(codec.IntegerFrom(0), 1), 1)}).Check(shared); err != nil {
					t.Error(err)
				}
				codec.MergePatch(shared, small)
				shared.Clone().Set("a", nil)
			})
		}
		readers.Wait()
		if inOneLine(t, shared) != text {
			t.Error("reading changed the value")
		}
	}
}

// read asks v and everything in it for all that a value can say.
func read(v *codec.Value) {
	v.Kind()
	v.Str()
	v.Bool()
	v.Int()
	v.Len()
	v.Get("1999")
	for _, m := range v.Members() {
		read(v.Get(m.Key))
	}
	for _, elem := range v.Elems() {
		read(elem)
	}
}

func TestMembersOfALargeObjectAreFound(t *testing.T) {
	v := codec.NewObject()
	for i := range 100 {
		v.Set(strconv.Itoa(i), codec.Of(i))
	}
	v.Set("7", codec.Of("again"))
	for i := 10; i < 90; i++ {
		v.Delete(strconv.Itoa(i))
	}
	v.Delete("absent")
	v.Set("50", codec.Of("back"))
	if v.Len() != 21 || v.Get("7").Str() != "again" || v.Get("50").Str() != "back" || v.Get("51") != nil || v.Members()[20].Key != "50" {
		t.Errorf("got %s", inOneLine(t, v))
	}
	for _, m := range v.Members() {
		if v.Get(m.Key) != m.Value {
			t.Errorf("%s is not found", m.Key)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2,{"b":null}],"c":"d"}`, `[[[]]]`, "\ufeff1e5", `{"a":1,"a":2}`, `"\ud800"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := codec.Parse(data)
		if err != nil {
			return
		}
		once, err := codec.Marshal(v)
		if err != nil {
			t.Fatalf("a parsed document does not marshal: %v", err)
		}
		again, err := codec.Parse(once)
		if err != nil {
			t.Fatalf("a written document does not parse: %v", err)
		}
		twice, _ := codec.Marshal(again)
		if string(once) != string(twice) {
			t.Fatalf("not stable:\n%s\n%s", once, twice)
		}
	})
}
