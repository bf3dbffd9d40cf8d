package replay

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// What a sealed run holds beside the files of the run, which lie below inRun.
const (
	inRun          = "run/"
	sealedHTML     = "report.html"
	sealedMarkdown = "report.md"
)

// leftOut is the key of a seal's statement under which it names the files that it does not
// hold, because no line of the log records them.
const leftOut = "left_out"

// Seal puts a completed run into one signed file: its report, its evidence and its
// record, with a statement over their digests. A run that [Unseal] would not let pass is
// not sealed. With wacz the file is one that readers of web archives open, too.
//
// It returns INVALID_STATE for a run that is not completed, TAMPERED for one that would
// not verify, with why, the errors of [reporting.ReadReport] and [seal.Write], and
// READ_FAILED.
func Seal(ctx context.Context, r *run.Run, key *seal.Key, program string, wacz bool) ([]byte, error) {
	return sealRun(ctx, r, key, program, wacz, nil)
}

// SealAndState is [Seal], and makes in-toto statements about the files that it seals.
//
// It returns INVALID_STATE for a run that has a gate which does not count as passed or does
// not say what it judged, too, and the errors of [seal.Attest].
func SealAndState(ctx context.Context, r *run.Run, key *seal.Key, program string, wacz bool) (sealed, statements []byte, err error) {
	sealed, err = sealRun(ctx, r, key, program, wacz, func(laid *run.Run, files []seal.File) (err error) {
		statements, err = state(ctx, laid, files, key, program)
		return err
	})
	return sealed, statements, err
}

func sealRun(ctx context.Context, r *run.Run, key *seal.Key, program string, wacz bool, also stating) ([]byte, error) {
	s, err := subjectOfRun(ctx, r, program)
	if err != nil {
		return nil, err
	}
	if s.named, err = r.Named(); err != nil {
		return nil, err
	}
	return s.seal(ctx, r.Desk(), key, program, wacz, also)
}

// subject is what a seal is about, a run or an audit, as it lies in its folder.
type subject struct {
	noun, below string // run or audit, and where its files lie in the seal
	id          string
	question    string
	created     any
	folder      *artifact.Folder
	named       seal.Recorded // of its files, those of which its log speaks
	run         *run.Run      // nil for an audit
	shown       []seal.File   // what is drawn from it, its page first
	trust       string
	pages       func() (*archive.List, error)
	sources     []cited
}

// cited is a page that a report cites, under the addresses by which it may be archived.
type cited struct {
	title string
	urls  []string
}

// stating is done with a run as it will be sealed, once that would verify.
type stating func(laid *run.Run, files []seal.File) error

// subjectOfRun is a run with its report. It returns the errors of [reporting.ReadReport].
func subjectOfRun(ctx context.Context, r *run.Run, program string) (*subject, error) {
	reported, err := reporting.ReadReport(ctx, r, false, program)
	if err != nil {
		return nil, err
	}
	made := reported.Report
	s := &subject{noun: "run", below: inRun, id: r.ID(), question: r.Manifest().Query(), created: r.Manifest().Doc().Get("created_at"),
		folder: r.Folder(), run: r, trust: made.Trust, pages: func() (*archive.List, error) { return sourcing.Pages(ctx, r) },
		shown: []seal.File{{Name: sealedHTML, Data: made.HTML()}, {Name: sealedMarkdown, Data: made.Markdown()}}}
	for i := range reported.Records {
		record := &reported.Records[i]
		s.sources = append(s.sources, cited{record.Title, []string{record.URL, record.ReplacedBy, record.URLOriginal, record.NormalizedURL}})
	}
	return s, nil
}

// seal puts the subject into one signed file. It returns TAMPERED for files that would not
// verify once they are sealed, with all that is wrong with them.
func (s *subject) seal(ctx context.Context, desk run.Desk, key *seal.Key, program string, wacz bool, also stating) ([]byte, error) {
	files, left, err := seal.FilesOf(s.folder, s.below, s.named)
	if err != nil {
		return nil, err
	}
	files = append(files, s.shown...)
	check := Unsealed{RunID: s.id, Program: program, audit: s.run == nil}
	if err := check.examine(ctx, desk, files, program, also); err != nil {
		return nil, err
	}
	if !check.Pass {
		return nil, check.refusal(s)
	}
	at := desk.Stamp()
	about := codec.Of(tidegate.Pairs(s.noun+"_id", s.id, "question", s.question, "created_at", s.created, "program", program, "sealed_at", at, leftOut, left))
	var out bytes.Buffer
	if !wacz {
		err := seal.Write(ctx, &out, key, files, about)
		return out.Bytes(), err
	}
	more, err := s.web(ctx, s.shown[0].Data, at)
	if err != nil {
		return nil, err
	}
	return more.write(ctx, key, files, about)
}

