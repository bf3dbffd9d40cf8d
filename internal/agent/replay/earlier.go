package replay

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// This file reads the logs of earlier versions, whose lines say neither which update
// wrote them nor what it was asked for, and name files by absolute paths. Both follow
// from signs, from the files that the run keeps and from its present documents.

// firstRoot is where the run lay when it was made.
func (w *walk) firstRoot() string {
	if root := w.kept.Manifest().Doc().Get("artifacts").Get("root").Str(); filepath.IsAbs(root) {
		return root
	}
	return w.kept.Root()
}

// locate learns from the lines of a change where the run lay.
func (w *walk) locate(c change) {
	l := w.kept.Layout()
	for _, each := range c.lines {
		for key, name := range map[string]string{"plan_path": l.Wave1Plan(), "pivot_path": l.Pivot, "citations_path": l.Citations, "path": l.Perspectives} {
			if root, ok := strings.CutSuffix(filepath.ToSlash(each.get(key)), "/"+name); ok && filepath.IsAbs(root) {
				if root = filepath.FromSlash(root); root != w.root {
					w.closeBoard()
				}
				w.root = root
			}
		}
	}
}

// beginsBySigns reports whether a line is the first of an update. In an update the
// digests of files stand last, and before them a move or the judgements of gates; the
// time, the actor and the state of the documents are the same in all lines; some
// lines are always the first.
func beginsBySigns(before, l line) bool {
	switch {
	case l.get("state") == "":
		return true
	case l.event != run.EventFiles && slices.Contains([]run.Event{run.EventFiles, run.EventFetched, run.EventMoved}, before.event):
		return true
	case before.kind == "gate_judged" && l.kind != "gate_judged" && l.event != run.EventFiles:
		return true
	case l.event == run.EventVerdict, l.event == run.EventAnswered, l.event == run.EventLeased, l.event == run.EventFetched:
		return true
	}
	for _, key := range []string{"ts", "state", "actor"} {
		if before.get(key) != l.get(key) {
			return true
		}
	}
	return false
}

// causesBySigns are the lines of a change that can be done again, those first from
// which the others usually follow.
func (w *walk) causesBySigns(c change, given map[int]bool) []line {
	rank := func(l line) int {
		switch {
		case l.event == run.EventMoved, l.event == run.EventVerdict, l.event == run.EventPlanned, l.kind == "gate_accept":
			return 0
		}
		return 1
	}
	sorted := slices.Clone(c.lines)
	slices.SortStableFunc(sorted, func(a, b line) int { return cmp.Compare(rank(a), rank(b)) })
	return slices.DeleteFunc(sorted, func(l line) bool {
		if !w.leaveOut(c, l) {
			return false
		}
		given[l.number] = false
		return true
	})
}

// gone are the kinds of lines whose tools this program does not have.
var gone = []string{
	"fixture_run_seed", "dry_run_seed", "review_factory_run", "revision_control", "gate_e_reports",
	"telemetry_append", "run_metrics_write", "tick_ledger_append", "fallback_offer",
}

// leaveOut notes a line that is not done again, because its tool is gone or the run
// was made to count what others wrote. What the change wrote is compared by digest.
func (w *walk) leaveOut(c change, l line) bool {
	if w.kept.Legacy() {
		w.leave("all lines of the log: the run was created with --legacy-gates; its files are compared by their digests")
		return true
	}
	if !slices.Contains(gone, l.kind) {
		return false
	}
	w.leave("%s, whose tool is gone; what it wrote is compared by its digest", w.name(l))
	for _, name := range c.order {
		w.byDigest[name] = true
	}
	return true
}

