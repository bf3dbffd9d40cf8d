package step

import (
	"context"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/rule/scholar"
	"github.com/tidegate/tidegate/internal/rule/source"
)

// work is what the archive has of the registries' answers about an id.
func (e *archived) work(ctx context.Context, id scholar.ID) (*scholar.Work, error) {
	answered, failed := e.answers(ctx)
	work := id.Work(answered)
	return work, *failed
}

// answers gives what an address of a registry answered. The error is set where the
// archive cannot be read.
func (e *archived) answers(ctx context.Context) (answered func(address string) *scholar.Answer, failed *error) {
	failed = new(error)
	return func(address string) *scholar.Answer {
		entry, found := e.archive.Find(address)
		if !found && e.parent != nil {
			e.mu.Lock()
			entry, found = e.parent.archive.Find(address)
			e.mu.Unlock()
		}
		if !found || *failed != nil {
			return nil
		}
		capture, err := e.archive.Read(ctx, entry)
		if err != nil {
			*failed = err
			return nil
		}
		return AnswerOf(capture)
	}, failed
}

// AnswerOf is what a registry answered. One that could not be reached answered nothing,
// with status 0.
func AnswerOf(c archive.Capture) *scholar.Answer {
	if last := c.Last(); c.Kind == archive.Responded && last.Truncated == "" {
		return &scholar.Answer{Status: last.Status, Body: last.Body}
	}
	return &scholar.Answer{}
}

// lookUp asks the registries about the ids of the sources, as far as the archive does
// not have their answers, and returns the records of the sources. Each answer may lead
// to one more question.
func (e *archived) lookUp(ctx context.Context, fetch Fetch, sources []source.Source, progress func([]*archive.Packed)) ([]source.Record, error) {
	records, err := e.judge(ctx, sources)
	for range scholar.MostQuestions {
		if err != nil {
			break
		}
		var urls []string
		seen := map[string]bool{}
		answered, failed := e.answers(ctx)
		for i := range records {
			id, _ := scholar.Parse(records[i].Identifier)
			if url := id.Missing(answered); url != "" && !seen[url] && records[i].Rule != source.PolicyRule {
				seen[url] = true
				urls = append(urls, url)
			}
		}
		if err = *failed; err != nil || len(urls) == 0 {
			break
		}
		if err = e.fetch(ctx, fetch, urls, nil, progress); err == nil {
			records, err = e.judge(ctx, sources)
		}
	}
	return records, err
}
