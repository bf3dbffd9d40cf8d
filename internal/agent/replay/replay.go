package replay

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Step is one thing of a run that was done by rule, and how it compares when it is
// done again.
type Step struct {
	What       string `json:"what" jsonschema:"a file of the run, or a line of its log with what it records"`
	Same       bool   `json:"same"`
	Difference string `json:"difference" jsonschema:"what is different, empty when nothing is"`
}

// Result is the result of [Run].
type Result struct {
	OK       codec.True `json:"ok"`
	RunID    string     `json:"run_id"`
	Pass     bool       `json:"pass" jsonschema:"nothing differs, and something was compared; of a run that another version made differences are findings, and it passes"`
	Program  string     `json:"program" jsonschema:"what replays the run"`
	Recorded string     `json:"recorded_program" jsonschema:"what made the run, empty where its log does not say"`
	Steps    []Step     `json:"steps"`
	Given    int        `json:"given" jsonschema:"lines of the log that record what agents and people handed in, which is taken as it was kept"`
	Left     []string   `json:"not_compared" jsonschema:"what was done by rule and cannot be done again, with the reason"`
}

// Passed reports whether nothing differs.
func (r Result) Passed() bool { return r.Pass }

// otherVersion reports whether a version other than this one made the run.
func (r Result) otherVersion() bool {
	return r.Recorded != "" && r.Program != "" && r.Recorded != r.Program
}

// differ is how many steps come out differently.
func (r Result) differ() int {
	n := 0
	for _, s := range r.Steps {
		if !s.Same {
			n++
		}
	}
	return n
}

// Run does again what a run did by rule, from the answers that it kept, its archive
// and its log, with the times of the record. It compares every file that a rule made
// and every event that a rule recorded, without time and chain. Program is the name
// and version of the program that replays. It writes nothing into the run.
//
// It returns the errors of reading the run, and WRITE_FAILED where there is no
// room for a temporary folder. What differs is a result.
func Run(ctx context.Context, r *run.Run, program string) (Result, error) {
	w := &walk{kept: r, left: map[string]bool{}, out: Result{RunID: r.ID(), Program: program, Steps: []Step{}, Left: []string{}}}
	if err := w.readLog(); err != nil {
		return Result{}, err
	}
	if err := r.CheckLog(); tidegate.CodeOf(err) == tidegate.Tampered {
		w.step(run.LogFile, tidegate.AsError(err).Message) // nothing can be done again by such a log
		return w.out, nil
	} else if err != nil {
		return Result{}, err
	}
	var err error
	if w.stage, err = artifact.NewReplica(); err != nil {
		return Result{}, err
	}
	defer w.stage.Close()
	defer w.closeBoard()
	if err := w.begin(); err != nil {
		return Result{}, err
	}
	for _, t := range w.moves {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		if err := w.follow(ctx, t); err != nil {
			return Result{}, err
		}
	}
	if err := w.compareEnd(); err != nil {
		return Result{}, err
	}
	w.out.Pass = len(w.out.Steps) > 0 && (w.out.otherVersion() || w.out.differ() == 0)
	return w.out, nil
}

// Report lists what was done again.
func (r Result) Report() report.Report {
	out := report.Report{Name: "run_replay", Title: "Replay of run " + r.RunID, Status: report.PassIf(r.Pass)}
	table := report.NewTable("What", "Difference")
	lines, differ := 0, r.differ()
	for _, s := range r.Steps {
		if strings.HasPrefix(s.What, "line ") {
			lines++
		}
		c := report.Case{Name: s.What, Status: report.PassIf(s.Same)}
		if !s.Same {
			table.Row(report.Fail, s.What, s.Difference)
			c.Findings = []report.Finding{{Rule: "REPLAY_DIFFERS", Message: s.Difference}}
		}
		out.AddCase(c)
	}
	out.Summary = fmt.Sprintf("%s and %s made again, %s", report.Counted(lines, "event"),
		report.Counted(len(r.Steps)-lines, "file"), report.Counted(differ, "difference"))
	if r.otherVersion() {
		out.Add(report.Paragraph(fmt.Sprintf("The run was created by %s and is replayed by %s: differences between the two are findings, not failures.", r.Recorded, r.Program)))
		if differ > 0 {
			out.Status = report.Warn
		}
	}
	if differ > 0 {
		out.Add(table)
	}
	if len(r.Left) > 0 {
		out.Add(report.Heading("What cannot be compared"), report.Bullets(r.Left))
	}
	return out
}

