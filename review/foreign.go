package review

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// The most that is taken from the document of another tool.
const (
	maxForeign     = 1000    // issues; the gravest are kept
	maxForeignText = 4 << 10 // bytes of a description or a recommendation
)

// Foreign is what another tool found, read from its SARIF or rdjson.
type Foreign struct {
	Tools   []string // that wrote it, by the names that they give themselves
	Issues  []Issue  // with paths relative to the project
	LeftOut []string // what was not taken, and why, in words
}

// Payload is the review that the findings make: something is to be fixed when
// one of them is High. It belongs to no change.
func (f Foreign) Payload() Payload {
	p := Payload{Verdict: Approved, Issues: f.Issues}
	if p.Counts().High > 0 {
		p.Verdict = NeedsFix
	}
	p.Summary = fmt.Sprintf("Imported from %s: %s.", strings.Join(f.Tools, ", "), p.Counts().Words())
	return p
}

// Opinion is what the tools found, as that of a reviewer.
func (f Foreign) Opinion() Opinion {
	return Opinion{By: strings.Join(f.Tools, ", "), Review: f.Payload(), Findings: Identify(f.Issues)}
}

// ReadForeign reads the document of another tool, whose file is path: SARIF 2.1.0
// or reviewdog's rdjson, distinguished by their content. Roots are the absolute
// paths by which the project is known; files are named relative to the project,
// and an issue in a file outside it is left out. What a tool suppressed, or says
// is in order, is left out, too.
//
// Errors, warnings and notes become issues of severity High, Medium and Low; a
// security score, where a rule has one, takes precedence.
//
// It returns SCHEMA_VALIDATION_FAILED for a document of another kind.
func ReadForeign(path string, doc *codec.Value, roots []string) (Foreign, error) {
	r := &foreignReader{roots: roots, left: map[string]int{}}
	switch {
	case doc.Get("runs").Kind() == codec.Array:
		if version := doc.Get("version").Str(); version != "2.1.0" {
			return Foreign{}, notForeign(path, "is SARIF of version %q; 2.1.0 is known", tidegate.Cut(version))
		}
		for _, run := range doc.Get("runs").Elems() {
			r.sarif(run)
		}
	case doc.Get("diagnostics").Kind() == codec.Array:
		r.rdjson(doc)
	default:
		return Foreign{}, notForeign(path, "is neither SARIF (an object with version and runs) nor rdjson (one with diagnostics)")
	}
	return r.result(), nil
}

func notForeign(path, format string, args ...any) error {
	return tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("file", path),
		"%s "+format, append([]any{filepath.Base(path)}, args...)...)
}

// foreignReader collects the issues of one document.
type foreignReader struct {
	roots   []string
	tools   []string
	issues  []Issue
	left    map[string]int // why → how many
	reasons []string       // in the order in which they were met
}

// The reasons for leaving an issue out.
const (
	leftSuppressed = "suppressed by the tool"
	leftPassed     = "that the tool found to be in order"
	leftOutside    = "in no file of the project"
	leftEmpty      = "without a message"
	leftMany       = "beyond the gravest 1000"
)

func (r *foreignReader) leave(reason string, n int) {
	if r.left[reason] == 0 {
		r.reasons = append(r.reasons, reason)
	}
	r.left[reason] += n
}

func (r *foreignReader) tool(name string) {
	name = tidegate.Cut(cmp.Or(cleanLine(name), "unnamed tool"))
	if !slices.Contains(r.tools, name) && len(r.tools) < maxForeign {
		r.tools = append(r.tools, name)
	}
}

// found is one finding as the formats have it in common.
type found struct {
	rule, message, help string
	severity            Severity
	category            string
	file                string // as the tool names it, "" for none
	line                int64  // 0 for none
}

func (r *foreignReader) add(f found) {
	message := strings.TrimSpace(cleanText(beginning(f.message)))
	if message == "" {
		r.leave(leftEmpty, 1)
		return
	}
	issue := Issue{
		Title: foreignTitle(f.rule, message), Severity: f.severity, Category: f.category,
		Description: cutBytes(message), Recommendation: cutBytes(strings.TrimSpace(cleanText(beginning(f.help)))),
	}
	if f.file != "" {
		var ok bool
		if issue.File, ok = inProject(f.file, r.roots); !ok {
			r.leave(leftOutside, 1)
			return
		}
		if f.line > 0 {
			issue.Line = &f.line
		}
	}
	r.issues = append(r.issues, issue)
}

func (r *foreignReader) result() Foreign {
	issues := Clean(Payload{Issues: r.issues}).Issues
	if more := len(issues) - maxForeign; more > 0 {
		issues = issues[:maxForeign]
		r.leave(leftMany, more)
	}
	if len(r.tools) == 0 {
		r.tool("")
	}
	f := Foreign{Tools: r.tools, Issues: issues}
	for _, reason := range r.reasons {
		f.LeftOut = append(f.LeftOut, fmt.Sprintf("%s %s", report.Counted(r.left[reason], "result"), reason))
	}
	return f
}

// foreignTitle is the rule and the first sentence of its message.
func foreignTitle(rule, message string) string {
	title, _, _ := strings.Cut(message, "\n")
	if first, _, more := strings.Cut(title, ". "); more {
		title = first
	}
	title = strings.TrimSuffix(cleanLine(title), ".")
	if rule = tidegate.Cut(cleanLine(rule)); rule != "" && !strings.HasPrefix(title, rule) {
		title = rule + ": " + title
	}
	return strings.TrimSpace(tidegate.Cut(title))
}

// beginning bounds the work on a text of which only the start is taken.
func beginning(s string) string { return s[:min(len(s), 2*maxForeignText)] }

// cutBytes keeps the beginning of a long text and says that it does.
func cutBytes(s string) string {
	if len(s) <= maxForeignText {
		return s
	}
	end := maxForeignText
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + " […]"
}

var drive = pattern(`^[A-Za-z]:/`)

// inProject is the path of a file relative to the project, which is known by
// roots. It fails for one that lies outside, however it is spelt. No file is
// looked at.
func inProject(name string, roots []string) (string, bool) {
	name = strings.ReplaceAll(name, `\`, "/")
	if rest, isURL := strings.CutPrefix(name, "file:"); isURL {
		u, err := url.Parse("file:" + rest)
		if err != nil || u.Host != "" && u.Host != "localhost" {
			return "", false
		}
		name = strings.ReplaceAll(u.Path, `\`, "/")
		if len(name) > 1 && drive().MatchString(name[1:]) {
			name = name[1:] // file:///C:/…
		}
	}
	if name != cleanLine(name) || strings.Contains(name, "://") {
		return "", false // a reader would see another path, or it is not a file
	}
	if strings.HasPrefix(name, "/") || drive().MatchString(name) {
		absolute := path.Clean(name)
		at := slices.IndexFunc(roots, func(root string) bool { return within(absolute, filepath.ToSlash(root)) })
		if at < 0 {
			return "", false
		}
		name = strings.TrimPrefix(absolute, strings.TrimSuffix(filepath.ToSlash(roots[at]), "/")+"/")
	}
	name = path.Clean(name)
	if name == "." || name == ".." || strings.HasPrefix(name, "../") {
		return "", false
	}
	return name, true
}

func within(name, root string) bool {
	return strings.HasPrefix(name, strings.TrimSuffix(root, "/")+"/")
}