// undone are the documents that the run began with: as they are, without what the
// log says was written to them since.
func (w *walk) undone(created line) ([]run.First, error) {
	var list []run.First
	for _, doc := range []struct {
		name, digest string
		make         func() ([]byte, error)
	}{
		{run.ManifestFile, "manifest_digest", w.firstManifest},
		{w.kept.Layout().Gates, "gates_digest", func() ([]byte, error) { return codec.MarshalFile(run.NewGates(w.kept.ID(), created.get("ts"))) }},
		{run.PolicyFile, "policy_digest", w.firstPolicy},
		{run.ScopeFile, "scope_digest", func() ([]byte, error) { return w.kept.Folder().Read(run.ScopeFile) }},
	} {
		data, err := doc.make()
		if err != nil {
			return nil, err
		}
		first := run.First{Name: doc.name, Data: data, Digest: created.get(doc.digest)}
		if codec.DigestBytes(data) != first.Digest {
			w.notAsThen(doc.name)
			if !w.patched() {
				w.step(doc.name, "what it was when the run was created cannot be had from what it is")
			}
		}
		list = append(list, first)
	}
	return list, nil
}

// patched reports whether somebody changed the manifest by hand: what stood there
// before is not kept.
func (w *walk) patched() bool {
	return len(w.linesOf(func(l line) bool { return l.event == run.EventPatched || l.kind == "run_accept" })) > 0
}

// linesOf are the lines of the log that fit, the last one first.
func (w *walk) linesOf(fits func(line) bool) []line {
	var list []line
	for _, c := range w.moves {
		for _, l := range c.lines {
			if fits(l) {
				list = append(list, l)
			}
		}
	}
	slices.Reverse(list)
	return list
}

func (w *walk) firstManifest() ([]byte, error) {
	doc := w.kept.Manifest().Doc().Clone()
	for _, m := range w.kept.Manifest().Doc().Members() {
		if !run.IsManifestField(m.Key) { // a note that an agent put there
			doc.Delete(m.Key)
		}
	}
	created := doc.Get("created_at")
	doc.Set("updated_at", created)
	doc.Set("revision", codec.Of(1))
	doc.Set("status", codec.Of(run.Created))
	doc.Set("stage", codec.Of(tidegate.Pairs("current", run.Init, "started_at", created, "last_progress_at", created, "history", []string{})))
	doc.Set("metrics", codec.NewObject())
	doc.Set("failures", codec.Of([]string{}))
	for _, l := range w.linesOf(func(l line) bool { return l.event == run.EventLimit && l.entry.Get("from") != nil }) {
		if limits := doc.Get("limits"); limits.Kind() == codec.Object {
			limits.Set(l.get("limit"), l.entry.Get("from"))
		}
	}
	return codec.MarshalFile(doc)
}

func (w *walk) firstPolicy() ([]byte, error) {
	data, err := w.kept.Folder().Read(run.PolicyFile)
	if err != nil {
		return nil, err
	}
	doc, err := codec.ParseFile("path", w.kept.Path(run.PolicyFile), data)
	if err != nil {
		return nil, err
	}
	doc = doc.Clone()
	for _, l := range w.linesOf(func(l line) bool { return l.event == run.EventLimit && l.entry.Get("from") == nil }) {
		budget := doc.Get("budget")
		switch was := l.entry.Get("was"); {
		case l.get("limit") == run.EvidenceKey:
			for _, key := range []string{run.EvidenceKey, "verify", "one_agent", "adapt"} { // which no earlier version wrote
				doc.Delete(key)
			}
			switch {
			case l.entry.Get("to").Kind() == codec.Object: // a choice, which came after
			case was == nil:
				doc.Delete("grounding")
			default:
				doc.Set("grounding", was)
			}
		case budget.Kind() != codec.Object:
		case was != nil:
			budget.Set(l.get("limit"), was)
		default:
			budget.Delete(l.get("limit"))
		}
	}
	if len(w.linesOf(func(l line) bool { return l.event == run.EventAccepted && l.get("what") == "plan" })) > 0 {
		doc.Set("confirm_plan", codec.Of(true)) // it waited for a person's yes, and got it
	}
	if budget := doc.Get("budget"); budget.Kind() == codec.Object && budget.Len() == 0 {
		doc.Delete("budget")
	}
	return codec.MarshalFile(doc)
}

// earlierOperation is the operation that does a line of an earlier log again: the
// same as of any log, once its arguments are found.
func earlierOperation(l line) operation {
	switch {
	case l.kind == "run_init", l.event == run.EventPatched && l.entry.Get("patch") == nil, l.get("document") != "":
		return nil
	case l.event == run.EventReviewed:
		return reviewedByDigest
	case l.event == run.EventFailed:
		return withArgs(keptFailure, failed)
	case l.event == run.EventRetried:
		return withArgs(keptRetry, retriedGate)
	case l.event == run.EventAccepted && l.get("what") == "failure":
		return withArgs(keptAcceptance, accepted)
	case l.kind == "gates_write" && l.entry.Get("patch") == nil:
		return unpatchedGates
	}
	return operationOf(l)
}

