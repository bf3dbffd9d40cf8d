package proof_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
)

// marker is in every file outside the roots. An answer that reveals anything of such
// a file shows it.
const marker = "s3cretm4rker"

// world is a folder that callers may touch, and beside it one that they may not.
type world struct {
	outer  string
	work   string // the root: a run, a change, and links that lead out
	secret string // outside: the same files with the marker in them
	before map[string]string
}

// newWorld makes a world with a run in its first wave, whose gates have passed,
// a bare manifest with a pivot and a pack of summaries, and a change with
// reviews, so that every tool has something to do.
func newWorld(t *testing.T) *world {
	t.Helper()
	work := scratch.Short(t)
	w := &world{outer: filepath.Dir(work), work: work, secret: filepath.Join(filepath.Dir(work), "other")}
	layOut(t, work)
	prepareHere(t, work, initRun, perspectives, planWave, advance, ingest, reviewWave, gateB, fetchSources, judgeSources,
		command{"deep_research_pivot_decide", baseArguments["deep_research_pivot_decide"]},
		command{"deep_research_summary_pack_build", baseArguments["deep_research_summary_pack_build"]},
		startChange, firstReview)
	w.plantSecrets(t)
	w.plantLinks(t)
	w.before = w.outside(t)
	return w
}

func (w *world) fill(args string) string { return strings.ReplaceAll(args, "$WORK", w.work) }

// plantSecrets copies the root beside itself, with the marker in everything that an
// answer could show of it: ids, titles, texts and lines that do not parse.
func (w *world) plantSecrets(t *testing.T) {
	t.Helper()
	must.Do(t, filepath.WalkDir(w.work, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := w.secret + strings.TrimPrefix(path, w.work)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(string(data), w.work, w.secret)
		for _, word := range []string{"Why do tides turn?", "The moon", "How much the sun adds", "One.", "implementing", "cid_a", `"Findings"`, `"tides"`} {
			text = strings.ReplaceAll(text, word, strings.Replace(word, strings.Trim(word, `"`), marker+"-"+strings.Trim(word, `"`), 1))
		}
		text = strings.ReplaceAll(text, "- https://example.invalid/moon", "- "+marker)
		return os.WriteFile(target, []byte(text), 0o600)
	}))
	for _, name := range []string{"garbage.json", "moon.md"} {
		must.Do(t, os.WriteFile(filepath.Join(w.secret, name), []byte("{"+marker+"}\n"), 0o600))
	}
}

// plantLinks puts links that lead out of the root, or nowhere, and a FIFO into it.
func (w *world) plantLinks(t *testing.T) {
	t.Helper()
	for name, to := range map[string]string{
		"out":          "../other",
		"out-absolute": w.secret,
		"out-chain":    "out",
		"out-proc":     "/proc/self/cwd/../other",
		"device":       "/dev/zero",
		"loop":         "loop",
	} {
		must.Do(t, os.Symlink(to, filepath.Join(w.work, name)))
	}
	must.Do(t, syscall.Mkfifo(filepath.Join(w.work, "fifo"), 0o600))
}

// outside is everything that lies outside the root, with names, modes, times of
// change and contents.
func (w *world) outside(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	must.Do(t, filepath.WalkDir(w.outer, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == w.work {
			return fs.SkipDir
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = string(data)
		}
		// The outer folder itself changes when the root is recreated.
		if path != w.outer {
			found[path] = fmt.Sprintf("%v %v\n%s", info.Mode(), info.ModTime(), content)
		}
		return nil
	}))
	return found
}

