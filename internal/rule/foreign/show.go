package foreign

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/source"
)

// shownSentences is how many sentences a person is shown, the worst first.
const shownSentences = 20

// Report shows the worst sentences, each with what is wrong and the words of its page, the
// sources that are not what they should be, and the counts.
func (r Result) Report() report.Report {
	s := &r.Summary
	status := StatusOf(r.Outcome)
	out := report.Report{Name: "report_audit", Title: "Audit of " + r.Audited.Name, Status: status, Summary: r.Line(), OutcomeFirst: true}
	if r.Explain {
		r.explain(&out)
	}
	if worst := r.worst(); len(worst) > 0 {
		shown := worst[:min(len(worst), shownSentences)]
		out.Add(report.Heading("The worst sentences"))
		for _, i := range shown {
			out.Add(r.Sentences[i].blocks()...)
		}
		if more := len(worst) - len(shown); more > 0 {
			out.Add(report.Paragraph(fmt.Sprintf("%s more to look at: `--format html` shows all.", report.Counted(more, "sentence"))))
		}
	}
	sources := report.NewTable("Source", ">Cited", "Status", "Why")
	for i := range r.Sources {
		if src := &r.Sources[i]; src.Status != string(source.Valid) && (src.Status != Unchecked || src.Reason == notAllowed || s.Sources.Unchecked < s.Sources.Total) || len(src.Findings) > 0 {
			why := src.Reason
			for _, f := range src.Findings {
				why += "; " + f.Text
			}
			sources.Row(statusOf(src), strings.TrimSpace(strings.Join(src.IDs, ", ")+" "+src.URL), src.Cited, src.Status, why)
		}
	}
	if len(sources.Rows) > 0 {
		out.Add(report.Heading("Sources to look at"), sources)
	}
	if len(r.Findings) > 0 {
		var list []string
		for _, f := range r.Findings[:min(len(r.Findings), shownSentences)] {
			list = append(list, "line "+strconv.Itoa(f.Line)+": "+f.Text)
		}
		if more := len(r.Findings) - len(list); more > 0 {
			list = append(list, "and "+strconv.Itoa(more)+" more")
		}
		out.Add(report.Heading("The report as a whole"), report.Bullets(list))
	}
	if r.Compared != nil {
		r.Compared.show(&out)
	}
	out.Add(report.Heading("What was counted"), r.kinds())
	if read := s.Read; read != nil {
		out.Add(report.Paragraph(read.Tested()))
	}
	out.Add(report.Fields{{Name: "folder", Value: r.AuditPath}})
	r.cases(&out, status)
	return out
}

// StatusOf is how a report shows an outcome; what rules alone let through has no mark.
func StatusOf(o Outcome) report.Status {
	return map[Outcome]report.Status{Passed: report.Pass, Failed: report.Fail}[o]
}

// ruleFigures says how much rules find, by the claims of public sets that others labelled.
const ruleFigures = "of 100 sentences that a page does not support rules refuse 22 and doubt 17"

// Line is the outcome in one line. By rule alone it claims no more than that its words and
// numbers are there, and says how much that is worth.
func (r *Result) Line() string {
	s := &r.Summary
	line := ""
	if r.Outcome == NoErrorByRule {
		line = fmt.Sprintf("no error found by rule; %s read by nobody (%s). ", were(r.unread()), ruleFigures)
	}
	if s.Found+s.Weak+s.Missing == 0 {
		return line + fmt.Sprintf("%s, %d cited, %d carried, %d structural, %d uncited; no page was looked at", report.Counted(s.Sentences, "sentence"), s.Cited, s.Carried, s.Structural, s.Uncited)
	}
	line += fmt.Sprintf("%s: of %d the words and numbers are on the cited page, %d weak, %d missing there, %d unchecked, %d structural, %d uncited; %s, %d of them dead",
		report.Counted(s.Sentences, "sentence"), s.Found, s.Weak, s.Missing, s.Unchecked, s.Structural, s.Uncited, report.Counted(s.Sources.Total, "source"), s.Sources.Invalid)
	noted := 0
	for i := range r.Sentences {
		noted += codec.Flag(r.Sentences[i].unreadNote())
	}
	if noted > 0 {
		line += fmt.Sprintf("; noted of %d: a name or a title is not there", noted)
	}
	if read := s.Read; read != nil {
		line += fmt.Sprintf("; by a second reader %d supported, %d partly, %d unclear, %d unsupported, %d not read", read.Supported, read.Partly, read.Unclear, read.Unsupported, read.Unread)
	}
	return line
}

