package synthesis_test

import (
	"testing"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
)

// TestNoTemplateHasAReservedHeading: a report could not be written by it.
func TestNoTemplateHasAReservedHeading(t *testing.T) {
	for _, name := range evidence.TemplateNames() {
		for _, language := range evidence.Languages() {
			template, _ := evidence.TemplateIn(name, language)
			for _, title := range template.Titles(nil) {
				if synthesis.IsReserved(title) {
					t.Errorf("%s in %s has the heading %q", name, language, title)
				}
			}
		}
	}
	for _, title := range []string{"Quellen", "المراجع", "参考文献", "Références"} {
		if !synthesis.IsReserved(title) {
			t.Errorf("a synthesis may have the heading %q", title)
		}
	}
}
