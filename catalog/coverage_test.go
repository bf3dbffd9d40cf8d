package catalog_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/corpus"
	"github.com/tidegate/tidegate/internal/test/scratch"
	"github.com/tidegate/tidegate/tool"
)

// notInTheCorpus is what no call on the files of an archive can bring about, and
// why. A last word * stands for every word.
var notInTheCorpus = map[string]string{
	"LOCK_HELD":        "it takes half a minute",
	"WAVE_DIR_SYMLINK": "an archive holds no links",
	"INTERNAL":         "no input is known that leads to it",
	"CANCELLED":        "nobody gives up a call of the corpus",
	"NO_CITATION":      "an archive holds no pages that were fetched; package engine has it",
	"LINE_NOT_FOUND":   "it takes a run in stage review, or a git repository; package engine has it",

	"QUOTATION_NOT_FOUND": "it takes an archived page, and the corpus fetches none",
	"NUMBER_NOT_FOUND":    "it takes an archived page, and the corpus fetches none",
	"CLAIM_NOT_CHECKED":   "it takes an archived page, and the corpus fetches none",
	"UNCHANGED":           "it takes a run that went back after a review",
	"PERSPECTIVE_COUNT":   "only a person says how many, with `tidegate research`",

	"review_prompt: no result with the field *": "an archive holds no git repository; the script review_prompt has it",
	"review_check: no result with the field *":  "an archive holds no git repository; the script review_prompt has it",

	"deep_research_run_log: no result with the field entries.torn": "the files of an archive end with a newline",
}

// TestCorpusHoldsEveryToolCodeAndField fails when a tool, a code, an argument or
// a field of a result is in no committed call.
func TestCorpusHoldsEveryToolCodeAndField(t *testing.T) {
	t.Parallel()
	scripts, err := corpus.Load("testdata/calls")
	if err != nil {
		t.Fatal(err)
	}
	arguments, fields := map[string]map[string]bool{}, map[string]map[string]bool{}
	var answers strings.Builder
	for _, script := range scripts {
		work := scratch.Short(t)
		tools := tool.ForAgents(catalog.Tools(&catalog.Env{Now: func() time.Time { return corpus.Now }, Pinned: true, Dir: work, Project: work, Home: filepath.Join(work, "runs")}))
		_, err := script.Run(work, func(name string, args []byte) []byte {
			envelope := faces[0].call(t, tools, name, args)
			answers.Write(envelope)
			if arguments[name] == nil {
				arguments[name], fields[name] = map[string]bool{}, map[string]bool{}
			}
			if in, err := codec.Parse(args); err == nil {
				note(in, "", arguments[name])
			}
			if out, err := codec.Parse(envelope); err == nil && out.Get("ok").Bool() {
				note(out, "", fields[name])
			}
			return envelope
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	excused := map[string]bool{}
	miss := func(what string) {
		for _, key := range []string{what, what[:strings.LastIndex(what, " ")+1] + "*"} {
			if _, found := notInTheCorpus[key]; found {
				excused[key] = true
				return
			}
		}
		t.Error(what)
	}
	for _, each := range tool.ForAgents(catalog.Tools(&catalog.Env{})) {
		for _, name := range declared(each.InputSchema()) {
			if !arguments[each.Name][name] {
				miss(each.Name + ": no call with the argument " + name)
			}
		}
		for _, name := range declared(each.OutputSchema()) {
			if !fields[each.Name][name] {
				miss(each.Name + ": no result with the field " + name)
			}
		}
	}
	for _, e := range tidegate.Explanations {
		if !strings.Contains(answers.String(), `"`+string(e.Code)+`"`) {
			miss(string(e.Code))
		}
	}
	for what := range notInTheCorpus {
		if !excused[what] {
			t.Errorf("%q is excused and not missing", what)
		}
	}
}

// note notes the names of all members in a value, joined by dots; elements of a
// list have the name of the list.
func note(v *codec.Value, at string, names map[string]bool) {
	for _, m := range v.Members() {
		name := strings.TrimPrefix(at+"."+m.Key, ".")
		names[name] = true
		note(m.Value, name, names)
	}
	if v.Kind() == codec.Array {
		for _, element := range v.Elems() {
			note(element, at, names)
		}
	}
}

// declared lists the same names for the properties of a schema.
func declared(schema *codec.Value) []string {
	var names []string
	var walk func(v *codec.Value, at string)
	walk = func(v *codec.Value, at string) {
		for _, m := range v.Get("properties").Members() {
			name := strings.TrimPrefix(at+"."+m.Key, ".")
			names = append(names, name)
			walk(m.Value, name)
		}
		walkEach := func(list *codec.Value) {
			for _, alternative := range list.Elems() {
				walk(alternative, at)
			}
		}
		if items := v.Get("items"); items != nil {
			walk(items, at)
		}
		walkEach(v.Get("anyOf"))
		walkEach(v.Get("oneOf"))
	}
	walk(schema, "")
	slices.Sort(names)
	return slices.Compact(names)
}
