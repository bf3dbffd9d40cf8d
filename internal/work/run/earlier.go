package run

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
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

// EarlierShown is an earlier run as prompts show it.
type EarlierShown struct {
	Question string
	Open     string // what it left open, one line each
	Said     string // the sentences of its report with their pages, one line each
	LeftOut  int    // sentences for which there was no room
}

// mostEarlier is how many bytes of an earlier report, and of what it left open, are shown.
const mostEarlier = 24 << 10

// Shown is what prompts show of it; nil for none.
func (e *Earlier) Shown() *EarlierShown {
	if e == nil {
		return nil
	}
	shown := &EarlierShown{Question: e.Question}
	for _, o := range e.Open {
		if line := "- " + o.Kind + ": " + markdown.OneLine(o.Text) + "\n"; len(shown.Open)+len(line) <= mostEarlier {
			shown.Open += line
		}
	}
	for _, s := range e.Sentences {
		if len(s.URLs) == 0 {
			continue
		}
		line := "- " + markdown.OneLine(s.Text) + " (" + strings.Join(s.URLs, ", ") + ")\n"
		if len(shown.Said)+len(line) > mostEarlier {
			shown.LeftOut++
			continue
		}
		shown.Said += line
	}
	return shown
}

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
	if err != nil {
		return nil, artifact.UnlessMissing(err)
	}
	var e Earlier
	if err := json.Unmarshal(data, &e); err != nil || e.SchemaVersion != EarlierVersion {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", r.Path(EarlierFile)), "%s does not say what the run builds on", EarlierFile)
	}
	return &e, nil
}

// Frozen names a finished run whose archive answers the searches and fetches of another:
// alone, or, for a run that builds on it, before the web. The zero value names none.
type Frozen struct {
	RunID string `json:"run_id"`
	Root  string `json:"root"`          // where it was when the other run began
	Head  string `json:"head,omitzero"` // of its log, for a run that builds on it
}

// IsZero reports whether no run is named.
func (f Frozen) IsZero() bool { return f == Frozen{} }

// Lines say it in the words of plans, prompts and reports, one sentence each.
func (f Frozen) Lines(language string) []string {
	if f.IsZero() {
		return nil
	}
	return []string{evidence.Say(language, "Searches and fetches are answered from the archive of the finished run %s alone. A page that it does not have cannot be reached.", f.RunID)}
}

// OpenFinished opens a run whose archive is to answer another. It returns the errors of
// [Open], and INVALID_STATE for a run that is not finished.
func OpenFinished(ctx context.Context, desk Desk, manifestPath string) (*Run, error) {
	r, err := Open(ctx, desk, manifestPath, "status")
	if err != nil {
		return nil, err
	}
	if status := r.Manifest().Status(); !status.Final() {
		r.Close()
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("sources", r.ID(), "status", status, "help", "tidegate run continue "+r.ID()),
			"run %q is %s: only a finished run can answer for its sources", r.ID(), status)
	}
	return r, nil
}

// Sources opens the finished run whose archive answers this one; nil where no archive but
// its own does. It is looked for where it was, and beside this run. It returns the
// errors of [OpenFinished], and NOT_FOUND where another run is there. A run that this one
// only builds on may be gone: the web answers then.
func (r *Run) Sources(ctx context.Context) (*Run, error) {
	policy, err := r.Policy()
	named := cmp.Or(policy.Frozen, policy.From)
	if err != nil || named.IsZero() {
		return nil, err
	}
	var failed error
	for _, root := range []string{named.Root, filepath.Join(filepath.Dir(r.Root()), named.RunID)} {
		found, err := OpenFinished(ctx, r.desk, filepath.Join(root, ManifestFile))
		if err == nil && found.ID() == named.RunID {
			return found, nil
		}
		if err == nil {
			found.Close()
		}
		failed = cmp.Or(failed, err)
	}
	if policy.Frozen.IsZero() {
		return nil, nil
	}
	if code := tidegate.CodeOf(failed); failed != nil && code != tidegate.FileNotFound {
		return nil, failed
	}
	return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("sources", named.RunID, "path", named.Root),
		"run %q is answered by the sources of run %q alone, which is no longer at %s", r.ID(), named.RunID, named.Root)
}