// refusal is TAMPERED with all for which a subject would not verify.
func (u *Unsealed) refusal(s *subject) error {
	why := []string{}
	for _, f := range u.Findings {
		if f.Level == "error" {
			why = append(why, f.Message)
		}
	}
	for _, s := range u.Replay.Steps {
		if !s.Same {
			why = append(why, s.What+": "+s.Difference)
		}
	}
	if len(why) == 0 {
		why = []string{"nothing of the " + s.noun + " can be done again by rule"}
	}
	more := ""
	if n := len(why) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	return tidegate.Errorf(tidegate.Tampered, tidegate.Pairs(s.noun+"_id", s.id, "why", why), "a seal of this %s would not verify: %s%s", s.noun, why[0], more)
}

// Unsealed is the result of [Unseal].
type Unsealed struct {
	OK          codec.True        `json:"ok"`
	RunID       string            `json:"run_id"`
	Question    string            `json:"question"`
	Pass        bool              `json:"pass" jsonschema:"the signature counts, the record agrees with itself, and replay finds no difference"`
	Signer      string            `json:"signer" jsonschema:"who signed, as the list of signers names them; a list of patterns is named as such"`
	Fingerprint string            `json:"fingerprint" jsonschema:"of the key"`
	Program     string            `json:"program" jsonschema:"what sealed the run"`
	SealedAt    string            `json:"sealed_at" jsonschema:"by the signer's own word"`
	Files       int               `json:"files"`
	Trust       string            `json:"trust" jsonschema:"how the sentences of the report were checked"`
	LeftOut     []string          `json:"left_out" jsonschema:"files that lay there, and that no line of the log records"`
	Findings    []run.Finding     `json:"findings" jsonschema:"where the record does not agree with itself"`
	Decisions   []run.Decided     `json:"decisions" jsonschema:"what people decided in the life of the run, oldest first"`
	Confinement []run.Confinement `json:"confinement" jsonschema:"how the agents of the run were kept, by the word of whoever sealed it"`
	Replay      Result            `json:"replay" jsonschema:"what was done again by rule, the sealed reports among it"`

	audit bool // it is an audit, not a run
	wacz  bool // readers of web archives open the file, too
}

// UnsealInput is what [Unseal] needs beside the file.
type UnsealInput struct {
	Data    []byte
	Signers *seal.Signers
	At      time.Time
	Program string // the program that checks it
}

// Unseal checks a sealed run with nothing but the file and the list of signers:
// every byte is the one that was signed, the record of the run agrees with itself,
// and what was done by rule comes out the same when it is done again. The name of
// another version excuses no difference here: whoever forged the run can write it.
//
// It returns TAMPERED for a file that is not as it was sealed, and the errors of
// reading the run. What is wrong with the run itself is a result.
func Unseal(ctx context.Context, desk run.Desk, in UnsealInput) (Unsealed, error) {
	sealed, err := seal.Open(in.Data, in.Signers, in.At)
	if err != nil {
		if e := tidegate.AsError(err); e.Code == tidegate.Tampered {
			help := tidegate.Pairs("help", "do not trust it: ask whoever sealed it for the file, or for the key that is to be among the signers")
			err = tidegate.Errorf(e.Code, append(help, e.Details...), "%s", e.Message)
		}
		return Unsealed{}, err
	}
	about := sealed.Predicate
	out := Unsealed{RunID: about.Get("run_id").Str(), Question: about.Get("question").Str(), Program: about.Get("program").Str(), SealedAt: about.Get("sealed_at").Str(),
		Signer: sealed.Signer.String(), Fingerprint: sealed.Signer.Fingerprint, Files: len(sealed.Files), LeftOut: []string{}, wacz: sealed.WACZ}
	for _, name := range about.Get(leftOut).Elems() {
		out.LeftOut = append(out.LeftOut, name.Str())
	}
	if id := about.Get("audit_id").Str(); id != "" {
		out.RunID, out.audit = id, true
	}
	err = out.examine(ctx, desk, sealed.Files, in.Program, nil)
	return out, err
}

