package reading_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/test/full"
)

// TestFalsehoods: what a base can become, by its language. The page has what stands
// behind the bar, too.
func TestFalsehoods(t *testing.T) {
	for _, test := range []struct {
		language, base string
		want           []string
	}{
		{"en", "The harbour of Karlsund overtook Vexholm in that year.", []string{"The harbour of Vexholm overtook Karlsund in that year."}},
		{"en", "Container traffic rose from 3.5 million units to 4.2 million units.", []string{"Container traffic rose from 4.2 million units to 3.5 million units."}},
		{"en", "In 1947 the old lighthouse burned and reopened in 1953.", []string{"In 1953 the old lighthouse burned and reopened in 1947."}},
		{"en", "The harbour employs 412 people on weekdays.|Its cranes number 38.", []string{"The harbour employs 38 people on weekdays."}},
		{"en", "The tonnage increased slowly during those winters.", []string{"The tonnage decreased slowly during those winters."}},
		{"en", "Lower fees attracted several shipping companies.", []string{"Higher fees attracted several shipping companies."}},
		{"de", "Der Umschlag stieg im Winter deutlich an.", []string{"Der Umschlag sank im Winter deutlich an."}},
		{"fr", "Le trafic a augmenté durant cette période difficile.", []string{"Le trafic a diminué durant cette période difficile."}},
		{"es", "El tráfico aumentó durante aquel periodo difícil.", []string{"El tráfico disminuyó durante aquel periodo difícil."}},
		{"fi", "Liikenne kasvoi hitaasti sodan vuosina satamassa.", []string{"Liikenne väheni hitaasti sodan vuosina satamassa."}},
		{"zh", "港口货物吞吐量在战争期间明显增加了许多倍。", []string{"港口货物吞吐量在战争期间明显减少了许多倍。"}},
		{"en", "That spring Karlsund and Vexholm built ships together peacefully.", nil}, // the other way round it says the same
		{"en", "The report's own crane increased its load considerably.", nil},           // see below
		{"en", "Ships came and went quietly there.", nil},
	} {
		base, page, _ := strings.Cut(test.base, "|")
		m := reading.Material{Language: test.language, Report: []string{"Its own crane increased a load."}, Bases: []reading.Base{{Text: base, CIDs: []string{"s1"}}}, Text: func(string) string { return base + " " + page },
			Windows: func(string, []string) ([]claim.Window, error) {
				return []claim.Window{{CID: "s1", Text: base + " " + page}}, nil
			}}
		var got []string
		for _, item := range plant(t, reading.Part{Items: items(6, 1, 10)}, 1, m).Items {
			if item.ID == "" {
				got = append(got, item.Text)
			}
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q becomes %q, want %q", base, got, test.want)
		}
	}
}

func TestControls(t *testing.T) {
	w := newWorld(t, 7, 60)
	m := w.material()
	report := map[string]bool{}
	for _, text := range m.Report {
		report[text] = true
	}
	all := reading.Unread(&w.claims)
	parts := reading.Divide(all, 1)
	seen := map[string]bool{}
	for _, p := range parts {
		asked := plant(t, p, 1, m)
		again := plant(t, p, 1, m)
		if !reflect.DeepEqual(asked, again) {
			t.Fatal("the same seed makes other controls")
		}
		planted, ids := 0, 0
		for _, item := range asked.Items {
			if item.ID != "" {
				ids++
				continue
			}
			planted++
			seen[item.Text] = true
			if report[item.Text] || len(item.Windows) == 0 || item.Context.Heading == "" {
				t.Errorf("%+v", item)
			}
		}
		if want := max(3, (len(p.Items)+5)/6); planted != want || ids != len(p.Items) {
			t.Errorf("%d claims have %d controls, want %d", ids, planted, want)
		}
		if n := len(asked.Prompt()); n > reading.MaxBytes {
			t.Errorf("a part has %d bytes", n)
		}
		other := plant(t, p, 2, m)
		if asked.Prompt() == other.Prompt() {
			t.Error("another seed makes the same part")
		}
		j, faults := asked.Judge(reader(honest).answer(asked))
		if len(faults) > 0 || j.Controls.Planted != planted || j.Controls.Caught != planted || j.Controls.Hard == 0 || len(j.Given) != ids || j.Refuses {
			t.Errorf("an honest reader: %v %+v", faults, j.Controls)
		}
	}
	if len(seen) < 3*len(parts)-2 {
		t.Errorf("%d parts share %d controls", len(parts), len(seen))
	}
}

