package proof_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	jobs "github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/review"
)

// watch remembers the office as it was before a call, and finds what the call must
// not have done.
type watch struct {
	files map[string]seen
	oaths map[string]oath     // by the folder of a run
	gates map[string][]string // the gates that count, by the folder of a run
}

// seen is a file as it was seen: its identity, by which an untouched file is
// recognised, and its bytes.
type seen struct {
	info fs.FileInfo
	text string
}

func newWatch(w *walk) *watch {
	x := &watch{oaths: map[string]oath{}, gates: map[string][]string{}}
	x.files = x.scan(w)
	for _, f := range w.runs() {
		x.oaths[f.root], x.gates[f.root] = oathOf(w.T, victim{f, ""}), counting(w.T, f)
	}
	return x
}

// look reads the files of the office that differ from before.
func (x *watch) scan(w *walk) map[string]seen {
	now := map[string]seen{}
	err := filepath.WalkDir(filepath.Dir(w.dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if was, ok := x.files[path]; ok && os.SameFile(was.info, info) && was.info.Size() == info.Size() && was.info.ModTime().Equal(info.ModTime()) {
			now[path] = was
			return nil
		}
		data, err := os.ReadFile(path)
		now[path] = seen{info, string(data)}
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return now
}

// after checks what the call with args has brought about.
func (x *watch) after(w *walk, tool string, args any) {
	w.Helper()
	was := x.files
	x.files = x.scan(w)
	touched := map[string][]string{} // files by the folder of their run or change
	for _, path := range changedFiles(was, x.files) {
		folder := x.allow(w, path, was[path].text, codec.Of(args))
		touched[folder] = append(touched[folder], path)
	}
	for _, f := range w.runs() {
		if names := touched[f.root]; names != nil {
			x.checkRun(w, f, tool, names)
			x.checkJobs(w, f, names, was)
		}
	}
	for folder := range touched {
		if filepath.Base(filepath.Dir(folder)) == "changes" {
			x.checkChange(w, folder, was[filepath.Join(folder, "STATE.yaml")].text)
		}
	}
}

func changedFiles(was, is map[string]seen) []string {
	var changed []string
	for path := range was {
		if now, ok := is[path]; !ok || now.text != was[path].text {
			changed = append(changed, path)
		}
	}
	for path := range is {
		if _, ok := was[path]; !ok {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed
}

// The documents of a run and of a change, by their names.
var (
	documentOfRun = regexp.MustCompile(`^(\.tidegate\.lock|manifest\.json|gates\.json|perspectives\.json|wave-review\.json|pivot\.json|logs/audit\.(jsonl|head)|logs/timeout-checkpoint\.(md|json)` +
		`|wave-[12]/(\.accepted/)?[a-z0-9_]+\.md|wave-[12]/[a-z0-9_]+\.meta\.json|wave-1/wave1-plan\.json|wave-2/wave2-(plan|perspectives)\.json|operator/scope\.json|run-config/policy\.json` +
		`|citations/normalized-urls\.txt|citations/(url-map|blocked-urls)\.json|citations/blocked-urls\.queue\.md|citations/validated-citations\.md|citations/citations\.jsonl` +
		`|evidence/(archive\.warc\.gz|index\.json)|synthesis/(draft-synthesis\.md|claims\.json|final-synthesis\.(md|meta\.json))|review/(review-bundle|revision-directives)\.json|review/rounds/[0-9]+/(draft-synthesis\.md|final-synthesis\.md|synthesis\.md|claims\.json|review-bundle\.json|seed\.json)` +
		`|jobs/[A-Za-z0-9_.%-]+/(lease\.json|[0-9]{3}/(prompt\.md|answer-[1-4]\.(md|json)|late\.(md|json)|attempt\.json|reading\.json))|summaries/([a-z0-9_]+\.md|summary-pack\.json))$`)
	documentOfChange = regexp.MustCompile(`^(\.tidegate\.lock|\.gitignore|STATE\.yaml|REVIEW\.md|log\.(jsonl|head)|reviews/[0-9]{4}\.(md|json))$`)
)

// documentOfAudit are the documents of an audit; what is not a log or a lock is written once.
var documentOfAudit = regexp.MustCompile(`^(\.tidegate\.(lock|audit)|logs/audit\.(jsonl|head)|evidence/archive\.warc\.gz|(audit\.json|result\.json|report\.[a-z]+))$`)

// allow demands that a file changed by the call is a document of a run or a change,
// or one that the call may write. It returns the folder of the run or change.
func (x *watch) allow(w *walk, path, was string, args *codec.Value) string {
	w.Helper()
	name, err := filepath.Rel(w.dir, path)
	if err != nil {
		w.Fatal(err)
	}
	is, there := x.files[path]
	parts := strings.SplitN(filepath.ToSlash(name), "/", 4)
	switch {
	case (strings.HasSuffix(path, ".jsonl") && filepath.Base(path) != "citations.jsonl" || isArchive(path)) && !strings.HasPrefix(is.text, was):
		w.broken("%s was not only added to", name)
	case filepath.Base(path) == "runs-ledger.jsonl":
		return ""
	case len(parts) > 2 && parts[0] == "runs" && documentOfRun.MatchString(strings.Join(parts[2:], "/")):
		return filepath.Join(w.dir, parts[0], parts[1])
	case len(parts) > 3 && parts[0] == "agentd" && parts[1] == "changes" && documentOfChange.MatchString(parts[3]):
		if was != "" && strings.HasPrefix(parts[3], "reviews/") {
			w.broken("the kept review %s was changed", name)
		}
		return filepath.Join(w.dir, parts[0], parts[1], parts[2])
	case len(parts) > 2 && parts[0] == "audits":
		found := documentOfAudit.FindStringSubmatch(strings.Join(parts[2:], "/"))
		if found == nil || found[4] != "" && was != "" {
			w.broken("%s is no document of an audit, or was written twice", name)
		}
		return ""
	case there && filepath.Clean(args.Get("report_path").Str()) == path && holds(is.text, "results") && (was == "" || holds(was, "results")):
		return ""
	case there && filepath.Clean(args.Get("perspectives_path").Str()) == path && holds(is.text, "perspectives") && (was == "" || holds(was, "perspectives")):
		return ""
	case there && was == "" && x.isNewRun(path, args):
		return ""
	}
	w.broken("%s is not a document of a run or a change, and was changed from\n%s\nto\n%s", name, was, is.text)
	return ""
}

// isNewRun reports whether a file belongs to a run that the call made elsewhere,
// or to the ledger there.
func (x *watch) isNewRun(path string, args *codec.Value) bool {
	root := args.Get("root_override").Str()
	rel, err := filepath.Rel(root, path)
	if root == "" || err != nil {
		return false
	}
	if rel == ".tidegate.lock" { // of the ledger
		return true
	}
	dir, inside, _ := strings.Cut(filepath.ToSlash(rel), "/")
	_, made := x.files[filepath.Join(root, dir, "manifest.json")]
	return made && documentOfRun.MatchString(inside)
}

func holds(text, key string) bool {
	doc, err := codec.Parse([]byte(text))
	return err == nil && doc.Get(key).Kind() == codec.Array
}

// neededFor are the gates that must count before a move into a stage.
var neededFor = map[string]string{
	"pivot": "AB", "wave2": "AB", "citations": "AB", "summaries": "ABC", "synthesis": "ABCD", "review": "ABCD", "finalize": "ABCDEF",
}

// settles is the tool that judges gates and goes on in the same call, and that by
// rule leaves a run to a person or completes it.
const settles = "deep_research_run_step"

// checkRun demands that the run shows nothing that an agent must not bring about.
func (x *watch) checkRun(w *walk, f folder, tool string, names []string) {
	w.Helper()
	was, known := x.oaths[f.root]
	before, now := x.gates[f.root], oathOf(w.T, victim{f, ""})
	x.oaths[f.root], x.gates[f.root] = now, counting(w.T, f)
	if wrong := forged(w.T, f); len(wrong) > 0 {
		w.broken("gates %v of %s pass, and their judges say otherwise", wrong, f.root)
	}
	for _, gate := range x.gates[f.root] {
		w.reached["gate "+gate+" passed"]++
	}
	if !known {
		return
	}
	if was.fixed != now.fixed {
		w.broken("question, sensitivity, limits or places of %s have changed", f.root)
	}
	failed := tool == settles && was.status == "running" && now.status == "failed" && len(now.failures) == len(was.failures)+1
	if len(now.failures) < len(was.failures) || !slices.Equal(now.failures[:len(was.failures)], was.failures) || len(now.failures) > len(was.failures) && !failed {
		w.broken("the failures of %s have changed", f.root)
	}
	for name, text := range was.documents {
		if now.documents[name] != text {
			w.broken("%s of %s was frozen and has changed", name, f.root)
		}
	}
	completed := (tool == settles || tool == "deep_research_stage_advance") && now.stage == "finalize" && now.status == "completed"
	begun := (was.status == "created" || was.status == "running") && now.status == "running"
	if was.status != now.status && !begun && !failed && !completed {
		w.broken("%s was %s and is %s", f.root, was.status, now.status)
	}
	if was.status != now.status {
		w.reached["run "+now.status]++
	}
	if was.status == "cancelled" || was.status == "completed" {
		for _, name := range names {
			// The log keeps recording requests, and run-metrics.json counts what it records.
			if dir := filepath.Base(filepath.Dir(name)); dir != "logs" && !slices.Contains([]string{"manifest.json", ".tidegate.lock", "run-metrics.json"}, filepath.Base(name)) {
				w.broken("%s of a run that has ended was changed", name)
			}
		}
	}
	if was.stage == now.stage {
		return
	}
	w.reached["stage "+now.stage]++
	judges := tool == settles || tool == "deep_research_stage_advance" // the gate in its way, and moves in the same call
	if judges {
		before = x.gates[f.root]
	}
	for _, gate := range neededFor[now.stage] {
		if now.stage == "wave2" && gate == 'B' && judges {
			continue // from here on gate B covers the second wave, too
		}
		if !slices.Contains(before, string(gate)) {
			w.broken("%s is in stage %s although gate %c did not count: %v", f.root, now.stage, gate, before)
		}
	}
}

// checkJobs demands of the attempts that a call changed that no job has two holders
// at once, and that every accepted answer is one that its judge accepts.
func (x *watch) checkJobs(w *walk, f folder, names []string, was map[string]seen) {
	w.Helper()
	for _, name := range names {
		text := x.files[name].text
		if filepath.Base(name) != "attempt.json" || text == "" {
			continue
		}
		attempt := parsed(w.T, []byte(text))
		number, _ := attempt.Get("attempt").Int()
		for i := int64(1); i < number; i++ {
			before := filepath.Join(filepath.Dir(filepath.Dir(name)), fmt.Sprintf("%03d", i), "attempt.json")
			if parsed(w.T, []byte(x.files[before].text)).Get("outcome").Str() == "" {
				w.broken("attempts %d and %d at %s are under way at once", i, number, attempt.Get("job_id").Str())
			}
		}
		old, err := codec.Parse([]byte(was[name].text))
		if attempt.Get("outcome").Str() == "accepted" && (err != nil || old.Get("outcome").Str() != "accepted") {
			x.checkAccepted(w, f, attempt)
		}
	}
}

// checkAccepted compares what was accepted with what the judge of its kind says.
func (x *watch) checkAccepted(w *walk, f folder, attempt *codec.Value) {
	w.Helper()
	kind, job := attempt.Get("kind").Str(), attempt.Get("job_id").Str()
	w.reached["accepted "+kind]++
	answers := attempt.Get("submissions").Elems()
	if len(answers) == 0 || answers[len(answers)-1].Get("faults").Len() > 0 || !answers[len(answers)-1].Get("judged").Bool() {
		w.broken("attempt at %s is accepted without an answer that was judged good: %s", job, asJSON(attempt))
	}
	_, id, _ := strings.Cut(job, ".")
	switch kind {
	case "perspectives":
		if faults, _, err := jobs.CheckPerspectives(f.json(w.T, "perspectives.json"), 6); err != nil || len(faults) > 0 {
			w.broken("the perspectives of %s are accepted: %v %v", f.root, faults, err)
		}
	case "wave1", "wave2":
		contracts, dir := "perspectives.json", "wave-1"
		if kind == "wave2" {
			contracts, dir = "wave-2/wave2-perspectives.json", "wave-2"
		}
		args := tidegate.Pairs("perspectives_path", f.path(contracts), "perspective_id", id, "markdown_path", f.path(dir+"/"+id+".md"))
		if answer := f.call(w.T, "deep_research_wave_output_validate", args); codeOf(answer) != "" {
			w.broken("the answer to %s is accepted: %s", job, asJSON(answer))
		}
	case "summary":
		if text := string(x.files[f.path("summaries/"+id+".md")].text); !strings.Contains(text, "[@cid_") || strings.Contains(text, "://") {
			w.broken("the answer to %s is accepted:\n%s", job, text)
		}
	case "synthesis":
		if wrong := unwritten(w.T, f); wrong != "" {
			w.broken("the answer to %s is accepted, and gate E says %s", job, wrong)
		}
	case "review":
		bundle := f.json(w.T, "review/review-bundle.json")
		if bundle.Get("synthesis_digest").Str() != codec.DigestBytes(f.read(w.T, "synthesis/final-synthesis.md")) || bundle.Get("made_by").Get("job_id").Str() != job {
			w.broken("the review of %s is accepted: %s", f.root, asJSON(bundle))
		}
	}
}

// checkChange demands that a change becomes complete only through a kept review
// that approves it beyond doubt.
func (x *watch) checkChange(w *walk, folder, was string) {
	w.Helper()
	state := x.files[filepath.Join(folder, "STATE.yaml")].text
	if strings.Contains(state, "needs_person:") {
		w.reached["change needs a person"]++
	}
	const complete = "phase: complete"
	if strings.Contains(was, complete) || !strings.Contains(state, complete) {
		return
	}
	w.reached["change complete"]++
	kept := ""
	for path := range x.files {
		if filepath.Dir(path) == filepath.Join(folder, "reviews") && strings.HasSuffix(path, ".md") {
			kept = max(kept, path)
		}
	}
	reading := review.Read([]byte(x.files[kept].text))
	if reading.Verdict != review.Approved || reading.Payload.Counts().High > 0 || reading.Payload.TestResults.FailedTests() != 0 {
		w.broken("%s is complete by a review that does not approve it:\n%s", folder, x.files[kept].text)
	}
	if x.files[filepath.Join(folder, "REVIEW.md")].text != x.files[kept].text {
		w.broken("%s is complete by a REVIEW.md that was not kept", folder)
	}
}
