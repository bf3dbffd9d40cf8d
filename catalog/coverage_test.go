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
	"github.com/tidegate/tidegate/internal/test/must"
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
	"QUOTE_NOT_FOUND":  "it takes a git repository; package engine has it",

	"NOT_WHAT_THE_PAGE_SAYS": "it takes an archived page, and the corpus fetches none",
	"QUOTATION_NOT_FOUND":    "it takes an archived page, and the corpus fetches none",
	"NUMBER_NOT_FOUND":       "it takes an archived page, and the corpus fetches none",
	"DATE_NOT_FOUND":         "it takes an archived page, and the corpus fetches none",
	"CLAIM_NOT_CHECKED":      "it takes an archived page, and the corpus fetches none",
	"UNCHANGED":              "it takes a run that went back after a review",
	"MODEL_REQUIRED":         "no tool asks a model",
	"ENDPOINT_INVALID":       "no tool asks a model",
	"SECRET_IN_ANSWER":       "it takes an agent that is logged in; package driver has it",
	"NOT_CONFINED":           "it takes a kernel without Landlock or seccomp; package driver has it",
	"NOT_A_PERSON":           "it takes a program below an agent; the proof TestNoAgentTypesAPersonsCommand has it",
	"NOT_AUTHENTICATED":      "only the HTTP API says it; TestTheAPI of face/web has it",
	"PERSPECTIVE_COUNT":      "only a person says how many, with `tidegate research`",

	"WEAK_SENTENCE":         "it takes a run whose synthesis is held against pages; TestTheAuthorIsToldWhatIsWeak has it",
	"CONTRADICTION_IGNORED": "it takes a run whose sources disagree; TestAPlantedContradictionIsTreated has it",
	"UNCITED_SENTENCE":      "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"FORM_MIXED":            "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"HEADING_CLAIMS":        "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"LINK_NOT_ALLOWED":      "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"RESERVED_HEADING":      "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"TOO_LITTLE":            "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"TOO_MUCH_INFERRED":     "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"TOO_MANY_CITATIONS":    "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"CALCULATION_WRONG":     "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"OPERAND_NOT_FOUND":     "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"DROP_REQUIRED":         "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"VERDICT_MISSING":       "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"WORDS_NOT_FOUND":       "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"CONTROL_FAILED":        "it takes a run whose synthesis is held against pages; the rooms evidence and reading have it",
	"report_audit: no result with the field left_out": "it takes more than 8 KB; TestAnAgentIsHandedTheWorst of rule/foreign has it",
	"SAME_HOLDER":        "it takes a run in stage review",
	"RECORDING_DIFFERS":  "it takes a recorded agent",
	"ORIGIN_UNKNOWN":     "it takes a run whose pages are fetched; package step has it",
	"SEARCH_UNAVAILABLE": "the corpus asks no search service; TestTheNextServiceIsAsked has it",

	"deep_research_citations_list: no result with the field records.origin":        "no run of the corpus keeps origins; package step has them",
	"deep_research_citations_list: no result with the field records.origin.kind":   "no run of the corpus keeps origins; package step has them",
	"deep_research_citations_list: no result with the field records.origin.page":   "no run of the corpus keeps origins; package step has them",
	"deep_research_citations_list: no result with the field records.origin.rank":   "no run of the corpus keeps origins; package step has them",
	"deep_research_citations_list: no result with the field records.origin.search": "no run of the corpus keeps origins; package step has them",

	"deep_research_search: no result with the field *": "the corpus asks no search service; TestSearchesAreEvidence has it",

	"ask: no result with the field *": "no run of the corpus is finished; TestAgentAsksAFinishedRun has it",

	"review_prompt: no result with the field *":               "an archive holds no git repository; the script review_prompt has it",
	"review_show: no result with the field issues.checked":    "REVIEW.md does not hold it",
	"review_show: no result with the field issues.confidence": "REVIEW.md does not hold it",
	"review_show: no result with the field issues.reply":      "REVIEW.md does not hold it",
	"review_check: no result with the field *":                "an archive holds no git repository; the script review_prompt has it",

	"deep_research_run_status: no result with the field interrupted":         "no process drives a run of the corpus; package stage has it",
	"deep_research_run_verify: no result with the field decisions.about":     "no tool takes a person's decision",
	"deep_research_run_verify: no result with the field decisions.at":        "no tool takes a person's decision",
	"deep_research_run_verify: no result with the field decisions.by":        "no tool takes a person's decision",
	"deep_research_run_verify: no result with the field decisions.line":      "no tool takes a person's decision",
	"deep_research_run_verify: no result with the field decisions.reason":    "no tool takes a person's decision",
	"deep_research_run_verify: no result with the field decisions.signed":    "no tool takes a person's decision",
	"deep_research_run_verify: no result with the field decisions.what":      "no tool takes a person's decision",
	"deep_research_run_verify: no result with the field confinement.abi":     "no tool starts an agent",
	"deep_research_run_verify: no result with the field confinement.mode":    "no tool starts an agent",
	"deep_research_run_verify: no result with the field confinement.network": "no tool starts an agent",
	"deep_research_run_verify: no result with the field confinement.system":  "no tool starts an agent",
	"deep_research_run_verify: no result with the field confinement.said_by": "no tool starts an agent",
	"report_audit: no result with the field compared":                        "only a person compares",
	"report_audit: no result with the field compared.with":                   "only a person compares",
	"report_audit: no result with the field compared.same_report":            "only a person compares",
	"report_audit: no result with the field compared.sentences":              "only a person compares",
	"report_audit: no result with the field compared.sources":                "only a person compares",
	"report_audit: no result with the field compared.sentences.change":       "only a person compares",
	"report_audit: no result with the field compared.sentences.line":         "only a person compares",
	"report_audit: no result with the field compared.sentences.text":         "only a person compares",
	"report_audit: no result with the field compared.sentences.before":       "only a person compares",
	"report_audit: no result with the field compared.sentences.after":        "only a person compares",
	"report_audit: no result with the field compared.sources.change":         "only a person compares",
	"report_audit: no result with the field compared.sources.line":           "only a person compares",
	"report_audit: no result with the field compared.sources.text":           "only a person compares",
	"report_audit: no result with the field compared.sources.before":         "only a person compares",
	"report_audit: no result with the field compared.sources.after":          "only a person compares",
	"report_audit: no result with the field sentences.because":               "no tool starts an agent",
	"report_audit: no result with the field sentences.words":                 "no tool starts an agent",
	"report_audit: no result with the field summary.read":                    "no tool starts an agent",
	"report_audit: no result with the field summary.read.by":                 "no tool starts an agent",
	"report_audit: no result with the field summary.read.pairs":              "no tool starts an agent",
	"report_audit: no result with the field summary.read.pairs.missed":       "no tool starts an agent",
	"report_audit: no result with the field summary.read.pairs.hard":         "no tool starts an agent",
	"report_audit: no result with the field summary.read.pairs.asked":        "no tool starts an agent",
	"report_audit: no result with the field summary.read.partly":             "no tool starts an agent",
	"report_audit: no result with the field summary.read.supported":          "no tool starts an agent",
	"report_audit: no result with the field summary.read.unclear":            "no tool starts an agent",
	"report_audit: no result with the field summary.read.unread":             "no tool starts an agent",
	"report_audit: no result with the field summary.read.unsupported":        "no tool starts an agent",
	"report_audit: no result with the field sentences.windows.url":           "no call reaches a page",
	"report_audit: no result with the field sentences.windows.start":         "no call reaches a page",
	"report_audit: no result with the field sentences.windows.end":           "no call reaches a page",
	"report_audit: no result with the field sentences.windows.text":          "no call reaches a page",
	"report_audit: no result with the field sentences.windows.title":         "no call reaches a page",
	"report_audit: no result with the field sentences.windows.heading":       "no call reaches a page",
	"deep_research_job_submit: no result with the field waiting_for":         "no call has sources that cannot be reached; TestAnAnswerWaitsForTheLine has",
	"deep_research_run_log: no result with the field entries.torn":           "the files of an archive end with a newline",
}

