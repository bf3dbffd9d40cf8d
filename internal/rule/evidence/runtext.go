package evidence

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// RunFacts are what a report may say of its own run.
type RunFacts struct {
	Question     string
	Day          string // 2006-01-02
	Sensitivity  string
	Perspectives int
	Sources      []Count // by status
	Reasons      []Count // why sources cannot be used
	Languages    []string
	Years        []string // of the cited pages
	OpenGaps     int
}

// Count is how many there are of something.
type Count struct {
	Of string
	N  int
}

// RunText is the text that @run stands for. It is made by rule, and holds no word of an
// agent and no host.
func RunText(f RunFacts) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("The question of this report: %s", markdown.OneLine(f.Question))
	line("The research was made on %s.", f.Day)
	line("Sensitivity: %s.", f.Sensitivity)
	line("Number of perspectives: %d.", f.Perspectives)
	line("Sources by status: %s.", counts(f.Sources))
	line("Sources that cannot be used, by reason: %s.", counts(f.Reasons))
	line("Languages of the cited pages: %s.", listed(f.Languages))
	line("Years of the cited pages: %s.", listed(f.Years))
	line("Open questions: %d.", f.OpenGaps)
	return b.String()
}

// RunSentences say in English what the text of a run says, as a report might.
func RunSentences(f RunFacts) []string {
	all := []string{
		fmt.Sprintf("The research behind these findings was made on %s.", f.Day),
		fmt.Sprintf("The question was looked at from %d perspectives.", f.Perspectives),
		fmt.Sprintf("Researchers left %d questions open in this report.", f.OpenGaps),
	}
	for _, c := range f.Sources {
		all = append(all, fmt.Sprintf("Among the sources that were judged, %d have the status %s.", c.N, c.Of))
	}
	for _, c := range f.Reasons {
		all = append(all, fmt.Sprintf("There are %d sources that cannot be used because of %s.", c.N, c.Of))
	}
	return all
}

func counts(all []Count) string {
	var parts []string
	for _, c := range all {
		parts = append(parts, fmt.Sprintf("%s %d", c.Of, c.N))
	}
	return listed(parts)
}

func listed(parts []string) string {
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
