package library

import (
	"context"
	"slices"

	"github.com/tidegate/tidegate/internal/rule/drift"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
)

// EarlierOf is what a run takes from a finished one that it builds on, with where that is
// and its sensitivity. With an update of it, the sentences that no longer stand are open,
// too, and their pages are fetched again. It returns NOT_FOUND, INVALID_STATE for a run that
// is not completed or whose sentences were not checked, and the errors of reading it.
func EarlierOf(ctx context.Context, desk run.Desk, manifest string, updated *Updated) (earlier *run.Earlier, from run.Frozen, sensitivity string, err error) {
	r, err := run.Open(ctx, desk, manifest)
	if err != nil {
		return nil, from, "", err
	}
	defer r.Close()
	item, err := readRun(ctx, r)
	if err != nil {
		return nil, from, "", err
	}
	from = run.Frozen{RunID: item.ID, Root: r.Root(), Head: item.Head}
	earlier = &run.Earlier{SchemaVersion: run.EarlierVersion, RunID: item.ID, Head: item.Head, Question: item.Title, Sentences: []run.EarlierSentence{}, Changed: []string{}}
	urls := map[string]string{}
	sources, err := item.Sources(ctx)
	if err != nil {
		return nil, from, "", err
	}
	for _, s := range sources {
		urls[s.CID] = s.URL
	}
	for _, s := range item.Sentences {
		kept := run.EarlierSentence{ID: s.ID, Text: s.Text, Standing: string(s.Standing), URLs: []string{}}
		for _, cid := range s.CIDs {
			if urls[cid] != "" {
				kept.URLs = append(kept.URLs, urls[cid])
			}
		}
		earlier.Sentences = append(earlier.Sentences, kept)
	}
	if updated != nil {
		earlier.Open = updated.open()
		for _, s := range updated.Sources {
			if url := urls[s.CID]; url != "" && (s.Text != "same" || s.State != drift.Stands) {
				earlier.Changed = append(earlier.Changed, url)
			}
		}
	}
	open, err := reporting.OpenQuestions(ctx, r)
	earlier.Open = append(slices.Clip(earlier.Open), open...)
	return earlier, from, r.Manifest().Sensitivity(), err
}

// open are the sentences that no longer stand, with what their pages said and say.
func (u Updated) open() []run.OpenQuestion {
	var open []run.OpenQuestion
	for _, s := range u.Sentences {
		if s.State != drift.Changed && s.State != drift.Gone && s.State != drift.Walled {
			continue
		}
		text := markdown.OneLine(s.Text) // the prompt says before it that it changed
		if s.State != drift.Changed {
			text = string(s.State) + ": " + text
		}
		for _, on := range s.Pages {
			if on.State == drift.Stands {
				continue
			}
			text += " (" + markdown.OneLine(on.Why) + ")"
			for _, p := range on.Passages {
				text += " The page: " + markdown.OneLine(drift.Marked(p.Difference))
			}
		}
		open = append(open, run.OpenQuestion{Kind: run.OpenChanged, Text: text})
	}
	return open
}