// ofReviewers are the fields of a finding that only reviewers give it whom the program asked:
// no file that these tools read in the corpus has them. Package engine has them.
func ofReviewers() {
	for _, at := range []string{"review_import: no result with the field issues.", "review_diff: no result with the field new.",
		"review_diff: no result with the field still_there.", "review_diff: no result with the field gone."} {
		for _, field := range []string{"confidence", "quote", "suggestion", "reply", "found_by", "checked", "decision", "reason"} {
			notInTheCorpus[at+field] = "only a reviewer who was asked gives it"
		}
	}
}

// TestCorpusHoldsEveryToolCodeAndField fails when a tool, a code, an argument or
// a field of a result is in no committed call.
func TestCorpusHoldsEveryToolCodeAndField(t *testing.T) {
	ofReviewers()
	t.Parallel()
	scripts := must.Get(corpus.Load("testdata/calls"))(t)
	arguments, fields := map[string]map[string]bool{}, map[string]map[string]bool{}
	var answers strings.Builder
	for _, script := range scripts {
		work := scratch.Short(t)
		tools := tool.ForAgents(catalog.Tools(&catalog.Env{Now: func() time.Time { return corpus.Now }, Pinned: true, Dir: work, Project: work, Home: filepath.Join(work, "runs")}))
		must.Get(script.Run(work, func(name string, args []byte) []byte {
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
		}))(t)
	}
	excused := map[string]bool{}
	miss := func(what, add string) {
		// Of the sentences of claims.v1, those of the corpus have what no archived page is needed
		// for; TestGroundingAnswersAsTheClaims of replay has the others.
		if grounding, field, _ := strings.Cut(what, ": no result with the field "); grounding == "deep_research_grounding_check" &&
			(strings.HasPrefix(field, "sentences.") || strings.HasSuffix(field, ".link")) {
			return
		}
		for _, key := range []string{what, what[:strings.LastIndex(what, " ")+1] + "*"} {
			if _, found := notInTheCorpus[key]; found {
				excused[key] = true
				return
			}
		}
		t.Errorf("%s: add %s to a file of catalog/testdata/calls, run go test ./catalog -update and read what it says; or say in notInTheCorpus why there is none", what, add)
	}
	for _, each := range tool.ForAgents(catalog.Tools(&catalog.Env{})) {
		for _, name := range declared(each.InputSchema()) {
			if !arguments[each.Name][name] {
				miss(each.Name+": no call with the argument "+name, "such a call")
			}
		}
		for _, name := range declared(each.OutputSchema()) {
			if !fields[each.Name][name] {
				miss(each.Name+": no result with the field "+name, "a call that returns it")
			}
		}
	}
	for _, e := range tidegate.Explanations {
		if !strings.Contains(answers.String(), `"`+string(e.Code)+`"`) {
			miss(string(e.Code), "a call that is refused with this code")
		}
	}
	for what := range notInTheCorpus {
		if !excused[what] {
			t.Errorf("%q is excused and not missing", what)
		}
	}
}

func TestAnUpdateSaysWhatFailsAnew(t *testing.T) {
	const failed, passed = "{\n  \"ok\": false,\n", "{\n  \"ok\": true,\n"
	for _, o := range []struct {
		got, want string
		fails     bool
	}{{failed, passed, true}, {failed, "", true}, {failed, failed, false}, {passed, failed, false}} {
		if (corpus.Outcome{Got: o.got, Want: o.want}).Fails() != o.fails {
			t.Errorf("%q after %q: %v", o.got, o.want, !o.fails)
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
