package main

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/reviews"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/wave"
)

// completions list what a shell offers for operands: nothing where it cannot be
// read.
func completions(env *catalog.Env) map[string]func(context.Context, map[string]string) []string {
	changes := func(ctx context.Context, _ map[string]string) []string {
		var ids []string
		if list, err := change.All(env.Desk(artifact.Everywhere), env.Project); err == nil {
			for _, c := range list.Changes {
				ids = append(ids, c.ChangeID)
			}
		}
		return ids
	}
	reviews := func() []reviews.Review {
		records, _ := reviews.All(env.Desk(artifact.Everywhere), env.Home)
		return slices.DeleteFunc(records, func(r reviews.Review) bool { return r.Ended == nil || r.Project != env.Project })
	}
	return map[string]func(context.Context, map[string]string) []string{
		"FINDING": func(context.Context, map[string]string) []string {
			var ids []string
			for _, r := range reviews() {
				for _, f := range r.Ended.Findings {
					ids = append(ids, f.ID)
				}
			}
			slices.Sort(ids)
			return slices.Compact(ids)
		},
		"RUN": func(ctx context.Context, _ map[string]string) []string {
			var ids []string
			runs, _ := run.Recent(env.Desk(artifact.Everywhere), env.Home)
			for _, r := range runs {
				ids = append(ids, r.ID)
			}
			return ids
		},
		"job_id": func(ctx context.Context, before map[string]string) []string {
			manifest, err := run.Find(env.Desk(artifact.Everywhere), env.Home, env.Dir, before["RUN"])
			if err != nil {
				return nil
			}
			board, err := job.OpenBoard(ctx, env.Desk(artifact.Everywhere), manifest)
			if err != nil {
				return nil
			}
			defer board.Close()
			var ids []string
			for _, j := range board.Jobs() {
				ids = append(ids, j.ID)
			}
			return ids
		},
		"perspective_id": func(ctx context.Context, before map[string]string) []string {
			path := before["PERSPECTIVES"]
			if manifest, err := run.Find(env.Desk(artifact.Everywhere), env.Home, env.Dir, cmp.Or(before["RUN"], path)); err == nil && filepath.Base(manifest) == run.ManifestFile {
				r, err := run.Open(ctx, env.Desk(artifact.Everywhere), manifest)
				if err != nil {
					return nil
				}
				defer r.Close()
				path = r.Path(r.Layout().Perspectives)
			} else if !filepath.IsAbs(path) {
				path = filepath.Join(env.Dir, path)
			}
			doc, err := step.ReadPerspectives(env.Desk(artifact.Everywhere), "perspectives_path", path, wave.Contracts)
			if err != nil {
				return nil
			}
			var ids []string
			for _, p := range doc.List {
				ids = append(ids, p.ID)
			}
			return ids
		},
		"change_id": changes,
		"review_path": func(ctx context.Context, before map[string]string) []string {
			ids := changes(ctx, before)
			for _, r := range reviews() {
				ids = append(ids, r.ID)
			}
			return ids
		},
	}
}