func were(n int) string {
	if n == 1 {
		return "1 sentence was"
	}
	return strconv.Itoa(n) + " sentences were"
}

// Tested says how the second reader was tested.
func (r *Readings) Tested() string {
	if r.Pairs.Asked == 0 {
		return "The second reader, " + r.By + ", was not tested."
	}
	return fmt.Sprintf("The second reader, %s, was tested with %s.", r.By, r.Pairs)
}

// kinds is the table of counts, each with what it is counted of.
func (r *Result) kinds() *report.Table {
	s := &r.Summary
	table := report.NewTable("Kind", ">Count", ">Of")
	borne := s.Cited + s.Carried
	type counted struct {
		kind  string
		n, of int
		bad   bool
	}
	rows := []counted{
		{"sentences cited", s.Cited, s.Sentences, false}, {"carried by the next citation", s.Carried, s.Sentences, false},
		{"structural", s.Structural, s.Sentences, false}, {"uncited", s.Uncited, s.Sentences, true},
		{"uncited with a number", s.UncitedNumbers, s.Uncited, true}, {"uncited with a quotation", s.UncitedQuotations, s.Uncited, true},
		{thereByRule, s.Found, borne, false}, {"weak", s.Weak, borne, true}, {"missing", s.Missing, borne, true}, {"unchecked", s.Unchecked, borne, true},
		{"sources valid", s.Sources.Valid, s.Sources.Total, false}, {"behind a paywall", s.Sources.Paywalled, s.Sources.Total, false},
		{"blocked", s.Sources.Blocked, s.Sources.Total, true}, {"another page", s.Sources.Mismatch, s.Sources.Total, true},
		{"dead", s.Sources.Invalid, s.Sources.Total, true}, {"not checked", s.Sources.Unchecked, s.Sources.Total, true},
	}
	if read := s.Read; read != nil {
		of := s.Found + s.Weak + s.Missing
		rows = append(rows, counted{"supported, by the second reader", read.Supported, of, false}, counted{"partly", read.Partly, of, true}, counted{"unclear", read.Unclear, of, true},
			counted{"unsupported", read.Unsupported, of, true}, counted{"not read", read.Unread, of, true})
	}
	for _, row := range rows {
		status := report.None
		if row.bad && row.n > 0 {
			status = report.Warn
		}
		table.Row(status, row.kind, row.n, row.of)
	}
	return table
}

// worst are the sentences that a reader should look at, the worst first: those that the page
// contradicts, those that are not there, doubtful ones, what cites nothing, what could not be
// looked at, those of which only something is noted.
func (r *Result) worst() []int {
	const fine = 9
	rank := func(s *Judged) int {
		switch {
		case len(s.Findings) > 0 && s.Findings[0].Rule == nearRule && s.Findings[0].Level == claim.Fault:
			return 0
		case s.Standing == claim.Missing || s.Verdict == evidence.Unsupported:
			return 1
		case s.Form == Uncited && len(s.Findings) > 0:
			return 3
		case s.Standing == claim.NoText && len(s.Findings) > 0:
			return 4
		case s.Standing == claim.Weak && s.Verdict != evidence.Supported, s.Verdict == evidence.Partly, s.Verdict == evidence.Unclear:
			return 2
		case s.unreadNote():
			return 5
		}
		return fine
	}
	var worst []int
	for i := range r.Sentences {
		if rank(&r.Sentences[i]) < fine {
			worst = append(worst, i)
		}
	}
	slices.SortStableFunc(worst, func(a, b int) int { return cmp.Compare(rank(&r.Sentences[a]), rank(&r.Sentences[b])) })
	return worst
}

// State is how a sentence stands, in a word.
func (s *Judged) State() string {
	if s.Standing != "" {
		return string(s.Standing)
	}
	return string(s.Form)
}

// thereByRule is what rules find of a sentence that stands: not that the page says it.
const thereByRule = "its words and numbers are there"

// Words say how a sentence stands, for a person.
func (s *Judged) Words() string {
	switch {
	case s.Verdict == evidence.Supported:
		return "stands on the cited page"
	case s.Verdict != "":
		return s.State() + ", by the second reader " + s.Verdict
	case s.Standing == claim.Found && s.Noted() != "":
		return "its numbers and most of its words are there"
	case s.Standing == claim.Found:
		return thereByRule
	}
	return s.State()
}

// nearRule names the findings that set what the page says beside what the sentence says.
const nearRule = "near"

