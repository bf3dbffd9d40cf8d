package step_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/planted"
	"github.com/tidegate/tidegate/internal/test/runs"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// honestDraft is a report of sentences that stand on the pages of a run's sources, with
// one more sentence among its evidence.
func honestDraft(t *testing.T, made run.InitResult, more string) string {
	t.Helper()
	var b strings.Builder
	for _, title := range []string{"Summary", "Key Findings", "Evidence", "Caveats"} {
		fmt.Fprintf(&b, "## %s\n\n", title)
		for i, r := range records(t, made) {
			_, text := sentence(t, records(t, made), i)
			fmt.Fprintf(&b, "%s [@%s]\n\n", strings.TrimSuffix(text, ".")+".", r.CID)
		}
		if title == "Evidence" {
			b.WriteString(more + "\n\n")
		}
	}
	return b.String()
}

// TestGateEReadsADraftOnce: all rules look at one reading of it, in each of the flavours in
// which others may read it. It is not parallel, because all that is read is observed.
func TestGateEReadsADraftOnce(t *testing.T) {
	made, _ := summarized(t, run.InitInput{})
	draft := honestDraft(t, made, "It grew.")
	runs.Put(t, made.Root, "synthesis/final-synthesis.md", draft)
	r := runs.Open(t, made.ManifestPath)
	read := map[bool]int{} // by whether it is that of GitHub
	markdown.Observe = func(text []byte, github bool) {
		if string(text) == draft {
			read[github]++
		}
	}
	defer func() { markdown.Observe = nil }()
	judged, err := gates.Judge(t.Context(), r, "E")
	if err != nil || judged.Passed() {
		t.Fatal(judged.Status(), err)
	}
	if read[true] != 1 || read[false] != 1 || len(read) != 2 {
		t.Errorf("the draft is read %v times", read)
	}
}

// TestEverySentenceNeedsAForm: what is neither cited nor inferred is refused, and what is
// cited stands on its page.
func TestEverySentenceNeedsAForm(t *testing.T) {
	made, list := summarized(t, run.InitInput{})
	for name, test := range map[string]struct{ more, want string }{
		"honest":                     {"", ""},
		"inferred":                   {"Harbours may learn from each other. [inferred from @" + list[0].CID + "]", ""},
		"uncited":                    {"The director is a convicted criminal.", "UNCITED_SENTENCE"},
		"uncited with a number":      {"It has 12 cranes.", "UNCITED_SENTENCE"},
		"cited and inferred":         {"It grew. [@" + list[0].CID + "] [inferred from @" + list[0].CID + "]", "FORM_MIXED"},
		"quoted from nowhere":        {`It says "the moon is made of old harbour bricks". [@` + list[0].CID + "]", "QUOTATION_NOT_FOUND"},
		"inferred from what is none": {"It grew. [inferred from @cid_x]", "UNKNOWN_CID"},
		"numbers from nowhere":       {"It has 987123 cranes. [@" + list[0].CID + "]\n\nIt has 887123 boats. [@" + list[0].CID + "]", "NUMBER_NOT_FOUND"},
		"one number is the reader's": {"It has 987123 cranes. [@" + list[0].CID + "]", ""},
	} {
		judged := must.Get(sentences.JudgeDraft(t.Context(), runs.Open(t, made.ManifestPath), []byte(honestDraft(t, made, test.more))))(t)
		var codes []string
		for _, f := range judged.Faults {
			codes = append(codes, string(f.Code))
		}
		if got := strings.Join(slices.Compact(codes), " "); got != test.want {
			t.Errorf("%s: %q, want %q: %+v", name, got, test.want, judged.Faults)
		}
		if judged.Pass() || len(judged.Outcome.Open) == 0 {
			t.Errorf("%s: it passes, and nobody has read it", name)
		}
	}
}

// TestGroundingOff makes warnings of what is not on the pages, and still asks for forms.
func TestGroundingOff(t *testing.T) {
	made, list := summarized(t, run.InitInput{Evidence: run.EvidenceChoice{NoGrounding: true}})
	judged := must.Get(sentences.JudgeDraft(t.Context(), runs.Open(t, made.ManifestPath), []byte(honestDraft(t, made, "It has 987123 cranes. [@"+list[0].CID+"]\n\nIt is so."))))(t)
	if len(judged.Faults) != 1 || judged.Faults[0].Code != tidegate.UncitedSentence || len(judged.Warnings) != 1 || judged.Warnings[0].Code != tidegate.NumberNotFound {
		t.Errorf("%+v, %+v", judged.Faults, judged.Warnings)
	}
}

