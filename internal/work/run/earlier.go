package run

import (
	"encoding/json"

	"github.com/tidegate/tidegate"
)

// EarlierVersion is the schema_version of [EarlierFile].
const EarlierVersion = "earlier_run.v1"

// Earlier is what a run takes from the finished run that it builds on: what its report says
// and what it left open. It is a copy, so that the run stays whole without the other.
type Earlier struct {
	SchemaVersion string            `json:"schema_version"`
	RunID         string            `json:"run_id"`
	Head          string            `json:"head"` // of its log
	Question      string            `json:"question"`
	Sentences     []EarlierSentence `json:"sentences"`
	Open          []OpenQuestion    `json:"open"`
	// Changed are the addresses of pages that say something else since: they are fetched
	// again.
	Changed []string `json:"changed"`
}

// EarlierSentence is a sentence of an earlier report.
type EarlierSentence struct {
	ID       string   `json:"id"`
	Text     string   `json:"text"`
	Standing string   `json:"standing"`
	URLs     []string `json:"urls"` // of the pages that it cites
}

// OpenQuestion is something that an earlier run left open.
type OpenQuestion struct {
	Kind string `json:"kind"` // gap, contradiction or changed
	Text string `json:"text"`
}

// The kinds of open questions.
const (
	OpenGap           = "gap"           // that no agent closed
	OpenContradiction = "contradiction" // numbers of different sources that differ
	OpenChanged       = "changed"       // a sentence whose page says something else since
)

// Lines say what a run builds on and what is offered to its planner, in the words of plans.
func (e *Earlier) Lines() []string {
	if e == nil {
		return nil
	}
	lines := []string{"It builds on the run " + e.RunID + ": the pages of its archive are at hand, and the report says what changed since."}
	for _, o := range e.Open {
		lines = append(lines, "Offered to the planner, "+o.Kind+": "+tidegate.Cut(o.Text))
	}
	return lines
}

// Earlier is what the run builds on; nil where it builds on no other. It returns READ_FAILED,
// and INVALID_STATE for a file that is none.
func (r *Run) Earlier() (*Earlier, error) {
	data, err := r.folder.Read(EarlierFile)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var e Earlier
	if err := json.Unmarshal(data, &e); err != nil || e.SchemaVersion != EarlierVersion {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", r.Path(EarlierFile)), "%s does not say what the run builds on", EarlierFile)
	}
	return &e, nil
}
