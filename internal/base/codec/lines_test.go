package codec_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
)

// shown are the lines of text as "number a=kind:text b=kind:text".
func shown(r io.Reader) (string, error) {
	var out strings.Builder
	err := codec.EachLine(r, []string{"a", "b"}, func(number int, m []codec.LineMember) error {
		fmt.Fprintf(&out, "%d a=%v:%s b=%v:%s\n", number, m[0].Kind, m[0].Text, m[1].Kind, m[1].Text)
		return nil
	})
	return out.String(), err
}

func TestEachLine(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"members in any order, others skipped", `{"c":[{"a":1}],"b":"y","a":"x"}`, "1 a=string:x b=string:y\n"},
		{"one line is not the next", `{"a":"x"}` + "\n" + `{"b":"y"}` + "\n", "1 a=string:x b=absent:\n2 a=absent: b=string:y\n"},
		{"blank lines count", "\n \t\r\n{}\n\n", "3 a=absent: b=absent:\n"},
		{"kinds", `{"a":null,"b":true}` + "\n" + `{"a":1.5,"b":[]}` + "\n" + `{"a":{}}`, "1 a=null: b=boolean:\n2 a=number: b=array:\n3 a=object: b=absent:\n"},
		{"lines that are not objects", "[1]\n\"a\"\n3\nnull\n", "1 a=absent: b=absent:\n2 a=absent: b=absent:\n3 a=absent: b=absent:\n4 a=absent: b=absent:\n"},
		{"escapes in keys and strings", `{"\u0061":"\u00e9\n\"","b":""}`, "1 a=string:é\n\" b=string:\n"},
		{"byte-order mark and CRLF", "\ufeff{\"a\":\"x\"}\r\n{}", "1 a=string:x b=absent:\n2 a=absent: b=absent:\n"},
		{"longer than the buffer", `{"a":"` + long + `"}` + "\n" + `{"a":"x"}`, "1 a=string:" + long + " b=absent:\n2 a=string:x b=absent:\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{"whole": strings.NewReader(test.text), "byte by byte": iotest.OneByteReader(strings.NewReader(test.text))} {
				got := must.Get(shown(r))(t)
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

func TestEachDocument(t *testing.T) {
	var got []string
	err := codec.EachDocument(strings.NewReader("\ufeff{\"a\":[\"x\",\"y\"]}\n\n[1]\r\n{\"a\":1,\"a\":2}\n{}\n"), func(number int, document *codec.Value) error {
		text, err := codec.MarshalLine(document)
		got = append(got, fmt.Sprint(number, " ", string(text)))
		return err
	})
	if diff := cmp.Diff([]string{`1 {"a":["x","y"]}`, `3 [1]`}, got); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	var syntax *codec.SyntaxError
	if !errors.As(err, &syntax) || syntax.Line != 4 {
		t.Errorf("got %v, want a syntax error in line 4", err)
	}
}

func TestEachLineNamesTheLineThatIsNoJSON(t *testing.T) {
	tests := []struct {
		name, text   string
		line, column int
	}{
		{"a word", "{}\nx\n", 2, 1},
		{"cut off", "{}\n\n{\"a\":", 3, 6},
		{"two documents", "{} {}\n", 1, 4},
		{"a document of two lines", "{\n}\n", 1, 2},
		{"a duplicate key", `{"a":1,"a":2}`, 1, 8},
		{"a duplicate key inside", `{"c":{"a":1,"a":2}}`, 1, 13},
		{"no UTF-8", "{}\n{\"a\":\"\xff\"}", 2, 7},
		{"byte-order mark on a later line", "{}\n\ufeff{}", 2, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := shown(strings.NewReader(test.text))
			var syntax *codec.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("got %v, want a syntax error", err)
			}
			if syntax.Line != test.line || syntax.Column != test.column {
				t.Errorf("got %v, want line %d, column %d", syntax, test.line, test.column)
			}
		})
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestEachLineRefusesALineWithoutEnd(t *testing.T) {
	_, err := shown(io.MultiReader(strings.NewReader("{}\n"), endless{}))
	var syntax *codec.SyntaxError
	if !errors.As(err, &syntax) || syntax.Line != 2 {
		t.Errorf("got %v, want a syntax error in line 2", err)
	}
}

func TestEachLineReturnsErrorsAsTheyAre(t *testing.T) {
	broken := errors.New("broken")
	if _, err := shown(io.MultiReader(strings.NewReader("{}\n"), iotest.ErrReader(broken))); err != broken {
		t.Errorf("of the reader: got %v", err)
	}
	stop := errors.New("stop")
	if err := codec.EachLine(strings.NewReader("{}\n!"), nil, func(int, []codec.LineMember) error { return stop }); err != stop {
		t.Errorf("of the function: got %v", err)
	}
}

func TestEachLineAllocatesNothingPerLine(t *testing.T) {
	read := func(lines int) float64 {
		text := strings.Repeat(`{"schema":"citation.v1","a":"cid_x","b":"valid","found_by":[{"wave":1}]}`+"\n", lines)
		return testing.AllocsPerRun(5, func() {
			must.Do(t, codec.EachLine(strings.NewReader(text), []string{"a", "b"}, func(int, []codec.LineMember) error { return nil }))
		})
	}
	if few, many := read(100), read(1100); many > few+20 {
		t.Errorf("%v allocations for 100 lines, %v for 1,100", few, many)
	}
}

// FuzzEachLine: a line is taken exactly when Parse takes it, with the same
// members.
func FuzzEachLine(f *testing.F) {
	for _, seed := range []string{`{"a":"x"}`, `{"a":1,"a":2}`, `[`, "\ufeff{}", `{"\u0061":"\ud800"}`, ` {} `, `{"b":{"a":1}}`, "{}\r"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		line, _, _ := strings.Cut(string(data), "\n")
		want, wantErr := codec.Parse([]byte(line))
		if strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")) == "" {
			return
		}
		err := codec.EachLine(strings.NewReader(line), []string{"a"}, func(_ int, m []codec.LineMember) error {
			if a := want.Get("a"); m[0].Kind != a.Kind() || string(m[0].Text) != a.Str() {
				t.Errorf("got %v %q, want %v %q", m[0].Kind, m[0].Text, a.Kind(), a.Str())
			}
			return nil
		})
		if (err == nil) != (wantErr == nil) {
			t.Errorf("got %v, Parse says %v", err, wantErr)
		}
	})
}