// examine holds the files of a sealed run or audit against themselves. Program is the one
// that does it; the reports name the one that sealed the run.
func (u *Unsealed) examine(ctx context.Context, desk run.Desk, files []seal.File, program string, also stating) error {
	u.Findings, u.Decisions, u.Confinement = []run.Finding{}, []run.Decided{}, []run.Confinement{}
	laid, err := artifact.NewReplica()
	if err != nil {
		return err
	}
	defer laid.Close()
	beside, err := u.lay(laid, files)
	if err != nil {
		return err
	}
	desk.Reach = laid.At(unsealedAt)
	look := u.lookAtRun
	if u.audit {
		look = u.lookAtAudit
	}
	return look(ctx, desk, program, func(s *subject) error {
		for _, again := range s.shown {
			u.Replay.Steps = append(u.Replay.Steps, same(again.Name, beside[again.Name], again.Data))
		}
		if u.wacz {
			again, err := s.web(ctx, beside[sealedHTML], u.SealedAt)
			if err != nil {
				return err
			}
			u.Replay.Steps = append(u.Replay.Steps, again.compare(beside)...)
		}
		u.Trust = s.trust
		u.Replay.Pass = u.Replay.Pass && u.Replay.differ() == 0
		if u.Pass = u.Pass && u.Replay.Pass; u.Pass && also != nil {
			return also(s.run, files)
		}
		return nil
	})
}

// lookAtRun verifies and replays the run that is laid out, and then compares what is drawn
// from it.
func (u *Unsealed) lookAtRun(ctx context.Context, desk run.Desk, program string, then func(*subject) error) error {
	manifest := filepath.Join(unsealedAt, run.ManifestFile)
	verified, err := run.Verify(ctx, desk, run.VerifyInput{ManifestPath: manifest, Follows: stage.Follows})
	if err != nil {
		return err
	}
	u.Findings, u.Decisions, u.Confinement = verified.Findings, verified.Decisions, verified.Confinements
	r, err := run.Open(ctx, desk, manifest)
	if err != nil {
		return err
	}
	defer r.Close()
	if tidegate.CodeOf(r.CheckLog()) == tidegate.Tampered {
		u.Replay = Result{RunID: r.ID(), Program: program, Steps: []Step{}, Left: []string{}}
		return nil // the findings say why
	}
	if u.Replay, err = Run(ctx, r, program); err != nil {
		return err
	}
	s, err := subjectOfRun(ctx, r, u.Program)
	if err != nil {
		return err
	}
	u.Pass = verified.Pass
	return then(s)
}

// lay lays out the files of a sealed run or audit, which lie below a folder of the seal,
// and returns the others by their names.
func (u *Unsealed) lay(laid *artifact.Replica, files []seal.File) (others map[string][]byte, err error) {
	others = map[string][]byte{}
	below := inRun
	if u.audit {
		below = inAudit
	}
	for _, file := range files {
		name, own := strings.CutPrefix(file.Name, below)
		if u.wacz && file.Name == waczArchive {
			name, own = run.ArchiveFile, true
		} else if u.wacz && mistaken(file.Name) {
			own = false
		}
		if !own {
			others[file.Name] = file.Data
		} else if err := laid.Write(name, file.Data); err != nil {
			return nil, err
		}
	}
	return others, nil
}

// unsealedAt is the path of a sealed run while it is checked; it is not on the disk.
var unsealedAt = artifact.NoPlace("sealed")

func same(what string, kept, again []byte) Step {
	difference := firstDifference(kept, again)
	return Step{what, difference == "", difference}
}

