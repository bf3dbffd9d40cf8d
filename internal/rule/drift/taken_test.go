package drift_test

import (
	"bufio"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/drift"
	"github.com/tidegate/tidegate/internal/test/must"
)

// beside is what stands before and behind, in each language.
var beside = map[string][2]string{
	"en": {"The house has a garden with old trees.", "In the evening the lamps are lit along the river."},
	"de": {"Das Haus hat einen Garten mit alten Bäumen.", "Am Abend brennen die Lampen am Ufer."},
	"fr": {"La maison a un jardin avec de vieux arbres.", "Le soir, les lampes sont allumées le long de la rivière."},
	"es": {"La casa tiene un jardín con árboles viejos.", "Por la tarde se encienden las lámparas junto al río."},
}

// TestWhatTakesASentenceBack changes pages in four languages: of 60 retractions, corrections,
// denials, hedges and frames each at least 0.95 are found, and at most 0.05 of the honest changes
// beside a sentence are taken for one. A page that only grew stands.
func TestWhatTakesASentenceBack(t *testing.T) {
	for _, name := range []string{"testdata/taken.txt", "testdata/corrections.txt"} {
		all, changed := taken(t, name)
		for _, kind := range slices.Sorted(maps.Keys(all)) {
			rate := float64(changed[kind]) / float64(all[kind])
			t.Logf("%s: %s: %d of %d changed", name, kind, changed[kind], all[kind])
			if all[kind] < 60 || kind == "honest" && rate > 0.05 || kind != "honest" && rate < 0.95 {
				t.Errorf("%s: %s: %d of %d changed", name, kind, changed[kind], all[kind])
			}
		}
	}
}

// TestWhatNoListKnows does the same with what an author wrote who did not see the lists, and from
// which no list has learnt. The rules find what they find; whatever they do not find is shown
// beside the sentence.
func TestWhatNoListKnows(t *testing.T) {
	all, changed := taken(t, "testdata/versions.txt")
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		t.Logf("%s: %d of %d changed", kind, changed[kind], all[kind])
	}
}

// taken holds the pages of a file against their bases, and counts them by kind: all, and those
// that changed. One that stands with other words than its base shows them.
func taken(t *testing.T, name string) (all, changed map[string]int) {
	t.Helper()
	file := must.Get(os.Open(name))(t)
	defer file.Close()
	all, changed = map[string]int{}, map[string]int{}
	var language string
	var bases [][]string
	nth := map[string]int{}
	for in := bufio.NewScanner(file); in.Scan(); {
		line := in.Text()
		kind, text, _ := strings.Cut(line, " ")
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '[':
			language, bases = strings.Trim(line, "[]"), nil
			continue
		case kind == "base":
			bases = append(bases, strings.Split(text, " | "))
			continue
		}
		base := bases[nth[language+kind]%len(bases)]
		nth[language+kind]++
		whole := base[0] + " " + base[1] + " " + base[4] + "."
		first := []rune(whole)
		first[0] = unicode.ToLower(first[0])
		now := strings.NewReplacer("{=}", whole, "{r}", string(first), "{S}", base[0], "{V}", base[1], "{I}", base[2], "{P}", base[3], "{R}", base[4]).Replace(text)
		page := func(text string) *claim.Page {
			around := beside[language]
			return &claim.Page{CID: "s1", Title: base[0], Language: language, Text: around[0] + "\n\n" + text + "\n\n" + around[1] + "\n"}
		}
		out := must.Get(drift.Judge(t.Context(), claim.Question{Text: whole, Language: language, CIDs: []string{"s1"}},
			map[string]*drift.Source{"s1": {CID: "s1", Then: page(whole), Now: page(now)}}))(t)
		all[kind]++
		if out.State == drift.Changed {
			changed[kind]++
		}
		if (out.State == drift.Changed) == (kind == "honest") {
			t.Logf("%s %s: %s: %s %s", language, kind, now, out.State, out.Pages[0].Why)
		}
		if out.State == drift.Stands && kind != "honest" && len(out.Pages[0].Beside) == 0 {
			t.Errorf("%s %s: %s: stands, and nothing is shown beside it", language, kind, now)
		}
	}
	return all, changed
}
