package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// maxTestOutput is how much is read of what tests wrote.
const maxTestOutput = 64 << 20

// AskInput says what a reviewer is asked about.
type AskInput struct {
	ChangeID   string `json:"change_id" jsonschema:"the change that the review is for; it need not have a folder yet"`
	Base       string `json:"base,omitzero" jsonschema:"the revision to compare with; where the branch left its upstream or the main branch when absent"`
	Committed  bool   `json:"committed,omitzero" jsonschema:"leave out what is not committed"`
	TestOutput string `json:"test_output,omitzero" path:"absolute" jsonschema:"absolute path of what the project's tests wrote: go test -json, JUnit XML, TAP or any text"`
	TestStatus int    `json:"test_status,omitzero" jsonschema:"the exit status of the test command"`
	Part       int    `json:"part,omitzero" jsonschema:"which part of a large change; the first when absent" min:"1"`
}

// Asked is the prompt for a reviewer.
type Asked struct {
	OK       codec.True    `json:"ok"`
	ChangeID string        `json:"change_id"`
	Base     string        `json:"base" jsonschema:"the commit that the files are compared with"`
	Part     int           `json:"part"`
	Parts    int           `json:"parts" jsonschema:"how many prompts the change needs"`
	Files    []string      `json:"files" jsonschema:"that this part shows"`
	LeftOut  []git.LeftOut `json:"left_out" jsonschema:"files that changed and are not shown"`
	Prompt   string        `json:"prompt_md" jsonschema:"the prompt, ready to send"`
}

// AskForReview makes the prompt for the reviewer of a change: the diff with line
// numbers, what the tests said, the issues of the review before, and the rules
// of the answer. It writes nothing.
//
// It returns INVALID_ARGS for a bad id and for a part that does not exist,
// INVALID_STATE when nothing has changed, and the errors of [ReadDiff].
func AskForReview(ctx context.Context, desk run.Desk, project string, in AskInput) (Asked, error) {
	a, err := openAsked(ctx, desk, project, in)
	if err != nil {
		return Asked{}, err
	}
	defer a.Close()
	parts := review.Split(a.Files, git.MaxDiff, false)
	part := max(in.Part, 1)
	switch {
	case len(parts) == 0:
		return Asked{}, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("base", a.Base, "help", "name as base what a committed change began from: --base HEAD~1 shows the last commit"),
			"there is nothing to review: no file that can be shown differs from %s", a.Base)
	case part > len(parts):
		return Asked{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("part", part), "part must be one of %d, got %d", len(parts), part)
	}
	earlier, err := EarlierReview(desk, project, in.ChangeID)
	if err != nil {
		return Asked{}, err
	}
	prompts := a.Prompts(in.ChangeID, a.tests, earlier.Issues, false)
	text, err := prompts[part-1].Text()
	return Asked{
		ChangeID: in.ChangeID, Base: a.Base, Part: part, Parts: len(parts), Files: parts[part-1].Files, LeftOut: a.LeftOut, Prompt: text,
	}, err
}

// asked is what a reviewer is asked about.
type asked struct {
	*git.Diff
	tests *review.TestRun
}

func openAsked(ctx context.Context, desk run.Desk, project string, in AskInput) (asked, error) {
	if err := checkID(in.ChangeID); err != nil {
		return asked{}, err
	}
	var a asked
	if in.TestOutput != "" {
		output, err := readTestOutput(ctx, desk, in.TestOutput)
		if err != nil {
			return asked{}, err
		}
		tests := review.ReadTestRun(output, in.TestStatus)
		a.tests = &tests
	}
	var err error
	a.Diff, err = git.ReadDiff(ctx, desk, project, git.DiffInput{Base: in.Base, Committed: in.Committed})
	return a, err
}

// readTestOutput reads what tests wrote; if that is too much, only the beginning.
func readTestOutput(ctx context.Context, desk run.Desk, path string) ([]byte, error) {
	file, err := desk.Reach.OpenFile("test_output", path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	output, err := io.ReadAll(io.LimitReader(artifact.Until(ctx, file), maxTestOutput))
	if err != nil && ctx.Err() == nil {
		err = tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("test_output", path), "%s cannot be read: %w", path, err)
	}
	return output, err
}

// Earlier is the review before.
type Earlier struct {
	Issues []review.Finding
	Files  []string // that it was about, nil where that is not known
	Digest string   // of its markdown, where a person handed it in

	testCommand string // by which it was tested, "" where no test failed or none ran
}

// TestedOtherwise reports whether tests failed that were run by another command.
func (e Earlier) TestedOtherwise(command string) bool {
	return command != "" && e.testCommand != "" && command != e.testCommand
}