// Report shows who sealed what, and what does not hold.
func (u Unsealed) Report() report.Report {
	again := u.Replay
	again.Pass = u.Pass
	out := again.Report()
	if again.otherVersion() && again.differ() > 0 {
		out.Status = report.PassIf(u.Pass)
		out.Add(report.Paragraph(fmt.Sprintf("%s judges by other rules than this version, or the run is forged: only %s can tell.", again.Recorded, again.Recorded)))
	}
	out.Name, out.Title = "verify", "Sealed run "+u.RunID
	if u.audit {
		out.Title = "Sealed audit " + u.RunID
	}
	out.Summary = "signed by " + u.Signer + "; " + report.Counted(u.Files, "file") + " as sealed; " + out.Summary
	facts := report.Fields{{Name: "question", Value: u.Question}, {Name: "key", Value: u.Fingerprint}, {Name: "program", Value: u.Program},
		{Name: "sealed", Value: u.SealedAt + ", by the signer's own word"}}
	out.Blocks = append([]report.Block{facts, report.Paragraph(u.Trust)}, out.Blocks...)
	if len(u.LeftOut) > 0 {
		out.Add(report.Paragraph("Files that lay there and that no line of the log records were not sealed: " + strings.Join(u.LeftOut, ", ") + "."))
	}
	var findings []string
	for _, f := range u.Findings {
		findings = append(findings, f.Level+" "+f.Rule+": "+f.Message)
	}
	if len(findings) > 0 {
		out.Add(report.Heading("What the record says"), report.Bullets(findings))
	}
	out.Add(run.DecisionBullets(u.Decisions)...)
	for _, c := range u.Confinement {
		out.Add(report.Paragraph(c.String() + " That is the word of whoever sealed the run."))
	}
	return out
}

// SealReport says that a run was sealed, and where.
func SealReport(runID, path string, size int, key *seal.Key, wacz bool) report.Report {
	out := report.Report{Name: "run_seal", Title: "Sealed run " + runID, Summary: "the run is sealed in one file"}
	out.Add(report.Fields{{Name: "file", Value: path}, {Name: "bytes", Value: strconv.Itoa(size)}, {Name: "key", Value: key.Fingerprint()}})
	if wacz && !key.SignsWACZ() {
		out.Add(report.Paragraph("The seal is signed. Readers of web archives verify only signatures by an ECDSA key on the curve P-384 that is in a file, such as `ssh-keygen -t ecdsa -b 384` makes; they will say that this archive has none."))
	}
	return out
}

// GateType says what the predicate of a statement about one gate is.
const GateType = "https://tidegate.dev/gate/v1"

// state makes in-toto statements about a run, each in a DSSE envelope that is signed
// with key, one a line: for each gate one about the files that its judge read, and last one
// about all files of the run. Files have the names that they have in a seal of the run. It
// reads the files that were verified, and nothing of the folder.
func state(ctx context.Context, r *run.Run, files []seal.File, key *seal.Key, program string) ([]byte, error) {
	digests := map[string]string{}
	var all []seal.Subject
	for _, f := range files {
		if strings.HasPrefix(f.Name, inRun) {
			digests[f.Name] = strings.TrimPrefix(codec.DigestBytes(f.Data), "sha256:")
			all = append(all, seal.Subject{Name: f.Name, SHA256: digests[f.Name]})
		}
	}
	gates, err := r.Gates()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	attest := func(subjects []seal.Subject, predicateType string, predicate *codec.Value) error {
		line, err := seal.Attest(ctx, key, subjects, predicateType, predicate)
		out.Write(append(bytes.TrimRight(line, "\n"), '\n'))
		return err
	}
	for _, row := range run.GateTable {
		state, err := gates.State(r.Folder(), row.ID)
		if err != nil {
			return nil, err
		}
		if !state.Passed() || !state.Bound {
			return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("gate", row.ID, "status", state.Counts()), "gate %s counts as %s; nothing can be stated about it", row.ID, state.Counts())
		}
		var judged []seal.Subject
		for _, name := range state.Judged {
			if digest, there := digests[inRun+name]; there {
				judged = append(judged, seal.Subject{Name: inRun + name, SHA256: digest})
			}
		}
		passedBy := "judge"
		if state.Accepted != nil {
			passedBy = "person"
		}
		gate := gates.Gate(row.ID)
		if err := attest(judged, GateType, codec.Of(tidegate.Pairs("run_id", r.ID(), "gate", row.ID, "name", row.Name, "about", row.About, "status", state.Status,
			"passed_by", passedBy, "checked_at", gate.Get("checked_at"), "warnings", gate.Get("warnings"), "program", program))); err != nil {
			return nil, err
		}
	}
	err = attest(all, seal.PredicateType, codec.Of(tidegate.Pairs("run_id", r.ID(), "question", r.Manifest().Query(),
		"created_at", r.Manifest().Doc().Get("created_at"), "program", program, "sealed_at", r.Desk().Stamp())))
	return out.Bytes(), err
}

