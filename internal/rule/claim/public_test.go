package claim_test

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/test/full"
)

// publicSets are the sets of claims that other people labelled, with the least share of
// unsupported claims that must be found.
var publicSets = []struct {
	name  string
	least float64
}{{"ab", 0.43}, {"wice", 0.45}, {"se", 0.17}, {"fact", 0.33}}

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
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for lines := json.NewDecoder(z); ; {
		var row struct {
			Claim      string
			References []string
			Label      string `json:"attribution_label"`
		}
		if err := lines.Decode(&row); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		var cids []string
		for i := range row.References {
			cids = append(cids, strconv.Itoa(i))
		}
		j := judge(t, []claim.Sentence{{Text: row.Claim, CIDs: cids}}, func(cid string) string {
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