// withArgs does an operation with arguments that are found.
func withArgs(find func(*scene, run.Manifest) (tidegate.Details, error), do operation) operation {
	return func(s *scene) error {
		r, err := s.open()
		if err != nil {
			return err
		}
		defer r.Close()
		args, err := find(s, r.Manifest())
		if err != nil {
			return err
		}
		s.args = codec.Of(args)
		return do(s)
	}
}

// unpatchedGates does a write of gates again whose line does not say what was asked
// for. A line of another kind names the gate that was judged. Where there is none,
// somebody took a gate back, or a move did; a gate that passes is judged all the same.
func unpatchedGates(s *scene) error {
	if judged, ok := s.has(func(l line) bool { return l.kind == "gate_judged" }); ok {
		s.args = codec.Of(tidegate.Pairs("gate", judged.get("gate")))
		return gateWritten(s)
	}
	for _, gate := range s.line.entry.Get("gates").Members() {
		if gate.Value.Str() == run.GatePass {
			return rejudged(s)
		}
	}
	return errGiven
}

// keptFailure is a failure as the present manifest has it.
func keptFailure(s *scene, then run.Manifest) (tidegate.Details, error) {
	all := s.kept.Manifest().Failures()
	if len(then.Failures()) >= len(all) {
		return nil, tidegate.Errorf(tidegate.InvalidState, nil, "the manifest does not keep the failure")
	}
	var args tidegate.Details
	for _, m := range all[len(then.Failures())].Members() {
		args = append(args, tidegate.Detail{Key: m.Key, Value: m.Value})
	}
	return args, nil
}

// keptAcceptance is a person's acceptance of failures: of those that the present
// manifest says were accepted then.
func keptAcceptance(s *scene, then run.Manifest) (tidegate.Details, error) {
	all := s.kept.Manifest().Failures()
	why, gate, others := "", "", false
	for i, f := range then.Failures() {
		switch {
		case i >= len(all) || f.Get("accepted_at") != nil:
		case all[i].Get("accepted_at").Str() == s.line.get("ts"):
			why, gate = all[i].Get("accepted_reason").Str(), f.Get("gate_id").Str()
		default:
			others = true
		}
	}
	if others {
		return tidegate.Pairs("why", why, "gate", gate), nil
	}
	return tidegate.Pairs("why", why), nil
}

// keptRetry is one more attempt at a gate as the present manifest has it.
func keptRetry(s *scene, then run.Manifest) (tidegate.Details, error) {
	all := s.kept.Manifest().Doc().Get("metrics").Get("retry_history").Elems()
	at := then.Doc().Get("metrics").Get("retry_history").Len()
	if at >= len(all) {
		return nil, tidegate.Errorf(tidegate.InvalidState, nil, "the manifest does not keep the attempt")
	}
	return tidegate.Pairs("change_note", all[at].Get("change_note"), "reason", all[at].Get("reason")), nil
}

// reviewedByDigest reviews the first wave. The digest of the report says how many
// failures it had room for.
func reviewedByDigest(s *scene) error {
	name := s.kept.Layout().WaveReview
	var lines []*codec.Value
	for _, most := range []int{50, 25} {
		desk := s.desk.Rehearsing()
		if err := s.review(desk, step.WaveReviewInput{PerspectivesPath: s.path(s.kept.Layout().Perspectives), OutputsDir: s.path(s.kept.WaveDir(run.Wave1)), MaxFailures: most}); err != nil {
			return err
		}
		lines = nil
		for _, l := range desk.Rehearsal.Lines {
			lines = append(lines, l.Value())
		}
		maps.Copy(s.out.files, desk.Rehearsal.Files)
		if codec.DigestBytes(desk.Rehearsal.Files[name]) == s.change.files[name] {
			break
		}
	}
	s.out.lines = lines
	return nil
}