// EarlierReview is the review that the change's REVIEW.md holds, with the ids that
// its issues have had from the beginning, where it was kept with them. It is empty
// when the file cannot be read or does not exist.
func EarlierReview(desk run.Desk, project, id string) (Earlier, error) {
	folder, err := open(desk, project, id)
	if err != nil {
		return Earlier{}, artifact.UnlessMissing(err)
	}
	defer folder.Close()
	data, err := folder.ReadIfThere(reviewFile)
	if data == nil || err != nil {
		return Earlier{}, err
	}
	numbers, err := history(folder)
	if err != nil {
		return Earlier{}, err
	}
	if last := lastOf(numbers); last > 0 {
		kept, err := readSidecar(folder, last)
		if err == nil && kept.ReviewDigest == codec.DigestBytes(data) && kept.Findings != nil {
			e := Earlier{Issues: kept.Findings, Files: kept.Files}
			if kept.FailedNew != nil && *kept.FailedNew > 0 {
				e.testCommand = kept.TestCommand
			}
			return e, nil
		}
	}
	return Earlier{Issues: review.Identify(review.Read(data).Payload.Issues)}, nil
}

// Export is the prompt alone.
func (a Asked) Export(format string) (document []byte, ok bool, err error) {
	if format != "markdown" {
		return nil, false, nil
	}
	return []byte(a.Prompt), true, nil
}

// Report shows what the prompt is about, and the prompt.
func (a Asked) Report() report.Report {
	r := report.Report{Name: "review_prompt", Title: "Prompt for the reviewer of " + a.ChangeID, Summary: fmt.Sprintf("part %d of %d", a.Part, a.Parts)}
	r.Add(report.Fields{{Name: "Base", Value: a.Base}, {Name: "Files", Value: strings.Join(a.Files, ", ")}})
	var left []string
	for _, f := range a.LeftOut {
		left = append(left, f.File+": "+f.Why)
	}
	if len(left) > 0 {
		r.Add(report.Heading("Left out"), report.Bullets(left))
	}
	r.Add(report.Heading("Prompt"), report.Preformatted(a.Prompt))
	return r
}

// CheckInput names a review and what it is about.
type CheckInput struct {
	PayloadPath string `json:"payload_path" path:"absolute" jsonschema:"absolute path of the JSON document that the reviewer answered with"`
	Base        string `json:"base,omitzero" jsonschema:"the revision to compare with; where the branch left its upstream or the main branch when absent"`
	Committed   bool   `json:"committed,omitzero" jsonschema:"leave out what is not committed"`
	TestOutput  string `json:"test_output,omitzero" path:"absolute" jsonschema:"absolute path of what the project's tests wrote: go test -json, JUnit XML, TAP or any text"`
	TestStatus  int    `json:"test_status,omitzero" jsonschema:"the exit status of the test command"`
}

// Checked is what a review is worth.
type Checked struct {
	OK       codec.True     `json:"ok"`
	Pass     bool           `json:"pass"`
	ChangeID string         `json:"change_id"`
	Verdict  string         `json:"verdict"`
	Base     string         `json:"base" jsonschema:"the commit that the files are compared with"`
	Issues   review.Counts  `json:"issues"`
	Faults   []CheckedFault `json:"faults" jsonschema:"what keeps the review from being accepted"`
	Warnings []string       `json:"warnings"`
}

// CheckedFault is one thing that the reviewer must change.
type CheckedFault struct {
	Path    string `json:"path" jsonschema:"where in the document"`
	Message string `json:"message"`
	Change  string `json:"change" jsonschema:"what to change"`
}

// CheckReview judges a reviewer's answer by the files and the tests that it is
// about, as [review.Judge] does. It writes nothing.
//
// It returns INVALID_ARGS for a document that is not a review, INVALID_JSON,
// NOT_FOUND and READ_FAILED, and the errors of [ReadDiff].
func CheckReview(ctx context.Context, desk run.Desk, project string, in CheckInput) (Checked, error) {
	doc, err := desk.Reach.ReadJSON("payload_path", in.PayloadPath)
	if err != nil {
		return Checked{}, err
	}
	var earlier Earlier
	if id := doc.Get("change_id").Str(); review.ValidChangeID(id) {
		if earlier, err = EarlierReview(desk, project, id); err != nil {
			return Checked{}, err
		}
	}
	p, faults, err := review.ParseAnswer(doc, earlier.Issues)
	if err != nil {
		return Checked{}, err
	}
	a, err := openAsked(ctx, desk, project, AskInput{ChangeID: p.ChangeID, Base: in.Base, Committed: in.Committed, TestOutput: in.TestOutput, TestStatus: in.TestStatus})
	if err != nil {
		return Checked{}, err
	}
	defer a.Close()
	more, warnings, err := review.Judge(ctx, &p, review.Reviewed{Text: a.Text, Shown: review.Touch(a.Files).Has,
		Tests: a.tests, Parses: Parses})
	if err != nil {
		return Checked{}, err
	}
	faults = append(faults, more...)
	c := Checked{Pass: len(faults) == 0, ChangeID: p.ChangeID, Verdict: string(p.Verdict), Base: a.Base, Issues: p.Counts(), Warnings: p.Warnings}
	for _, f := range faults {
		c.Faults = append(c.Faults, CheckedFault{f.Path, f.Message, f.Change})
	}
	for _, w := range warnings {
		c.Warnings = append(c.Warnings, w.Path+": "+w.Message)
	}
	return c, nil
}