// TestGateEPassesByVerdicts takes a draft, records what a reader says of it, and judges.
func TestGateEPassesByVerdicts(t *testing.T) {
	for name, test := range map[string]struct {
		verdict string
		refused int
	}{"supported": {evidence.Supported, 0}, "unsupported": {evidence.Unsupported, 1}, "unclear, and tolerated": {evidence.Unclear, 0}} {
		t.Run(name, func(t *testing.T) {
			made, _ := summarized(t, run.InitInput{})
			moveTo(t, made, run.Init, run.Synthesis)
			r := runs.Open(t, made.ManifestPath)
			text := []byte(honestDraft(t, made, ""))
			draft, err := sentences.JudgeDraft(t.Context(), r, text)
			if err != nil {
				t.Fatal(err)
			}
			take(t, r, func(u *run.Update) error {
				return sentences.TakeSynthesis(u, text, draft, func(round int64, digest string) reading.Seed { return reading.PinnedSeed(round, digest) }, "synthesis", 1)
			})
			if len(draft.Claims.Parts) < 2 {
				t.Fatalf("%+v", draft.Claims.Parts)
			}
			if g := judged(t, made, "E"); g.Passed() || g.Warnings[0] != "SENTENCES_NOT_READ" {
				t.Errorf("before anybody has read it: %+v", g)
			}
			moveTo(t, made, run.Synthesis, run.Review)
			r = runs.Open(t, made.ManifestPath)
			if taken, err := sentences.RecordReadings(t.Context(), r); taken || err != nil {
				t.Fatal(taken, err)
			}
			last := draft.Claims.Sentences[len(draft.Claims.Sentences)-1].ID
			for _, p := range draft.Claims.Parts {
				read := sentences.Reading{JobID: sentences.VerifyJob(1, p.Number), Attempt: 1, Round: 1, Part: p.Number, Look: 1}
				for _, id := range p.Sentences {
					given := reading.Given{ID: id, Verdict: evidence.Supported, Words: "three words here"}
					if id == last {
						given.Verdict = test.verdict
					}
					read.Given = append(read.Given, given)
				}
				take(t, runs.Open(t, made.ManifestPath), func(u *run.Update) error { return sentences.TakeReading(u, read) })
			}
			if taken, err := sentences.RecordReadings(t.Context(), runs.Open(t, made.ManifestPath)); !taken || err != nil {
				t.Fatal(taken, err)
			}
			// Where the page has more to show, a second look is asked for.
			claims := must.Get(sentences.ReadClaims(runs.Open(t, made.ManifestPath)))(t)
			for _, p := range claims.Unread() {
				again := sentences.Reading{JobID: sentences.VerifyJob(1, p.Number), Attempt: 1, Round: 1, Part: p.Number, Look: p.Look}
				if slices.Contains(p.Sentences, last) {
					again.Given = append(again.Given, reading.Given{ID: last, Verdict: test.verdict})
				}
				take(t, runs.Open(t, made.ManifestPath), func(u *run.Update) error { return sentences.TakeReading(u, again) })
			}
			if taken, err := sentences.RecordReadings(t.Context(), runs.Open(t, made.ManifestPath)); taken != (len(claims.Unread()) > 0) || err != nil {
				t.Fatal(taken, err)
			}
			if g := judged(t, made, "E"); g.Passed() != (test.refused == 0) {
				t.Errorf("%+v", g)
			}
			r = runs.Open(t, made.ManifestPath)
			if n, err := sentences.SendBack(t.Context(), r); n != test.refused || err != nil {
				t.Errorf("%d are sent back: %v", n, err)
			}
			runs.Put(t, made.Root, "synthesis/claims.json", strings.ReplaceAll(must.Read(t, made.Root+"/synthesis/claims.json"), `"unsupported"`, `"supported" `))
			_, err = gates.RecordGate(t.Context(), runs.Pinned, gates.GateInput{ManifestPath: made.ManifestPath, Gate: "E"})
			if test.verdict == evidence.Unsupported {
				runs.WantCode(t, err, tidegate.Tampered)
			}
		})
	}
}

func moveTo(t *testing.T, made run.InitResult, from, to run.Stage) {
	t.Helper()
	take(t, runs.Open(t, made.ManifestPath), func(u *run.Update) error {
		return u.MoveTo(run.Move{From: from, To: to, Status: run.Running, Reason: "test", InputsDigest: "d", GatesRevision: 1})
	})
}

func take(t *testing.T, r *run.Run, do func(*run.Update) error) {
	t.Helper()
	must.Get(r.Update(t.Context(), do))(t)
}

// TestWhatOutputsQuoteIsShownFirst: where the words of a sentence say little about where to
// look, its windows begin with what an accepted output quotes from the page.
func TestWhatOutputsQuoteIsShownFirst(t *testing.T) {
	made, list := summarized(t, run.InitInput{})
	const unrelated = "Volcanoes erupt when magma rises through cracks."
	first := func() string {
		t.Helper()
		judged := must.Get(sentences.JudgeDraft(t.Context(), runs.Open(t, made.ManifestPath), []byte(honestDraft(t, made, unrelated+" [@"+list[0].CID+"]"))))(t)
		for _, s := range judged.Claims.Sentences {
			if s.Text == unrelated {
				return s.Windows[0].Text
			}
		}
		t.Fatal("the sentence is not there")
		return ""
	}
	var page planted.Page
	for _, p := range honest(4) {
		if normalized, err := link.Normalize(p.URL); err == nil && source.CID(normalized) == list[0].CID {
			page = p
		}
	}
	quoted := page.Sentences[len(page.Sentences)-1]
	if strings.Contains(first(), quoted) {
		t.Fatal("it stands in the first window anyway")
	}
	runs.Put(t, made.Root, "wave-1/p1.md", strings.Replace(outputOf(honest(4)...), "Text.", "It says \""+strings.TrimSuffix(quoted, ".")+"\" ("+page.URL+").", 1))
	if got := first(); !strings.Contains(got, strings.TrimSuffix(quoted, ".")) {
		t.Errorf("%q is quoted, and the first window is %q", quoted, got)
	}
}
