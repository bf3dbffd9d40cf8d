package drift_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/drift"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestARespeltDateIsTheSameDate: a page that writes its date otherwise says what it said.
func TestARespeltDateIsTheSameDate(t *testing.T) {
	for _, tt := range []struct {
		language, said, then, now string
		want                      drift.State
	}{
		{"de", "Der Hafen wurde am 9. Mai 2018 eröffnet.", "Der Hafen wurde am 9. Mai 2018 mit einem Fest eröffnet.", "Der Hafen wurde am 09.05.2018 mit einem Fest eröffnet.", drift.Stands},
		{"de", "Der Hafen wurde am 9. Mai 2018 eröffnet.", "Der Hafen wurde am 09.05.2018 mit einem Fest eröffnet.", "Der Hafen wurde am 9. Mai 2018 mit einem Fest eröffnet.", drift.Stands},
		{"en", "The port opened on 9 May 2018.", "The port opened on 9 May 2018 with a feast.", "The port opened on May 9, 2018 with a feast.", drift.Stands},
		{"en", "The port opened on 9 May 2018.", "The port opened on 9 May 2018 with a feast.", "The port opened on 2018-05-09 with a feast.", drift.Stands},
		{"fr", "Le port a ouvert le 9 mai 2018.", "Le port a ouvert le 9 mai 2018 avec une fête.", "Le port a ouvert le 09/05/2018 avec une fête.", drift.Stands},
		{"es", "El puerto abrió el 9 de mayo de 2018.", "El puerto abrió el 9 de mayo de 2018 con una fiesta.", "El puerto abrió el 09/05/2018 con una fiesta.", drift.Stands},
		{"de", "Der Hafen wurde am 9. Mai 2018 eröffnet.", "Der Hafen wurde am 9. Mai 2018 mit einem Fest eröffnet.", "Der Hafen wurde am 09.06.2018 mit einem Fest eröffnet.", drift.Changed},
		{"en", "The port opened on 9 May 2018.", "The port opened on 9 May 2018 with a feast.", "The port opened on 2018-05-10 with a feast.", drift.Changed},
		{"en", "The port opened in May 2018.", "The port opened in May 2018 with a feast.", "The port opened in June 2018 with a feast.", drift.Changed},
	} {
		page := func(text string) *claim.Page { return &claim.Page{CID: "s1", Language: tt.language, Text: text} }
		out := must.Get(drift.Judge(t.Context(), claim.Question{Text: tt.said, Language: tt.language, CIDs: []string{"s1"}},
			map[string]*drift.Source{"s1": {CID: "s1", Then: page(tt.then), Now: page(tt.now)}}))(t)
		if out.State != tt.want {
			t.Errorf("%s\n%s: %s, %+v", tt.then, tt.now, out.State, out.Pages)
		}
	}
}

// TestAPageThatMayNotBeFetchedIsNotGone: that its address is refused here says nothing of it.
func TestAPageThatMayNotBeFetchedIsNotGone(t *testing.T) {
	s := &drift.Source{Record: &source.Record{Rule: "refused-address"}}
	if state := s.PageState(); state != drift.Unreachable {
		t.Error(state)
	}
}