// Passed reports whether the review can be accepted, whatever its verdict.
func (c Checked) Passed() bool { return c.Pass }

// Report lists what the reviewer must change.
func (c Checked) Report() report.Report {
	status := report.PassIf(c.Pass)
	r := report.Report{Name: "review_check", Title: "Check of the review of " + c.ChangeID, Status: status, Summary: "the review can be accepted"}
	if !c.Pass {
		r.Summary = report.Counted(len(c.Faults), "fault")
	}
	r.Add(report.Fields{{Name: "Verdict", Value: c.Verdict}, {Name: "Issues", Value: counts(c.Issues)}, {Name: "Base", Value: c.Base}})
	var findings []report.Finding
	for _, f := range c.Faults {
		findings = append(findings, report.Finding{Rule: "review-answer", Title: f.Path, Message: f.Message, Help: f.Change})
	}
	if len(findings) > 0 {
		r.Add(report.Heading("Faults"), report.Findings{})
	}
	r.AddCase(report.Case{Name: c.ChangeID, Status: status, Findings: findings})
	addWarnings(&r, c.Warnings)
	return r
}

// Parses reports whether a file is well-formed in the language that its name says: Go,
// JSON, YAML, TOML, and Python by its indentation. Of other files nothing is known.
func Parses(file string, text []byte) error {
	switch strings.ToLower(path.Ext(file)) {
	case ".go":
		_, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		return err
	case ".json":
		_, err := codec.Parse(text)
		return err
	case ".yaml", ".yml":
		for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var node yaml.Node
			if err := decoder.Decode(&node); err != nil {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
		}
	case ".toml":
		return config.ParsesTOML(text)
	case ".py":
		return indents(string(text))
	}
	return nil
}

// indents holds the indentation of a Python program against its blocks: a line that opens
// one is followed by a deeper one, and a block ends where an earlier one stood.
func indents(text string) error {
	depths := []int{0}
	opens, continued, brackets, quote := false, false, 0, ""
	for n, line := range strings.Split(text, "\n") {
		code := strings.TrimRight(line, " \t\r")
		inside := brackets > 0 || quote != "" || continued
		continued = strings.HasSuffix(code, `\`)
		code, brackets, quote = strippedPython(code, brackets, quote)
		word := strings.TrimLeft(code, " \t")
		if word == "" && !inside || inside {
			if inside && word != "" && brackets == 0 && quote == "" {
				opens = strings.HasSuffix(code, ":")
			}
			continue
		}
		depth := len(strings.ReplaceAll(code[:len(code)-len(word)], "\t", "        "))
		last := depths[len(depths)-1]
		switch {
		case opens && depth <= last:
			return fmt.Errorf("line %d: the line before opens a block", n+1)
		case !opens && depth > last:
			return fmt.Errorf("line %d: it is indented more than the line before", n+1)
		case depth > last:
			depths = append(depths, depth)
		}
		for depths[len(depths)-1] > depth {
			depths = depths[:len(depths)-1]
		}
		if depths[len(depths)-1] != depth {
			return fmt.Errorf("line %d: its indentation is that of no block", n+1)
		}
		if brackets == 0 && quote == "" {
			opens = strings.HasSuffix(code, ":")
		} else {
			opens = false
		}
	}
	if opens {
		return errors.New("the last line opens a block")
	}
	return nil
}

// strippedPython is a line without its texts and remarks, and what stays open at its end.
func strippedPython(line string, brackets int, quote string) (code string, open int, still string) {
	var b strings.Builder
	for i := 0; i < len(line); {
		rest := line[i:]
		switch {
		case quote != "" && rest[0] == '\\':
			i++
		case quote != "" && strings.HasPrefix(rest, quote):
			i += len(quote) - 1
			quote = ""
			b.WriteByte('"')
		case quote != "":
		case strings.HasPrefix(rest, `"""`), strings.HasPrefix(rest, "'''"):
			quote = rest[:3]
			b.WriteByte('"')
			i += 2
		case rest[0] == '"', rest[0] == '\'':
			quote = rest[:1]
			b.WriteByte('"')
		case rest[0] == '#':
			return strings.TrimRight(b.String(), " \t"), brackets, quote
		default:
			brackets = max(0, brackets+strings.Count("([{", rest[:1])-strings.Count(")]}", rest[:1]))
			b.WriteByte(rest[0])
		}
		i++
	}
	if len(quote) == 1 { // it does not go on in the next line
		quote = ""
	}
	return strings.TrimRight(b.String(), " \t"), brackets, quote
}