func TestAFrameAmongFrames(t *testing.T) {
	w := newWorld(t, 3, 20)
	m := w.material()
	m.Bases = append(m.Bases, reading.Base{Text: "The dredger returned to shallow waters.", CIDs: []string{"s1"}}, reading.Base{Text: "Its keel was painted bright green.", CIDs: []string{"s1"}})
	p := reading.Part{Items: reading.Unread(&w.claims)[:12]}
	for i := range 3 {
		p.Items[i].Form, p.Items[i].Windows = reading.Frame, []claim.Window{{Text: "A list of ships"}}
	}
	frames := 0
	for _, item := range plant(t, p, 1, m).Items {
		if item.ID == "" && item.Form == reading.Frame {
			frames++
		}
	}
	if frames != 1 {
		t.Errorf("%d controls are frames", frames)
	}
}

func TestControlsHaveTheShapeOfClaims(t *testing.T) {
	w := newWorld(t, 3, 20)
	p := reading.Part{Items: reading.Unread(&w.claims)[:6]}
	for i := range p.Items {
		p.Items[i].Text = strings.TrimSuffix(p.Items[i].Text, ".")
		p.Items[i].Form, p.Items[i].Context = reading.Inference, evidence.Context{Heading: "Ports", LeadIn: "These grew:"}
	}
	for _, item := range plant(t, p, 1, w.material()).Items {
		if strings.HasSuffix(item.Text, ".") || item.Form != reading.Inference || item.Context.Heading != "Ports" || item.Context.LeadIn != "These grew:" || item.Context.Before != "" {
			t.Errorf("%+v", item)
		}
	}
}

func TestFewControlsWhereFewCanBeMade(t *testing.T) {
	w := newWorld(t, 3, 20)
	m := w.material()
	m.Bases = m.Bases[:1]
	asked := plant(t, reading.Part{Items: reading.Unread(&w.claims)[:10]}, 1, m)
	if len(asked.Items) != 11 {
		t.Errorf("%d items", len(asked.Items))
	}
	m.Bases = nil
	j, faults := plant(t, reading.Part{Items: asked.Items[:0]}, 1, m).Judge([]byte(`{"verdicts":[]}`))
	if len(faults) > 0 || j.Controls.Planted != 0 {
		t.Error(j, faults)
	}
}

// TestOneControlHasASenseOfItsOwn: however many controls have a number that no page has,
// one of a part is false by its sense alone, where a page gives one.
func TestOneControlHasASenseOfItsOwn(t *testing.T) {
	m := reading.Material{Language: "en", Bases: []reading.Base{{Text: "The harbour of Karlsund overtook Vexholm in that summer.", CIDs: []string{"s1"}, Page: true}},
		Text: func(string) string { return "" }, Windows: func(text string, _ []string) ([]claim.Window, error) {
			return []claim.Window{{CID: "s1", Text: text}}, nil
		}}
	for _, cargo := range strings.Fields("timber granite barley herring cement leather") {
		m.Bases = append(m.Bases, reading.Base{Text: "Every winter ships brought 412 loads of " + cargo + ".", CIDs: []string{"s1"}})
	}
	for seed := range uint64(20) {
		var texts []string
		for _, item := range plant(t, reading.Part{Items: items(6, 1, 10)}, seed, m).Items {
			if item.ID == "" {
				texts = append(texts, item.Text)
			}
		}
		if all := strings.Join(texts, " "); len(texts) != 3 || !strings.Contains(all, "Vexholm overtook Karlsund") {
			t.Errorf("seed %d plants %q", seed, texts)
		}
	}
}