// Where readers of web archives look.
const (
	waczArchive = "archive/archive.warc.gz"
	waczReport  = "archive/report.warc"
	waczIndex   = "indexes/index.cdx"
	waczPages   = "pages/pages.jsonl"
)

// web is what a sealed file has more for readers of web archives: the report as a page,
// an index of answers, and a list of pages. All of it follows from the rest.
type web []seal.File

// web is for a subject that is shown by a page, and sealed at a time.
func (s *subject) web(ctx context.Context, report []byte, at string) (web, error) {
	when, ok := tidegate.ParseTime(at)
	if !ok {
		return nil, tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("sealed_at", at), "the seal does not say when it was made")
	}
	pages, err := s.pages()
	if err != nil {
		return nil, err
	}
	lines, err := pages.Index(ctx, "archive.warc.gz")
	if err != nil {
		return nil, err
	}
	lines = slices.DeleteFunc(lines, passesForReport)
	found := map[string]string{} // URL → when its last answer came
	for _, line := range lines {
		found[line.URL] = tidegate.Stamp(line.Time)
	}
	page, first := archive.Single(archive.Hop{URL: seal.ReportURL, Time: when, Status: 200,
		Header: []archive.Field{{Name: "Content-Type", Value: "text/html; charset=utf-8"}}, Body: report}, "report.warc")
	index, err := archive.CDXJ(append(lines, first))
	if err != nil {
		return nil, err
	}
	list := bytes.NewBufferString(`{"format":"json-pages-1.0","id":"pages","title":"The report, and what it cites"}` + "\n")
	add := func(id int, url, ts, title string) error {
		line, err := codec.MarshalLine(tidegate.Pairs("id", strconv.Itoa(id), "url", url, "ts", ts, "title", strings.ToValidUTF8(cmp.Or(title, url), "\uFFFD")))
		list.Write(append(line, '\n'))
		return err
	}
	err = add(0, seal.ReportURL, at, "Report: "+s.question)
	for i, source := range s.sources {
		n := slices.IndexFunc(source.urls, func(url string) bool { return found[url] != "" })
		if n >= 0 && err == nil {
			err = add(i+1, source.urls[n], found[source.urls[n]], source.title)
		}
	}
	return web{{Name: waczReport, Data: page}, {Name: waczIndex, Data: index}, {Name: waczPages, Data: list.Bytes()}}, err
}

// passesForReport reports whether an answer came from the host of the report, which does not
// exist: some networks answer for every name, and a reader would show that page as the
// report.
func passesForReport(line archive.Indexed) bool {
	report, _ := url.Parse(seal.ReportURL)
	from, err := url.Parse(line.URL)
	return err != nil || strings.EqualFold(strings.TrimRight(from.Hostname(), "."), report.Hostname())
}

// write seals files with what readers of web archives need. It returns INVALID_STATE for
// a file of the run that such a reader would take for an archive or an index.
func (w web) write(ctx context.Context, key *seal.Key, files []seal.File, about *codec.Value) ([]byte, error) {
	files = slices.Clone(files)
	for i := range files {
		if name := files[i].Name; name == inRun+run.ArchiveFile || name == inAudit+run.ArchiveFile {
			files[i].Name = waczArchive
		} else if mistaken(files[i].Name) {
			return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("file", files[i].Name), "readers of web archives would take a file for an archive or an index that is none: %q", files[i].Name)
		}
	}
	var out bytes.Buffer
	err := seal.WriteWACZ(ctx, &out, key, append(files, w...), about)
	return out.Bytes(), err
}

// mistaken reports whether a reader of web archives would look into a file that is not
// meant for it: some look for these names in every folder.
func mistaken(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{".cdx", ".cdxj", ".cdx.gz", ".idx", ".warc", ".warc.gz", ".wacz", ".har"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// compare holds what lies beside a run or audit in its seal against w. Nothing else may
// lie there.
func (w web) compare(kept map[string][]byte) []Step {
	var steps []Step
	made := map[string]bool{sealedHTML: true, sealedMarkdown: true}
	for _, file := range w {
		made[file.Name] = true
		steps = append(steps, same(file.Name, kept[file.Name], file.Data))
	}
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		if !made[name] {
			steps = append(steps, Step{What: name, Difference: "no such file belongs into the seal"})
		}
	}
	return steps
}