// wrong is what is the matter with a sentence, in few words, the gravest first.
func (s *Judged) wrong() (list []string) {
	if s.Verdict == evidence.Unsupported {
		list = append(list, "a reader finds no support")
	}
	return append(list, s.against()...)
}

// against is what the rules hold against a sentence.
func (s *Judged) against() (list []string) {
	for _, f := range s.Told() {
		if f.Level != claim.Remark {
			list = append(list, s.said(f))
		}
	}
	return list
}

// Told are the findings that say something of their own: a number for which the page has
// another is not missing, too, neither by itself nor in the quotation that has it.
func (s *Judged) Told() (list []claim.Finding) {
	var numbers []string
	for _, f := range s.Findings {
		if f.Rule == "numbers" && slices.Contains(numbers, f.Text) || f.Rule == "quotations" && slices.ContainsFunc(numbers, func(n string) bool { return strings.Contains(f.Text, n) }) {
			continue
		}
		if f.Number != "" {
			numbers = append(numbers, f.Number)
		}
		list = append(list, f)
	}
	return list
}

// blocks show a sentence with what is wrong, the words of its page and where they stand.
func (s *Judged) blocks() []report.Block {
	wrong := s.wrong()
	head := fmt.Sprintf("line %d, %s", s.Line, s.Words())
	if len(wrong) > 0 {
		head += ": " + wrong[0]
		wrong = wrong[1:]
	}
	if s.Verdict != "" {
		wrong = append(wrong, s.heard())
	}
	if noted := s.Noted(); noted != "" {
		wrong = append(wrong, noted)
	}
	if len(s.Windows) > 0 {
		w := &s.Windows[0]
		wrong = append(wrong, "the page says: "+around(markdown.OneLine(w.Text), s.key()), placeOf(w, s.key()))
	}
	out := []report.Block{report.Paragraph(head), report.Paragraph(s.Text)}
	if len(wrong) > 0 {
		out = append(out, report.Bullets(wrong))
	}
	return out
}

// key is what of a passage a person has to see: the words that the page has in the place of
// those of the sentence, else those by which a reader found it supported.
func (s *Judged) key() string {
	for _, f := range s.Findings {
		if _, has, found := strings.Cut(f.Text, ": the page says "); found && f.Rule == nearRule {
			return has
		}
	}
	return s.Quoted
}

// around is a text cut to what a person reads at once, in whole words, around some words of it.
func around(text, words string) string {
	if len([]rune(text)) <= tidegate.MaxText {
		return text
	}
	at := max(0, strings.Index(strings.ToLower(text), strings.ToLower(words)))
	from := 0
	if at+len(words) > tidegate.MaxText/2 {
		from = max(0, at-tidegate.MaxText/2)
		if n := strings.IndexByte(text[from:], ' '); from > 0 && n >= 0 && from+n < at {
			from += n + 1
		}
	}
	cut := tidegate.Cut(strings.ToValidUTF8(text[from:], ""))
	if n := strings.LastIndexByte(cut, ' '); n > 0 && from+len(cut) < len(text) {
		cut = cut[:n] + " …"
	}
	if from > 0 {
		cut = "… " + cut
	}
	return cut
}

// placeWords is how many words of a passage lead a browser to its place.
const placeWords = 6

// placeOf is the address of a passage: browsers scroll to the words behind #:~:text=, which are
// those of one paragraph, of the one with the key where there is one.
func placeOf(w *Window, key string) string {
	line := ""
	for each := range strings.SplitSeq(w.Text, "\n") {
		if has := key != "" && strings.Contains(each, key); has || len(each) > len(line) {
			line = each
			if has {
				break
			}
		}
	}
	words := strings.Fields(line)
	if strings.Contains(w.URL, "#") || len(words) == 0 {
		return w.URL
	}
	text := url.PathEscape(strings.Join(words[:min(len(words), placeWords)], " "))
	return w.URL + "#:~:text=" + strings.NewReplacer("-", "%2D", ",", "%2C", "&", "%26").Replace(text)
}

// Against is what the rules hold against a sentence.
func (s *Judged) Against() string {
	return strings.Join(s.against(), "; ")
}

// Noted is what the rules miss of a sentence and do not hold against it: one name, a title in
// other words.
func (s *Judged) Noted() string {
	var list []string
	for _, f := range s.Findings {
		if f.Level == claim.Remark {
			list = append(list, "noted only: "+s.said(f))
		}
	}
	return strings.Join(list, "; ")
}

// unreadNote holds for a sentence that stands by rule, of which something is noted, and which
// nobody read.
func (s *Judged) unreadNote() bool {
	return s.Standing == claim.Found && s.Verdict == "" && s.Noted() != ""
}

