package review

import "cmp"

// Dismissal is a person's decision that something does not count: a finding, one that did
// not hold, or what no reviewer answers for.
type Dismissal struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	File     string   `json:"file"`
	Category string   `json:"category,omitempty"`
	Severity Severity `json:"severity,omitempty"` // the gravest that it holds for
	Quote    string   `json:"quote,omitempty"`    // the lines that it is about
	Reason   string   `json:"reason"`
	At       string   `json:"dismissed_at"`
	// Signature is over the canonical JSON of the rest, "" where decisions are not
	// signed.
	Signature string `json:"signature,omitempty"`
}

// Dismissible is the dismissal of what has an id in a review, still without reason and
// time.
func Dismissible(id string, findings []Finding, dropped []Dropped, open []Unanswered) (Dismissal, bool) {
	for _, d := range dropped {
		findings = append(findings[:len(findings):len(findings)], d.Finding)
	}
	for _, f := range findings {
		if f.ID == id {
			return Dismissal{ID: id, Title: f.Title, File: f.File, Category: f.Category, Severity: f.Severity,
				Quote: f.Quote}, true
		}
	}
	for _, u := range open {
		if u.ID == id {
			return Dismissal{ID: id, Title: u.Message, File: u.File}, true
		}
	}
	return Dismissal{}, false
}

// isAbout reports whether a dismissal is about a finding: the same file, quoted lines and
// category, whatever the title. Where there are no quoted lines, the id says it.
func (d Dismissal) isAbout(f Finding) bool {
	if d.Quote == "" {
		return d.ID == f.ID
	}
	return d.File == f.File && d.Category == f.Category && fold(d.Quote) == fold(f.Quote)
}

// Dismissals are what persons dismissed.
type Dismissals []Dismissal

// Of is the dismissal that holds for a finding, nil where none does. A finding graver
// than what was dismissed is not, and graver is the dismissal that it goes beyond.
func (l Dismissals) Of(f Finding) (holds, graver *Dismissal) {
	for i, d := range l {
		if !d.isAbout(f) {
			continue
		}
		if rank(f.Severity) >= rank(cmp.Or(d.Severity, High)) {
			return &l[i], nil
		}
		graver = &l[i]
	}
	return nil, graver
}

// Spare says of what no reviewer answers for whether a person has dismissed it.
func (l Dismissals) Spare(open []Unanswered) {
	for i, u := range open {
		for _, d := range l {
			if d.ID == u.ID {
				open[i].Spared = d.Reason
			}
		}
	}
}
