package replay

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/seal"
	"github.com/tidegate/tidegate/internal/work/run"
)

// GateType says what the predicate of a statement about one gate is.
const GateType = "https://tidegate.dev/gate/v1"

// state makes in-toto statements about a run, each in a DSSE envelope that is signed
// with key, one a line: for each gate one about the files that its judge read, and last one
// about all files of the run. Files have the names that they have in a seal of the run. It
// reads the files that were verified, and nothing of the folder.
func state(ctx context.Context, desk run.Desk, files []seal.File, key *seal.Key, program string) ([]byte, error) {
	laid, err := artifact.NewReplica()
	if err != nil {
		return nil, err
	}
	defer laid.Close()
	if _, err := (&Unsealed{}).lay(laid, files, inRun); err != nil {
		return nil, err
	}
	desk.Reach = laid.At(unsealedAt)
	r, err := run.Open(ctx, desk, filepath.Join(unsealedAt, run.ManifestFile))
	if err != nil {
		return nil, err
	}
	defer r.Close()
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