func (w *walk) step(what, difference string) {
	w.out.Steps = append(w.out.Steps, Step{what, difference == "", difference})
}

// leave notes something that cannot be done again.
func (w *walk) leave(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !w.left[text] {
		w.left[text] = true
		w.out.Left = append(w.out.Left, text)
	}
}

// compareEnd compares the files of the run, as they are, with what its log last said
// of them. Where the log begins with the run, a file that only a rule makes and that
// no line names was put there by other means.
func (w *walk) compareEnd() error {
	l := w.kept.Layout()
	byRule := []string{l.Wave1Plan(), l.WaveReview, l.Pivot, l.Wave2Plan(), l.Wave2Perspectives(), l.Citations, l.SummaryPack, l.ReviewBundle}
	err := fs.WalkDir(w.kept.Folder().FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if _, known := w.recorded[name]; err == nil && !entry.IsDir() && !known && (w.begun && slices.Contains(byRule, name) || w.isReading(name)) {
			w.step(name, "no line of the log says how it came")
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range w.order {
		digest := w.recorded[name]
		kept, err := w.kept.Folder().Read(name)
		switch {
		case tidegate.CodeOf(err) == tidegate.FileNotFound:
			if digest != "" {
				w.step(name, "it is not there")
			}
		case err != nil:
			return err
		case digest == "":
			w.step(name, "it is there, and the log says that it was removed")
		case codec.DigestBytes(kept) != digest:
			difference := "it is not the file that the log records"
			if made, err := w.stage.Read(name); err == nil && codec.DigestBytes(made) == digest {
				difference += "; " + firstDifference(kept, made)
			}
			w.step(name, difference)
		}
	}
	return nil
}

// firstDifference says where two texts differ, "" where they do not.
func firstDifference(kept, again []byte) string {
	at := 0
	for at < len(kept) && at < len(again) && kept[at] == again[at] {
		at++
	}
	if at == len(kept) && at == len(again) {
		return ""
	}
	line := strings.Count(string(kept[:at]), "\n") + 1
	return fmt.Sprintf("%d bytes are kept and %d are made again; they differ from byte %d on, in line %d", len(kept), len(again), at+1, line)
}

// compareRepair compares the prompt by which a refused answer was to be repaired
// with the one that the faults give, where the run keeps one. An agent without the
// session of the answer was shown the prompt of the attempt before it.
func (s *scene) compareRepair(id string, number, n int, again string) error {
	name := fmt.Sprintf("%s/prompt-%d.md", run.AttemptDir(id, number), n+1)
	kept, err := s.kept.Folder().Read(name)
	if err != nil {
		return artifact.UnlessMissing(err)
	}
	first, err := s.kept.Folder().Read(run.AttemptDir(id, number) + "/prompt.md")
	if err != nil && tidegate.CodeOf(err) != tidegate.FileNotFound {
		return err
	}
	if whole := string(first) + "\n" + again; string(kept) == whole {
		again = whole
	}
	s.step(name, firstDifference(kept, []byte(again)))
	return nil
}

func attemptFile(id string, number int) string { return run.AttemptDir(id, number) + "/attempt.json" }

// keptAttempt is an attempt as the run keeps it.
func (s *scene) keptAttempt(id string, number int) (*codec.Value, error) {
	name := attemptFile(id, number)
	data, err := s.kept.Folder().Read(name)
	if err != nil {
		return nil, err
	}
	return codec.ParseFile("path", s.kept.Path(name), data)
}

// compareAttempt compares what an attempt keeps of a verdict with the verdict that
// comes out.
func (s *scene) compareAttempt(id string, number, n int, again any, fields ...string) error {
	name := attemptFile(id, number)
	doc, err := s.keptAttempt(id, number)
	if err != nil {
		return err
	}
	submissions := doc.Get("submissions").Elems()
	if n < 1 || n > len(submissions) {
		s.step(name, "it does not keep the answer")
		return nil
	}
	made := codec.Of(again)
	difference := ""
	for _, key := range fields {
		was, is := submissions[n-1].Get(key), made.Get(key)
		if was.Len() == 0 && is.Len() == 0 {
			continue
		}
		if codec.Digest(was) != codec.Digest(is) && difference == "" {
			difference = key + " of answer " + submissions[n-1].Get("answer").Str() + " are " + shown(was) + " and come out as " + shown(is)
		}
	}
	s.step(name, difference)
	return nil
}
