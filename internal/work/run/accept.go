package run

import (
	"context"
	"maps"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// AcceptInput are the arguments of [AcceptRecord].
type AcceptInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	Reason       string `json:"reason" jsonschema:"why what is there is accepted"`
}

// AcceptResult is the result of [AcceptRecord].
type AcceptResult struct {
	OK       codec.True `json:"ok"`
	RunID    string     `json:"run_id"`
	Accepted []string   `json:"accepted" jsonschema:"the files that were not what the log recorded"`
}

// AcceptRecord records the files of a run as they are, where they differ from its
// log. It is a person's decision: the run goes on with what is there, the log says
// who accepted it and why, and [Verify] goes on showing what was accepted. It
// returns the errors of [Open], INVALID_ARGS without a reason, INVALID_STATE when
// nothing needs to be accepted, LOCK_HELD and WRITE_FAILED.
func AcceptRecord(ctx context.Context, desk Desk, in AcceptInput) (AcceptResult, error) {
	if err := CheckText("reason", in.Reason); err != nil {
		return AcceptResult{}, err
	}
	r, err := Open(ctx, desk, in.ManifestPath)
	if err != nil {
		return AcceptResult{}, err
	}
	defer r.Close()
	gates, err := r.Gates()
	if err != nil {
		return AcceptResult{}, err
	}
	out := AcceptResult{RunID: r.ID()}
	decision := Decision{"accept record", tidegate.Pairs("reason", Note(in.Reason))}
	_, err = r.decide(ctx, accepting, decision, func(u *Update) error {
		files, err := u.mismatches()
		if err != nil {
			return err
		}
		matches, err := u.matchesRecord()
		if err != nil {
			return err
		}
		if matches {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", r.ID()), "the run's record matches its files: there is nothing to accept")
		}
		for _, f := range files.Members() {
			out.Accepted = append(out.Accepted, f.Key)
		}
		u.Log(EventAccepted, kindAccept, tidegate.Pairs("what", "record", "reason", Note(in.Reason),
			"manifest_revision", u.manifest.Revision(), "gates_revision", gates.Revision(), "files", files))
		return nil
	})
	if out.Accepted == nil {
		out.Accepted = []string{LogFile}
	}
	return out, err
}

// matchesRecord reports whether there is nothing to accept: the documents are
// what the log records, and the log itself shows no change by other means.
func (u *Update) matchesRecord() (bool, error) {
	v := newVerifier(u.run)
	if err := v.verify(); err != nil {
		return false, err
	}
	return v.out.Pass && u.record.check() == nil, nil
}

// mismatches are the files that are not what the log recorded, with the digests
// that they have.
func (u *Update) mismatches() (*codec.Value, error) {
	recorded, err := u.run.Recorded()
	if err != nil {
		return nil, err
	}
	files := codec.NewObject()
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		digest, err := u.run.folder.Digest(name)
		switch {
		case err != nil:
			return nil, err
		case digest == recorded[name]:
		default:
			files.Set(name, codec.OrNull(digest))
		}
	}
	return files, nil
}

// Report shows the result to a person.
func (a AcceptResult) Report() report.Report {
	out := report.Report{Name: "run_accept", Title: "run " + a.RunID, Summary: "accepted as it is"}
	out.Add(report.Heading("Not as the log recorded it"), report.Bullets(a.Accepted))
	return out
}
