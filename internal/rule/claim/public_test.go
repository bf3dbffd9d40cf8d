package claim_test

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

// publicSets are the sets of claims that other people labelled, with the least share of
// unsupported claims that must be found.
var publicSets = []struct {
	name  string
	least float64
}{{"ab", 0.48}, {"wice", 0.45}, {"se", 0.30}, {"fact", 0.38}}

// The most false alarms on supported claims: by faults alone, and by faults and what is
// weak; over all sets, and in each.
const (
	mostFaults, mostAlarms     = 0.03, 0.08
	mostFaultsIn, mostAlarmsIn = 0.06, 0.11
	supported                  = "attributable"
)

// publicFolder is where the sets lie: in the folder that GROUNDING_SETS names, or beside
// that of the program.
func publicFolder() string {
	return cmp.Or(os.Getenv("GROUNDING_SETS"), "../../../../shared/grounding")
}

// TestPublicClaims judges claims that other people labelled, where they are at hand.
func TestPublicClaims(t *testing.T) {
	full.Story(t)
	if _, err := os.Stat(publicFolder()); err != nil {
		t.Skipf("the labelled claims are not there: %v", err)
	}
	var all score
	for _, set := range publicSets {
		var s score
		s.read(t, filepath.Join(publicFolder(), set.name+"_dev.jsonl.gz"))
		all.add(s)
		faults, alarms := s.alarms()
		t.Logf("%s: %d claims, %.3f of the unsupported found, false alarms %.3f by faults, %.3f in all", set.name, s.right+s.wrong, s.found(), faults, alarms)
		if s.found() < set.least || faults > mostFaultsIn || alarms > mostAlarmsIn {
			t.Errorf("%s: that is not enough", set.name)
		}
	}
	if faults, alarms := all.alarms(); faults > mostFaults || alarms > mostAlarms {
		t.Errorf("false alarms over all sets: %.3f by faults, %.3f in all", faults, alarms)
	}
}

// TestWindowsHoldWhatPeopleMarked: of claims whose support people marked on the page, the
// windows hold all the sentences of one of them.
func TestWindowsHoldWhatPeopleMarked(t *testing.T) {
	if _, err := os.Stat(publicFolder()); err != nil {
		t.Skipf("the labelled claims are not there: %v", err)
	}
	type row struct {
		ID, Claim  string
		References []string
		Label      string     `json:"attribution_label"`
		Support    [][]string // by who marked it
	}
	marked := map[string][][]string{}
	for _, r := range rowsOf[row](t, filepath.Join(publicFolder(), "wice_support_dev.jsonl.gz")) {
		marked[r.ID] = r.Support
	}
	claims, whole, shares := 0, [2]int{}, [2]float64{}
	for _, r := range rowsOf[row](t, filepath.Join(publicFolder(), "wice_dev.jsonl.gz")) {
		if marked[r.ID] == nil || r.Label != supported {
			continue
		}
		claims++
		j := judge(t, []claim.Question{{Text: r.Claim, CIDs: []string{"0"}}}, func(string) string { return r.References[0] })[0]
		for look, windows := range [2][]claim.Window{j.Windows, slices.Concat(j.Windows, j.More)} {
			best := 0.0
			for _, by := range marked[r.ID] {
				held := 0
				for _, s := range by {
					if at := strings.Index(r.References[0], s); at >= 0 && slices.ContainsFunc(windows, func(w claim.Window) bool {
						return 5*(min(at+len(s), w.End)-max(at, w.Start)) >= 4*len(s)
					}) {
						held++
					}
				}
				best = max(best, float64(held)/float64(len(by)))
			}
			shares[look] += best
			whole[look] += int(best)
		}
	}
	n := float64(claims)
	t.Logf("%d claims: all of what one marked %.3f, share %.3f; at a second look %.3f, %.3f", claims, float64(whole[0])/n, shares[0]/n, float64(whole[1])/n, shares[1]/n)
	if claims < 100 || float64(whole[0]) < 0.86*n || shares[0] < 0.95*n || float64(whole[1]) < 0.94*n {
		t.Error("that is not enough")
	}
}

// score counts claims by their labels and standings.
type score struct{ right, wrong, rightMissing, rightWeak, wrongMissing, wrongWeak int }

func (s *score) add(o score) {
	s.right, s.wrong, s.rightMissing = s.right+o.right, s.wrong+o.wrong, s.rightMissing+o.rightMissing
	s.rightWeak, s.wrongMissing, s.wrongWeak = s.rightWeak+o.rightWeak, s.wrongMissing+o.wrongMissing, s.wrongWeak+o.wrongWeak
}

func (s *score) found() float64 { return float64(s.wrongMissing+s.wrongWeak) / float64(s.wrong) }

func (s *score) alarms() (faults, all float64) {
	return float64(s.rightMissing) / float64(s.right), float64(s.rightMissing+s.rightWeak) / float64(s.right)
}

func (s *score) read(t *testing.T, file string) {
	t.Helper()
	for _, row := range rowsOf[struct {
		Claim      string
		References []string
		Label      string `json:"attribution_label"`
	}](t, file) {
		var cids []string
		for i := range row.References {
			cids = append(cids, strconv.Itoa(i))
		}
		j := judge(t, []claim.Question{{Text: row.Claim, CIDs: cids}}, func(cid string) string {
			i, _ := strconv.Atoi(cid)
			return row.References[i]
		})[0]
		missing, weak := &s.wrongMissing, &s.wrongWeak
		if row.Label == supported {
			missing, weak = &s.rightMissing, &s.rightWeak
			s.right++
		} else {
			s.wrong++
		}
		switch j.Standing {
		case claim.Missing:
			*missing++
		case claim.Weak:
			*weak++
		}
	}
}

// rowsOf are the lines of a set.
func rowsOf[T any](t *testing.T, file string) (rows []T) {
	t.Helper()
	f := must.Get(os.Open(file))(t)
	defer f.Close()
	for lines := json.NewDecoder(must.Get(gzip.NewReader(f))(t)); ; {
		var row T
		if err := lines.Decode(&row); errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
}
