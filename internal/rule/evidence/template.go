package evidence

// Template is the shape of a report: its sections, as headings of the second level.
type Template struct {
	Name     string
	Sections []Section
	// Timeline allows dates in headings that a cited sentence below them has.
	Timeline bool
}

// Section is a section of a template.
type Section struct {
	Title     string
	Summary   bool // it repeats what others say: results of other sections may stand in it
	Findings  bool // it must have as many cited sentences as there are perspectives
	Judgement bool // any of its sentences may be inferred
	Caveats   bool // its inferences may name @run
}

// Briefing is the template of a report for which no other is chosen.
var Briefing = Template{Name: "briefing", Sections: []Section{
	{Title: "Summary", Summary: true},
	{Title: "Key Findings", Findings: true},
	{Title: "Evidence"},
	{Title: "Caveats", Judgement: true, Caveats: true},
}}

func (t Template) section(title string) *Section {
	for i := range t.Sections {
		if t.Sections[i].Title == title {
			return &t.Sections[i]
		}
	}
	return nil
}