// TestNoContextTellsAControl: the sentence before a control is a claim of its part, as it
// is for claims; a control can stand before another claim; and no two parts have a control
// from the same sentence.
func TestNoContextTellsAControl(t *testing.T) {
	w := newWorld(t, 5, 60)
	all := reading.Unread(&w.claims)
	for i := range all {
		if i%3 > 0 { // paragraphs of three sentences
			all[i].Context.Before = all[i-1].Text
		}
	}
	parts := reading.Divide(all, 1)
	m := w.material()
	followed := 0
	for seed := range uint64(30 / full.Stride(3, 1)) {
		of := map[string]int{} // the part of a control, by its numbers and names in byte order
		for _, p := range parts {
			asked := plant(t, p, 100*seed+uint64(p.Number), m)
			shown, before := map[string]bool{"": true}, map[string]bool{}
			for _, item := range all {
				shown[item.Text] = true // one may stand at the end of the part before
			}
			for _, item := range asked.Items {
				shown[item.Text] = true
				before[item.Context.Before] = true
			}
			alone := 0
			for _, item := range asked.Items {
				if !shown[item.Context.Before] {
					t.Errorf("before %q stands what nobody is asked about: %q", item.Text, item.Context.Before)
				}
				if item.ID != "" {
					continue
				}
				if item.Context.Before == "" && !before[item.Text] {
					alone++
				}
				if before[item.Text] {
					followed++
				}
				words := strings.Fields(strings.Trim(item.Text, "."))
				slices.Sort(words)
				key := strings.Join(words[:8], " ")
				if other := of[key]; other != 0 && other != p.Number {
					t.Errorf("parts %d and %d have the same control: %s", other, p.Number, item.Text)
				}
				of[key] = p.Number
			}
			if alone > 0 {
				t.Errorf("part %d has %d controls that stand alone, which no claim does", p.Number, alone)
			}
		}
	}
	if followed == 0 {
		t.Error("whatever has a sentence behind it is no control")
	}
}

// TestControlsMayBeCalculatedOrAboutTheRun: what shows a formula, or says something of the
// run, can be a control as well.
func TestControlsMayBeCalculatedOrAboutTheRun(t *testing.T) {
	about := evidence.RunFacts{Day: "2026-02-14", Perspectives: 4, Sources: []evidence.Count{{Of: "blocked", N: 3}, {Of: "valid", N: 12}}, OpenGaps: 2}
	w := newWorld(t, 3, 20)
	w.pages[evidence.RunCID] = evidence.RunText(about)
	m := w.material()
	for _, text := range evidence.RunSentences(about) {
		m.Bases = append(m.Bases, reading.Base{Text: text, CIDs: []string{evidence.RunCID}})
	}
	for i := range 6 {
		w.claims.Sentences[i].Calculation = &evidence.Calculation{Text: "30 - 10 = 20"}
	}
	for i := range 6 {
		s := &w.claims.Sentences[6+i]
		s.Form, s.CIDs = evidence.Inferred, []string{evidence.RunCID}
	}
	p := reading.Part{Items: reading.Unread(&w.claims)[:18]}
	formulas, ofRun := 0, 0
	for seed := range uint64(30 / full.Stride(3, 1)) {
		asked := plant(t, p, seed, m)
		for _, item := range asked.Items {
			last := item.Windows[len(item.Windows)-1]
			switch {
			case item.ID != "":
			case strings.HasPrefix(last.Text, "Calculated: "):
				formulas++
				result := last.Text[strings.LastIndex(last.Text, " ")+1:]
				if !strings.Contains(item.Text, result) || strings.Contains(w.pages[item.Windows[0].CID], item.Text) {
					t.Errorf("%q with %q", item.Text, last.Text)
				}
			case item.Windows[0].CID == evidence.RunCID:
				ofRun++
				if item.Form == reading.Statement || slices.Contains(evidence.RunSentences(about), item.Text) {
					t.Errorf("%+v", item)
				}
			}
		}
		if _, faults := asked.Judge(reader(honest).answer(asked)); len(faults) > 0 {
			t.Error(faults)
		}
	}
	if ofRun == 0 {
		t.Errorf("%d controls have a formula, %d are about the run", formulas, ofRun)
	}
	for _, item := range plant(t, reading.Part{Items: reading.Unread(&w.claims)[12:]}, 1, m).Items {
		if item.ID == "" && (item.Windows[0].CID == evidence.RunCID || strings.HasPrefix(item.Windows[len(item.Windows)-1].Text, "Calculated: ")) {
			t.Errorf("no claim looks like the control %+v", item)
		}
	}
}
