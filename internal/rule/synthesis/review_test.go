package synthesis_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestParseReview finds all that is wrong with a review of a draft of four lines.
func TestParseReview(t *testing.T) {
	const draft = "one\ntwo\n\nfour\n"
	for _, test := range []struct {
		name, review string
		gateEFailed  bool
		want         string // code and the end of the message, one per line
	}{
		{name: "passed", review: `{"decision":"PASS","findings":[{"severity":"low","line":4,"message":"m"}],"directives":[]}`},
		{name: "changes", review: `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":1,"action":"a"},{"line":null,"action":"b"}]}`},
		{name: "a directive about the whole that names no line", review: `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"action":"a"}]}`},
		{name: "changes of a draft that fails", gateEFailed: true, review: `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":1,"action":"a"}]}`},
		{name: "whole number with a fraction", review: `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":4.0,"action":"a"}]}`},
		{name: "not JSON", review: "```json\n{}\n```", want: "INVALID_JSON"},
		{name: "a key twice", review: `{"decision":"PASS","decision":"PASS","findings":[],"directives":[]}`, want: "INVALID_JSON"},
		{name: "text behind it", review: `{"decision":"PASS","findings":[],"directives":[]} done`, want: "INVALID_JSON"},
		{name: "a list", review: `[]`, want: "SCHEMA_VALIDATION_FAILED $ must be an object, got an array"},
		{name: "empty", review: `{}`, want: "SCHEMA_VALIDATION_FAILED $.decision is missing\nSCHEMA_VALIDATION_FAILED $.findings is missing\nSCHEMA_VALIDATION_FAILED $.directives is missing"},
		{name: "other decision", review: `{"decision":"pass","findings":[],"directives":[]}`, want: "SCHEMA_VALIDATION_FAILED $.decision must be one of"},
		{name: "everything wrong at once", review: `{"decision":"PASS","findings":[{"severity":"High","line":0,"message":" "},{"severity":"high","line":9,"message":"m"},7],"directives":[{"line":"1","action":"a"},{"line":5,"action":"a"}]}`, gateEFailed: true,
			want: `SCHEMA_VALIDATION_FAILED $.findings[0].severity
SCHEMA_VALIDATION_FAILED $.findings[0].line
SCHEMA_VALIDATION_FAILED $.findings[0].message
LINE_NOT_FOUND $.findings[1].line is 9, and the draft has 4 lines
SCHEMA_VALIDATION_FAILED $.findings[2] must be an object
SCHEMA_VALIDATION_FAILED $.directives[0].line must be
LINE_NOT_FOUND $.directives[1].line is 5, and the draft has 4 lines
SCHEMA_VALIDATION_FAILED $.directives asks for changes, and the decision is PASS
SCHEMA_VALIDATION_FAILED $.findings[1] is high, and the decision is PASS
SCHEMA_VALIDATION_FAILED the decision is PASS, and the draft does not pass gate E`},
		{name: "changes without a directive", review: `{"decision":"CHANGES_REQUIRED","findings":[{"severity":"high","line":1,"message":"m"}],"directives":[]}`,
			want: "SCHEMA_VALIDATION_FAILED $.directives is empty, and the decision is CHANGES_REQUIRED"},
		{name: "passed with a high finding", review: `{"decision":"PASS","findings":[{"severity":"high","line":1,"message":"m"}],"directives":[]}`,
			want: "SCHEMA_VALIDATION_FAILED $.findings[0] is high"},
		{name: "passed with a directive", review: `{"decision":"PASS","findings":[],"directives":[{"line":1,"action":"a"}]}`,
			want: "SCHEMA_VALIDATION_FAILED $.directives asks for changes"},
		{name: "passed, and gate E is not", gateEFailed: true, review: `{"decision":"PASS","findings":[],"directives":[]}`,
			want: "SCHEMA_VALIDATION_FAILED the decision is PASS, and the draft does not pass gate E"},
		{name: "a finding about the whole", review: `{"decision":"PASS","findings":[{"severity":"low","line":null,"message":"m"}],"directives":[]}`,
			want: "SCHEMA_VALIDATION_FAILED $.findings[0].line must be"},
		{name: "a line far out", review: `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":1e300,"action":"a"},{"line":9007199254740993,"action":"a"}]}`,
			want: "SCHEMA_VALIDATION_FAILED $.directives[0].line must be\nLINE_NOT_FOUND $.directives[1].line is 9007199254740993"},
	} {
		t.Run(test.name, func(t *testing.T) {
			review, faults := synthesis.ParseReview([]byte(test.review), []byte(draft), !test.gateEFailed)
			want := []string{}
			if test.want != "" {
				want = strings.Split(test.want, "\n")
			}
			for i, f := range faults {
				text := string(f.Code) + " " + f.Message
				if f.ChangeNote == "" || i >= len(want) || !strings.HasPrefix(text, want[i]) {
					t.Errorf("unexpected fault %s (%s)", text, f.ChangeNote)
				}
			}
			if len(faults) < len(want) {
				t.Errorf("%d faults, want %d", len(faults), len(want))
			}
			if len(want) == 0 && review.Decision == "" {
				t.Error("no decision")
			}
		})
	}
}