// heard is what the second reader said of a sentence.
func (s *Judged) heard() string {
	return "the second reader: " + s.Verdict + strings.TrimRight(": "+cmp.Or(s.Because, s.Quoted), ": ")
}

// said is a finding of a sentence as a person reads it.
func (s *Judged) said(f claim.Finding) string {
	switch {
	case f.Rule == nearRule:
		return f.Text
	case s.Form == Uncited:
		return "it says " + f.Text + " and cites nothing"
	case f.Rule == "citation" && s.Standing != claim.NoText:
		return "nothing of it is on " + f.Text
	case f.Rule == "citation", f.Rule == "language":
		return f.Text
	case f.Rule == "overlap":
		return "few of its words are there"
	}
	return f.Text + " is not there"
}

// explain shows what was recognised.
func (r *Result) explain(out *report.Report) {
	out.Add(report.Fields{
		{Name: "read as", Value: r.Audited.Format}, {Name: "cites by", Value: strings.Join(r.Audited.Styles, ", ")}, {Name: "language", Value: cmp.Or(r.Audited.Language, "not known")},
		{Name: "entries", Value: strconv.Itoa(r.Summary.Entries)}, {Name: "marks", Value: strconv.Itoa(r.Summary.Citations)},
	})
	table := report.NewTable(">Line", "Form", "Sentence", "Cites")
	for i := range r.Sentences {
		s := &r.Sentences[i]
		table.Row(report.None, s.Line, string(s.Form), s.Text, strings.Join(s.URLs, " "))
	}
	out.Add(table)
	var lost []string
	for _, c := range r.Citations {
		if len(c.URLs) == 0 {
			lost = append(lost, fmt.Sprintf("line %d: %s", c.Line, c.Text))
		}
	}
	if len(lost) > 0 {
		out.Add(report.Heading("Marks that lead nowhere"), report.Bullets(lost))
	}
}

func statusOf(s *Source) report.Status {
	switch s.Status {
	case string(source.Valid), string(source.Paywalled):
		return report.Pass
	case string(source.Invalid):
		return report.Fail
	}
	return report.Warn
}

var levels = map[claim.Level]report.Level{claim.Fault: report.LevelError, claim.Warn: report.LevelWarning, claim.Remark: report.LevelNote}

// cases has everything for programs.
func (r *Result) cases(out *report.Report, status report.Status) {
	file := cmp.Or(r.File, r.Audited.Name)
	for i := range r.Sentences {
		s := &r.Sentences[i]
		c := report.Case{Name: "sentence " + strconv.Itoa(i+1), File: file, Status: report.PassIf(s.Standing != claim.Missing), Note: s.Text}
		if s.Standing != claim.NoText { // what is wrong then is its source
			for _, f := range s.Told() {
				c.Findings = append(c.Findings, report.Finding{Rule: strings.ToUpper(f.Rule), Level: levels[f.Level], Message: s.said(f) + "\n" + s.Text, Line: s.Line})
			}
		}
		if s.Verdict == evidence.Unsupported {
			c.Status = report.Fail
			c.Findings = append(c.Findings, report.Finding{Rule: "UNSUPPORTED", Level: report.LevelError, Message: s.heard() + "\n" + s.Text, Line: s.Line})
		}
		if s.Form == Uncited && len(s.Findings) == 0 {
			c.Findings = append(c.Findings, report.Finding{Rule: "UNCITED", Level: report.LevelNote, Message: "no citation covers: " + s.Text, Line: s.Line})
		}
		out.AddCase(c)
	}
	for i := range r.Sources {
		s := &r.Sources[i]
		c := report.Case{Name: "source " + strconv.Itoa(i+1), File: file, Status: report.PassIf(s.Status != string(source.Invalid)), Note: s.URL}
		if s.Status != string(source.Valid) && s.Status != Unchecked {
			level := report.LevelWarning
			if s.Status == string(source.Invalid) {
				level = report.LevelError
			}
			c.Findings = append(c.Findings, report.Finding{Rule: "SOURCE_" + strings.ToUpper(s.Status), Level: level, Message: s.URL + ": " + s.Reason, Line: s.Line})
		}
		out.AddCase(c)
	}
	whole := report.Case{Name: "report", File: file, Status: status}
	for _, f := range r.Findings {
		whole.Findings = append(whole.Findings, report.Finding{Rule: f.Code, Level: levels[f.Level], Message: f.Text, Line: f.Line})
	}
	out.AddCase(whole)
}
