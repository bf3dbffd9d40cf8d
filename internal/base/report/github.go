package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// githubCap is how many annotations of one kind GitHub shows for one step.
const githubCap = 10

// GitHub writes findings as workflow commands, which GitHub shows as annotations
// in the changed files: at most ten of a kind, and, where more were found, a
// last notice that says how many were left out. A plain line with the summary
// ends it. All content passes through [Visible]. It fails only when w does, with
// WRITE_FAILED.
func GitHub(w io.Writer, r Report, o Options) error {
	all := r.occurrences(o.Root)
	found := make(map[Level]int)
	for _, f := range all {
		found[f.Level]++
	}
	notices := githubCap
	if found[LevelError] > githubCap || found[LevelWarning] > githubCap || found[LevelNote] > githubCap {
		notices-- // the last one says what was left out
	}
	room := map[Level]int{LevelError: githubCap, LevelWarning: githubCap, LevelNote: notices}
	var out bytes.Buffer
	left := 0
	for _, f := range all {
		if room[f.Level] == 0 {
			left++
			continue
		}
		room[f.Level]--
		out.WriteString(githubCommand(f))
	}
	if left > 0 {
		fmt.Fprintf(&out, "::notice title=%s::%d of %d findings are not shown here: GitHub shows %d annotations of a kind for a step\n",
			program, left, len(all), githubCap)
	}
	summary := joinNonEmpty(" ", program+":", r.Status.String(), OneLine(firstOf(r.Summary, r.Title)))
	out.WriteString(summary + "\n")
	return deliver(w, out.Bytes())
}

func githubCommand(f occurrence) string {
	var properties []string
	if f.File != "" {
		properties = append(properties, "file="+githubProperty(f.File))
		if f.Line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d", f.Line))
		}
	}
	title := OneLine(f.Rule)
	if t := OneLine(f.Title); t != "" {
		title += ": " + t
	}
	properties = append(properties, "title="+githubProperty(title))
	message := f.Message
	if f.Help != "" {
		message += "\nWhat to do: " + f.Help
	}
	return "::" + levelShownAs[f.Level].github + " " + strings.Join(properties, ",") + "::" + githubData.Replace(strings.TrimSpace(Visible(message))) + "\n"
}

var githubData = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")

var githubPropertyData = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")

func githubProperty(s string) string { return githubPropertyData.Replace(Visible(s)) }