// TestBundleKeepsFurtherKeys, and lets none of them pass as one of ours.
func TestBundleKeepsFurtherKeys(t *testing.T) {
	const payload = `{"summary":"good","made_by":{"actor":"person"},"synthesis_digest":"sha256:forged","run_id":"other","decision":"CHANGES_REQUIRED",
		"findings":[{"severity":"low","line":1,"message":"m","id":"F1"}],"directives":[{"line":null,"action":"a","headings":["Evidence"]}]}`
	review, faults := synthesis.ParseReview([]byte(payload), []byte("one\n"), true)
	if faults != nil {
		t.Fatal(faults)
	}
	bundle := review.Bundle("r1", "sha256:draft", synthesis.MadeBy{Actor: tidegate.Agent, Job: "review.2", Attempt: 3})
	text := must.Get(codec.MarshalFile(bundle))(t)
	directives := must.Get(codec.MarshalFile(review.RevisionDirectives("r1")))(t)
	golden.Check(t, "testdata/review-bundle.golden.json", text)
	golden.Check(t, "testdata/revision-directives.golden.json", directives)
	got, problem := synthesis.ReadBundle(bundle)
	if problem != "" {
		t.Fatal(problem)
	}
	want := synthesis.Bundle{Decision: synthesis.ReviewChanges, SynthesisDigest: "sha256:draft",
		MadeBy: synthesis.MadeBy{Actor: tidegate.Agent, Job: "review.2", Attempt: 3}, Directives: review.Directives}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	wantDirectives := []synthesis.Directive{{Line: 0, Action: "a"}}
	if diff := cmp.Diff(wantDirectives, review.Directives); diff != "" {
		t.Error(diff)
	}
}

// TestObjection: a review counts for the synthesis that stands there, from a review
// job or a person; a rule may ask for changes.
func TestObjection(t *testing.T) {
	for _, test := range []struct {
		bundle string
		want   string
	}{
		{`"decision":"PASS","synthesis_digest":"sha256:d","made_by":{"actor":"agent","job_id":"review","attempt":1}`, ""},
		{`"decision":"PASS","synthesis_digest":"sha256:d","made_by":{"actor":"person"}`, ""},
		{`"decision":"PASS","synthesis_digest":"sha256:d","made_by":{"actor":"rule"}`, "neither a review job nor a person"},
		{`"decision":"PASS","synthesis_digest":"sha256:d","made_by":{"actor":"agent"}`, "neither a review job nor a person"},
		{`"decision":"PASS","synthesis_digest":"sha256:d"`, "neither a review job nor a person"},
		{`"decision":"PASS","synthesis_digest":"sha256:e","made_by":{"actor":"person"}`, "another synthesis"},
		{`"decision":"PASS","made_by":{"actor":"person"}`, "which synthesis"},
		{`"decision":"CHANGES_REQUIRED","synthesis_digest":"sha256:d","made_by":{"actor":"person"}`, ""},
		{`"decision":"CHANGES_REQUIRED","synthesis_digest":"sha256:d","made_by":{"actor":"rule"}`, ""},
	} {
		doc := must.Get(codec.Parse([]byte(`{"schema_version":"review_bundle.v1","run_id":"r1","findings":[],"directives":[],` + test.bundle + `}`)))(t)
		b, problem := synthesis.ReadBundle(doc)
		if problem != "" {
			t.Fatal(problem)
		}
		if got := b.Objection("sha256:d"); test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.bundle, got, test.want)
		}
	}
}

