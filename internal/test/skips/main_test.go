package main

import (
	"strings"
	"testing"
)

const events = `{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestA"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"    a_test.go:7: looking around\n"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"    a_test.go:9: no git here\n        and nowhere else\n"}
{"Action":"skip","Package":"m/a","Test":"TestA"}
{"Action":"output","Package":"m/a","Test":"TestB/one","Output":"    a_test.go:9: no git here\n"}
{"Action":"skip","Package":"m/a","Test":"TestB/one"}
{"Action":"output","Package":"m/a","Test":"TestC","Output":"    a_test.go:11: it is wrong\n"}
{"Action":"fail","Package":"m/a","Test":"TestC"}
{"Action":"output","Package":"m/a","Test":"TestD","Output":"    a_test.go:12: it is right\n"}
{"Action":"pass","Package":"m/a","Test":"TestD"}
{"Action":"output","Package":"m/a","Output":"FAIL\tm/a\t0.1s\n"}
{"Action":"skip","Package":"m/b"}
not an event
`

func TestWhatWasLeftOutIsCounted(t *testing.T) {
	for name, has := range map[string]struct {
		list, events string
		verbose      bool
		want, err    string
	}{
		"listed": {"# why\n\nno (git|bash) here\n", events, false,
			"    a_test.go:11: it is wrong\nFAIL\tm/a\t0.1s\nnot an event\nleft out\tm/a\t2\tno git here\n", ""},
		"all that they say": {"no git here", events[strings.Index(events, `{"Action":"output","Package":"m/a","Test":"TestC"`):], true,
			"    a_test.go:11: it is wrong\n    a_test.go:12: it is right\nFAIL\tm/a\t0.1s\nnot an event\n", ""},
		"not listed": {"no git", events, false, "*", "m/a TestA must not be left out: no git here\nm/a TestB/one must not be left out: no git here"},
		"never":      {"no git here\nnever TestB(/.*)?", events, false, "*", "m/a TestB/one must not be left out: no git here"},
		"silent": {".*here", `{"Action":"skip","Package":"m","Test":"T"}`, false, "left out\tm\t1\twithout a reason\n",
			"m T must not be left out: without a reason"},
		"a script":                   {"a story", `{"Action":"skip","Package":"m","Test":"T","Output":"    script.go:1: WORK=$WORK\n        > [!full] skip 'a story'\n"}`, false, "left out\tm\t1\ta story\n", ""},
		"no end":                     {"", `{"Action":"output","Package":"m","Test":"T","Output":"panic"}`, false, "", "m T has no end:\npanic"},
		"a list that cannot be read": {"(", "", false, "", "error parsing regexp: missing closing ): `^(()$`"},
	} {
		var out strings.Builder
		said := ""
		if err := count(strings.NewReader(has.events), &out, has.list, has.verbose); err != nil {
			said = err.Error()
		}
		if has.want != "*" && out.String() != has.want {
			t.Errorf("%s: it wrote\n%swant\n%s", name, out.String(), has.want)
		}
		if said != has.err {
			t.Errorf("%s: it said %q, want %q", name, said, has.err)
		}
	}
}
