package evidence_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

var update = flag.Bool("update", false, "write the golden file of the present rules")

// TestRulesAreRaisedWithWhatTheyMake: verdicts and kept documents count by the version of
// the rules, so that none may make something else under the same name.
func TestRulesAreRaisedWithWhatTheyMake(t *testing.T) {
	pages := map[string]string{
		"en s1":  "Harbour statistics\nThe port of Karlsund handled 2,134,000 containers in 2020, after 1,940,000 in 2019. Its cranes are old.",
		"en s2":  "History\nDr. Vex opened the north quay on 3 March 1947. Sailors called it the longest quay of the coast. It burned in 1953.",
		"en run": "The research was made on 2026-01-02. Sources by status: valid 2.",
		"de s1":  "Der Hafen schlug am 3. März 2020 insgesamt 1.234,5 Tonnen um. Das sagte Dr. Vex im Rathaus. Zahlen des 19. Jahrhunderts liegen nicht vor.",
		"fr s1":  "Selon M. Durand, le port a traité 28 400 conteneurs en 2020, surtout des fruits. Il en traitait 25 000 avant. Les causes de la hausse ne sont pas connues.",
		"fi s1":  "Satama käsitteli 3. maaliskuuta 2020 yhteensä 28 400 konttia. Tilaston mukaan määrä kasvoi 12,5 prosenttia. Syitä ei tunneta.",
		"ar s1":  "عالج الميناء 28,400 حاوية في عام 2020. قال الدكتور أحمد إن العدد ارتفع بنسبة 12.5%. الأسباب غير معروفة.",
		"zh s1":  "港口去年处理了2.84万吨货物，比前年多得多。原因没有人知道。",
	}
	files, err := filepath.Glob("testdata/corpus/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal("no corpus", err)
	}
	var all bytes.Buffer
	for _, file := range files {
		draft := must.Get(os.ReadFile(file))(t)
		language := strings.TrimSuffix(filepath.Base(file), ".md")
		own := map[string]string{}
		for name, text := range pages {
			if cid, ok := strings.CutPrefix(name, language+" "); ok {
				own[cid] = text
			}
		}
		r := evidence.Read(markdown.Read(draft), facts(func(f *evidence.Facts) { f.Language = language }))
		held := hold(t, &r, language, own)
		if len(r.Faults) > 0 {
			t.Errorf("%s: %v", file, r.Faults)
		}
		data := must.Get(codec.MarshalFile(evidence.Assemble(r, codec.DigestBytes(draft), []evidence.Page{{CID: "s1", Digest: "sha256:1"}}, held, nil)))(t)
		all.Write(data)
	}
	golden := "testdata/" + evidence.Rules + ".json"
	if *update {
		must.Do(t, os.WriteFile(golden, all.Bytes(), 0o644))
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(all.Bytes(), want) {
		t.Errorf("the rules %s make something else than in %s (%v): raise evidence.Rules, and write the file with -update", evidence.Rules, golden, err)
	}
}