// check fails when something outside has changed, or an answer reveals it.
func (w *world) check(t *testing.T, what string, answer []byte) {
	t.Helper()
	w.checkShown(t, what, answer)
	now := w.outside(t)
	for path, was := range w.before {
		if is, ok := now[path]; !ok {
			t.Errorf("%s removed %s", what, path)
		} else if is != was {
			t.Errorf("%s changed %s from\n%s\nto\n%s", what, path, was, is)
		}
	}
	for path := range now {
		if _, ok := w.before[path]; !ok {
			t.Errorf("%s made %s", what, path)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

// checkEach is check after one of many calls. The short form compares what lies
// outside only after the last.
func (w *world) checkEach(t *testing.T, what string, answer []byte) {
	t.Helper()
	w.checkShown(t, what, answer)
	if full.Asked() {
		w.check(t, what, nil)
	}
}

func (w *world) checkShown(t *testing.T, what string, answer []byte) {
	t.Helper()
	if strings.Contains(string(answer), marker) {
		t.Fatalf("%s tells what lies outside:\n%s", what, answer)
	}
}

// baseArguments are arguments with which each tool has something to do in a
// world.
var baseArguments = map[string]string{
	"deep_research_run_init":             `{"query":"Why do tides turn?","run_id":"tides","root_override":"$WORK/runs"}`,
	"deep_research_run_list":             `{}`,
	"deep_research_run_status":           `{` + manifestArg + `}`,
	"deep_research_run_stages":           `{}`,
	"deep_research_perspectives_write":   `{` + perspectivesArg + `,"value":` + samplePerspectives + `,"reason":"r"}`,
	"deep_research_stage_advance":        advance.args,
	"deep_research_run_log":              `{` + manifestArg + `}`,
	"deep_research_run_verify":           `{` + manifestArg + `}`,
	"deep_research_run_recover":          `{` + manifestArg + `}`,
	"deep_research_run_pause":            `{` + manifestArg + `}`,
	"deep_research_run_cancel":           `{` + manifestArg + `}`,
	deleteRun:                            `{` + manifestArg + `}`,
	"deep_research_run_resume":           `{` + manifestArg + `}`,
	"deep_research_wave_output_validate": `{` + perspectivesArg + `,"perspective_id":"moon","markdown_path":"$WORK/runs/tides/wave-1/moon.md"}`,
	"deep_research_wave_review":          `{` + perspectivesArg + `,"outputs_dir":"$WORK/runs/tides/wave-1","report_path":"$WORK/runs/tides/wave-review.json","perspective_ids":["moon"]}`,
	"deep_research_wave_retry_prompt":    `{` + perspectivesArg + `,"outputs_dir":"$WORK/runs/tides/wave-1","perspective_ids":["moon"]}`,
	"deep_research_perspectives_check":   `{` + perspectivesArg + `}`,
	"deep_research_wave1_plan":           `{` + manifestArg + `,` + perspectivesArg + `,"reason":"r"}`,
	"deep_research_wave_output_ingest":   ingest.args,
	"deep_research_gate_a_record":        `{` + manifestArg + `,"reason":"r"}`,
	"deep_research_gate_b_record":        `{` + manifestArg + `,"accept":true,"reason":"r"}`,
	"deep_research_gate_c_record":        `{` + manifestArg + `,"reason":"r"}`,
	"deep_research_gate_d_record":        `{` + manifestArg + `,"reason":"r"}`,
	"deep_research_gate_e_record":        `{` + manifestArg + `,"reason":"r"}`,
	"deep_research_gate_f_record":        `{` + manifestArg + `,"reason":"r"}`,
	"deep_research_run_limit":            `{` + manifestArg + `,"name":"max_review_iterations","value":6,"reason":"r"}`,
	"deep_research_run_accept":           `{` + manifestArg + `,"reason":"r"}`,
	"deep_research_wave_restore":         `{` + manifestArg + `,"perspective_id":"moon","reason":"r"}`,
	"deep_research_pivot_decide": `{"manifest_path":"$WORK/bare/manifest.json","reason":"r","wave1_outputs":[{"perspective_id":"moon","output_md_path":"$WORK/bare/wave-1/moon.md"}],` +
		`"wave1_validation_reports":[{"ok":true,"perspective_id":"moon","markdown_path":"$WORK/bare/wave-1/moon.md","words":20,"sources":1,"missing_sections":[]}]}`,
	"deep_research_citations_fetch":    fetchSources.args,
	"deep_research_citations_validate": `{` + manifestArg + `,"citations_path":"$WORK/runs/tides/citations/citations.jsonl","reason":"r"}`,
	"deep_research_citations_list":     `{` + manifestArg + `}`,
	"deep_research_citations_rules":    `{}`,
	"deep_research_citations_attach":   `{` + manifestArg + `,"cid":"` + sampleCID + `","file_path":"$WORK/moon.html"}`,
	"deep_research_citations_replace":  `{` + manifestArg + `,"cid":"` + sampleCID + `","url":"https://example.invalid/moon"}`,
	"deep_research_gate_list":          `{` + manifestArg + `}`,
	"deep_research_run_step":           `{` + manifestArg + `}`,
	"deep_research_job_list":           `{` + manifestArg + `}`,
	"deep_research_job_lease":          `{` + manifestArg + `,"holder":"h","job_id":"wave1.moon"}`,
	"deep_research_job_submit":         `{` + manifestArg + `,"token":"` + tokenOf("wave1.moon", 1) + `","answer_path":"$WORK/moon.md"}`,
	"deep_research_job_extend":         `{` + manifestArg + `,"token":"` + tokenOf("wave1.moon", 1) + `","lease_seconds":60}`,
	"deep_research_job_release":        `{` + manifestArg + `,"token":"` + tokenOf("wave1.moon", 1) + `","reason":"r"}`,
	"deep_research_job_show":           `{` + manifestArg + `,"job_id":"wave1.moon"}`,
	"deep_research_job_prompt":         `{` + manifestArg + `,"job_id":"wave1.moon"}`,
	"deep_research_job_answer":         `{` + manifestArg + `,"job_id":"wave1.moon","answer":"` + sampleOutput + `"}`,
	"deep_research_job_take_back":      `{` + manifestArg + `,"job_id":"wave1.moon","reason":"r"}`,
	"deep_research_job_retry":          `{` + manifestArg + `,"job_id":"wave1.moon","note":"n"}`,
	"deep_research_claim_list":         `{` + manifestArg + `}`,
	"deep_research_claim_show":         `{` + manifestArg + `,"id":"c1"}`,
	"deep_research_claim_accept":       `{` + manifestArg + `,"id":"c1","reason":"r"}`,
	"deep_research_run_replay":         `{` + manifestArg + `}`,
	"deep_research_grounding_check":    `{` + manifestArg + `,"document_path":"$WORK/runs/tides/wave-1/moon.md"}`,
	"deep_research_pivot_rules":        `{}`,
	"deep_research_summary_pack_build": `{"manifest_path":"$WORK/bare/manifest.json","perspectives_path":"$WORK/bare/perspectives.json","mode":"fixture","fixture_summaries_dir":"$WORK/summaries-in","citations_path":"$WORK/citations-in.jsonl",` +
		`"summary_pack_path":"$WORK/bare/summaries/summary-pack.json","summaries_dir":"$WORK/bare/summaries","reason":"r"}`,
	"deep_research_search":   `{` + manifestArg + `,"query":"tides","token":"` + tokenOf("wave1.moon", 1) + `"}`,
	"report_audit":           `{"report_path":"$WORK/moon.md","no_fetch":true}`,
	"ask":                    `{"of":["tides"],"question":"Why does the moon pull?"}`,
	"audit_list":             `{}`,
	"run_compare":            `{"a":"tides","b":"hand"}`,
	"find":                   `{"words":"moon"}`,
	"audit_show":             `{"audit_path":"$WORK/runs/audits/none/audit.json"}`,
	"audit_verify":           `{"audit_path":"$WORK/runs/audits/none/audit.json"}`,
	"create_review":          firstReview.args,
	"format_review_markdown": firstReview.args,
	"review_show":            `{"review_path":"$WORK/` + reviewPath + `"}`,
	"review_prompt":          `{"change_id":"c1","test_output":"$WORK/moon.html"}`,
	"review_check":           `{"payload_path":"$WORK/payload.json","test_output":"$WORK/moon.html"}`,
	"review_import":          `{"files":["$WORK/findings.json"],"change_id":"c1"}`,
	"review_list":            `{"change_id":"c1"}`,
	"review_diff":            `{"change_id":"c1","from":1,"to":1}`,
	"change_list":            `{}`,
	"change_status":          `{"change_id":"c1"}`,
	"change_start":           `{"change_id":"c1"}`,
	"change_advance":         `{"change_id":"c1"}`,
	"change_resume":          `{"change_id":"c1","accept":true,"reason":"r"}`,
}

// otherArguments make a tool touch files that its base arguments do not.
var otherArguments = map[string]string{
	"deep_research_perspectives_write": `{` + perspectivesArg + `,"value":` + samplePerspectives + `,"reason":"r","replan":true}`,
	"deep_research_summary_pack_build": `{"manifest_path":"$WORK/bare/manifest.json","mode":"generate","citations_path":"$WORK/citations-in.jsonl","reason":"r"}`,
}

// argumentsOf are the arguments for a tool when the world around it is changed.
func argumentsOf(name string) []string {
	if other := otherArguments[name]; other != "" {
		return []string{baseArguments[name], other}
	}
	return []string{baseArguments[name]}
}

// TestEveryToolHasArguments fails for a tool that the containment tests leave out.
func TestEveryToolHasArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, each := range catalog.Tools(&catalog.Env{}) {
		if baseArguments[each.Name] == "" {
			t.Errorf("%s has no arguments here", each.Name)
		}
	}
	w.check(t, "preparing", nil)
}

// regularFiles is a folder without its links and FIFOs, for copying.
func regularFiles(dir string) fs.FS { return regularFS{os.DirFS(dir)} }

type regularFS struct{ fs.FS }

// ReadDir leaves out everything that is neither a file nor a folder.
func (f regularFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !e.Type().IsRegular() && !e.IsDir() }), err
}
