package job

import (
	"context"

	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// attached lists the person's own documents.
func (r *research) attached() ([]sourcing.Document, error) {
	return r.documents.get(func() ([]sourcing.Document, error) { return sourcing.AttachedDocuments(r.Run) })
}

// quoted is what the prompt of a perspective shows of the person's own documents, nil for
// a run without any.
func (r *research) quoted(stage run.Stage, perspective string) (*sourcing.Quoted, error) {
	all, err := r.quotes[stage].get(func() (map[string]*sourcing.Quoted, error) { return r.quoteDocuments(stage) })
	return all[perspective], err
}

func (r *research) quoteDocuments(stage run.Stage) (map[string]*sourcing.Quoted, error) {
	list, err := r.attached()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	c, err := r.contracts(stage)
	if err != nil {
		return nil, err
	}
	var questions []string
	for _, p := range c.doc.List {
		gap, err := r.gap(stage, p.ID)
		if err != nil {
			return nil, err
		}
		questions = append(questions, sourcing.QuestionOf(p.Title, gap, r.Manifest().Query()))
	}
	quoted, err := sourcing.Quote(context.Background(), r.Run, list, questions)
	byID := map[string]*sourcing.Quoted{}
	for i := range quoted {
		byID[c.doc.List[i].ID] = quoted[i]
	}
	return byID, err
}

// HasDocuments reports whether a person gave the run documents of their own.
func (b *Board) HasDocuments() bool {
	r := b.present().run
	if r == nil {
		return false
	}
	list, err := r.attached()
	return err == nil && len(list) > 0
}