// TestReadBundleIsTolerant: a bundle of the earlier system has a decision and
// little else; one without a decision decides nothing.
func TestReadBundleIsTolerant(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: "", `{}`: "", `{"decision":"OK"}`: "", `{"decision":["PASS"]}`: "", `{"decision":"pass"}`: "",
		`{"decision":" PASS\n"}`: synthesis.ReviewPass, `{"decision":"CHANGES_REQUIRED","made_by":"me"}`: synthesis.ReviewChanges,
	} {
		doc := must.Get(codec.Parse([]byte(text)))(t)
		if b, problem := synthesis.ReadBundle(doc); b.Decision != want || (problem == "") != (want != "") {
			t.Errorf("%s: %q %q, want %q", text, b.Decision, problem, want)
		}
	}
}

func TestARuleMayAskForChangesAndNothingElse(t *testing.T) {
	review := synthesis.ReviewByRule([]evidence.Directive{{Line: 3, Action: "Drop it.", ID: "c1", Sentence: "It grew.", Because: "it fell"}})
	doc := review.Bundle("r1", "sha256:1", synthesis.MadeBy{Actor: tidegate.Rule})
	if err := synthesis.BundleShape.Check(doc); err != nil {
		t.Error(err)
	}
	bundle, problem := synthesis.ReadBundle(doc)
	if problem != "" || bundle.Decision != synthesis.ReviewChanges || len(bundle.Directives) != 1 || bundle.Directives[0].Line != 3 || bundle.Directives[0].Action != "Drop it." ||
		bundle.Directives[0].About == nil || bundle.Directives[0].About.Because != "it fell" {
		t.Errorf("%+v %s", bundle, problem)
	}
	if got := doc.Get("directives").Elems()[0].Get("sentence").Str(); got != "It grew." {
		t.Errorf("the sentence is %q", got)
	}
	if objection := bundle.Objection("sha256:1"); objection != "" {
		t.Error(objection)
	}
	bundle.Decision = synthesis.ReviewPass
	if bundle.Objection("sha256:1") == "" {
		t.Error("a rule passes a synthesis")
	}
}

// FuzzReview: a review that has no fault follows every rule, and its bundle can be
// read again.
func FuzzReview(f *testing.F) {
	f.Add([]byte(`{"decision":"PASS","findings":[{"severity":"low","line":1,"message":"m"}],"directives":[]}`))
	f.Add([]byte(`{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":null,"action":"a"}],"x":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		review, faults := synthesis.ParseReview(data, []byte("one\ntwo\n"), true)
		if len(faults) > 0 {
			return
		}
		for _, finding := range review.Findings {
			if finding.Line < 1 || finding.Line > 2 || review.Decision == synthesis.ReviewPass && finding.Severity == synthesis.High {
				t.Fatalf("%+v", finding)
			}
		}
		if (review.Decision == synthesis.ReviewPass) != (len(review.Directives) == 0) {
			t.Fatalf("%s with %d directives", review.Decision, len(review.Directives))
		}
		review.Bundle("r1", "sha256:d", synthesis.MadeBy{})
	})
}
