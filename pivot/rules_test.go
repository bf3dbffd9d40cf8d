package pivot_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/pivot"
)

// gapsOf makes gaps in gap order with these counts.
func gapsOf(counts ...int) []pivot.Gap {
	var gaps []pivot.Gap
	for p, n := range counts {
		for i := range n {
			gaps = append(gaps, pivot.Gap{ID: fmt.Sprintf("g%d_%d", p, i), Priority: pivot.Priorities[p]})
		}
	}
	return gaps
}

func TestJudge(t *testing.T) {
	for _, test := range []struct {
		name        string
		counts      []int
		required    bool
		rule        string
		explanation string
		ids         []string
	}{
		{"no gaps at all", []int{0, 0, 0, 0}, false, "Wave2Skip.NoGaps", "Wave 2 skipped because total_gaps=0 (rule Wave2Skip.NoGaps).", []string{}},
		{"one P0", []int{1, 0, 0, 0}, true, "Wave2Required.P0", "Wave 2 required because p0_count=1 (rule Wave2Required.P0).", []string{"g0_0"}},
		{"P0 goes before P1 and volume", []int{2, 2, 2, 0}, true, "Wave2Required.P0", "Wave 2 required because p0_count=2 (rule Wave2Required.P0).", []string{"g0_0", "g0_1", "g1_0", "g1_1"}},
		{"one P1 is not enough", []int{0, 1, 0, 0}, false, "Wave2Skip.NoGaps", "Wave 2 skipped because total_gaps=1 (rule Wave2Skip.NoGaps).", []string{}},
		{"two P1", []int{0, 2, 0, 0}, true, "Wave2Required.P1", "Wave 2 required because p1_count=2 (rule Wave2Required.P1).", []string{"g1_0", "g1_1"}},
		{"P1 goes before volume", []int{0, 2, 3, 1}, true, "Wave2Required.P1", "Wave 2 required because p1_count=2 (rule Wave2Required.P1).", []string{"g1_0", "g1_1"}},
		{"volume with one P1", []int{0, 1, 2, 1}, true, "Wave2Required.Volume", "Wave 2 required because total_gaps=4 and p1_count+p2_count=3 (rule Wave2Required.Volume).", []string{"g1_0"}},
		{"volume without P1 takes the first three", []int{0, 0, 3, 2}, true, "Wave2Required.Volume", "Wave 2 required because total_gaps=5 and p1_count+p2_count=3 (rule Wave2Required.Volume).", []string{"g2_0", "g2_1", "g2_2"}},
		{"volume of P2 alone takes the first three", []int{0, 0, 5, 0}, true, "Wave2Required.Volume", "Wave 2 required because total_gaps=5 and p1_count+p2_count=5 (rule Wave2Required.Volume).", []string{"g2_0", "g2_1", "g2_2"}},
		{"three gaps are not a volume", []int{0, 0, 3, 0}, false, "Wave2Skip.NoGaps", "Wave 2 skipped because total_gaps=3 (rule Wave2Skip.NoGaps).", []string{}},
		{"four gaps with two that matter are not a volume", []int{0, 1, 1, 2}, false, "Wave2Skip.NoGaps", "Wave 2 skipped because total_gaps=4 (rule Wave2Skip.NoGaps).", []string{}},
		{"any number of P3 is skipped", []int{0, 0, 0, 40}, false, "Wave2Skip.NoGaps", "Wave 2 skipped because total_gaps=40 (rule Wave2Skip.NoGaps).", []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := test.counts
			want := pivot.Outcome{
				Wave2Required: test.required, RuleHit: test.rule, Explanation: test.explanation, Wave2GapIDs: test.ids,
				Metrics: pivot.Metrics{P0: c[0], P1: c[1], P2: c[2], P3: c[3], Total: c[0] + c[1] + c[2] + c[3]},
			}
			if diff := cmp.Diff(want, pivot.Judge(gapsOf(c...))); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

// secondStatement is the rubric again, from its prose and sharing nothing with
// the table of rules: it counts letters in the list of priorities.
func secondStatement(priorities []string) (required bool, rule string) {
	all := strings.Join(priorities, "")
	urgent, high, medium := strings.Count(all, "P0"), strings.Count(all, "P1"), strings.Count(all, "P2")
	if urgent > 0 {
		return true, "Wave2Required.P0"
	}
	if high > 1 {
		return true, "Wave2Required.P1"
	}
	if len(priorities) > 3 && high+medium > 2 {
		return true, "Wave2Required.Volume"
	}
	return false, "Wave2Skip.NoGaps"
}

func prioritiesOf(gaps []pivot.Gap) []string {
	var list []string
	for _, g := range gaps {
		list = append(list, g.Priority)
	}
	return list
}

func TestJudgeAgreesWithASecondStatementOfTheRubric(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 4))
	hits := map[string]int{}
	for range 20_000 {
		gaps := gapsOf(random.IntN(2)*random.IntN(3), random.IntN(4), random.IntN(6), random.IntN(6))
		required, rule := secondStatement(prioritiesOf(gaps))
		got := pivot.Judge(gaps)
		if got.Wave2Required != required || got.RuleHit != rule {
			t.Fatalf("%v: got %v by %s, want %v by %s", prioritiesOf(gaps), got.Wave2Required, got.RuleHit, required, rule)
		}
		if (len(got.Wave2GapIDs) > 0) != required {
			t.Fatalf("%v: required %v with the gaps %v", prioritiesOf(gaps), required, got.Wave2GapIDs)
		}
		hits[rule]++
	}
	if len(hits) != len(pivot.Rules) {
		t.Errorf("not every rule was hit: %v", hits)
	}
}

func TestAddingAGapNeverTurnsRequiredIntoSkipped(t *testing.T) {
	for p0 := range 2 {
		for p1 := range 4 {
			for p2 := range 6 {
				for p3 := range 6 {
					before := []int{p0, p1, p2, p3}
					if !pivot.Judge(gapsOf(before...)).Wave2Required {
						continue
					}
					for added := range 4 {
						after := slices.Clone(before)
						after[added]++
						if out := pivot.Judge(gapsOf(after...)); !out.Wave2Required {
							t.Errorf("%v requires a second wave, %v does not (%s)", before, after, out.RuleHit)
						}
					}
				}
			}
		}
	}
}

func TestRulesPrintThemselves(t *testing.T) {
	want := []pivot.RuleText{
		{"Wave2Required.P0", "p0_count >= 1", true, "Wave 2 required because p0_count=<p0_count> (rule Wave2Required.P0)."},
		{"Wave2Required.P1", "p1_count >= 2", true, "Wave 2 required because p1_count=<p1_count> (rule Wave2Required.P1)."},
		{"Wave2Required.Volume", "total_gaps >= 4 and p1_count+p2_count >= 3", true,
			"Wave 2 required because total_gaps=<total_gaps> and p1_count+p2_count=<p1_count+p2_count> (rule Wave2Required.Volume)."},
		{"Wave2Skip.NoGaps", "otherwise", false, "Wave 2 skipped because total_gaps=<total_gaps> (rule Wave2Skip.NoGaps)."},
	}
	if diff := cmp.Diff(want, pivot.ListRules().Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestTheSchemaOfADecisionNamesEveryRule(t *testing.T) {
	var ids []string
	for _, r := range pivot.Rules {
		ids = append(ids, r.ID)
	}
	field, _ := reflect.TypeFor[pivot.Decision]().FieldByName("RuleHit")
	if got, want := field.Tag.Get("enum"), strings.Join(ids, ","); got != want {
		t.Errorf("the schema lists %s, the rubric %s", got, want)
	}
}

func TestExplanationsLeaveNoPlaceUnfilled(t *testing.T) {
	for _, r := range pivot.Rules {
		if text := r.Explanation(pivot.Metrics{P0: 1, P1: 2, P2: 3, P3: 4, Total: 10}); strings.ContainsAny(text, "{}") {
			t.Errorf("%s: %s", r.ID, text)
		}
		if !strings.Contains(r.Template, "(rule "+r.ID+").") {
			t.Errorf("the template of %s names another rule: %s", r.ID, r.Template)
		}
	}
}

func TestTheRulesAsAPersonReadsThem(t *testing.T) {
	want := must.Get(os.ReadFile(filepath.Join("testdata", "rules.text")))(t)
	var out bytes.Buffer
	must.Do(t, report.Text(&out, pivot.ListRules().Report(), report.Options{}))
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
