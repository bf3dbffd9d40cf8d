package sourcing

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
	return Answers(func(address string) (c archive.Capture, found bool, err error) {
		entry, found := e.archive.Find(address)
		if !found && e.parent != nil {
			e.mu.Lock()
			entry, found = e.parent.archive.Find(address)
			e.mu.Unlock()
		}
		if found {
			c, err = e.archive.Read(ctx, entry)
		}
		return c, found, err
	})
}

// Answers gives what an address of a registry answered, by what an archive has. The error
// is set where the archive cannot be read.
func Answers(read func(address string) (c archive.Capture, found bool, err error)) (answered func(address string) *scholar.Answer, failed *error) {
	failed = new(error)
	return func(address string) *scholar.Answer {
		if *failed != nil {
			return nil
		}
		capture, found, err := read(address)
		if *failed = err; err != nil || !found {
			return nil
		}
		return answerOf(capture)
	}, failed
}

// Unanswered are the addresses of registries to ask next about sources, each once.
func Unanswered(records []source.Record, answered func(address string) *scholar.Answer) []string {
	var urls []string
	seen := map[string]bool{}
	for i := range records {
		id, _ := scholar.Parse(records[i].Identifier)
		if url := id.Missing(answered); url != "" && !seen[url] && records[i].Rule != source.PolicyRule {
			seen[url] = true
			urls = append(urls, url)
		}
	}
	return urls
}

// answerOf is what a registry answered. One that could not be reached answered nothing,
// with status 0.
func answerOf(c archive.Capture) *scholar.Answer {
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
		answered, failed := e.answers(ctx)
		urls := Unanswered(records, answered)
		if err = *failed; err != nil || len(urls) == 0 {
			break
		}
		if err = e.fetch(ctx, fetch, urls, nil, progress); err == nil {
			records, err = e.judge(ctx, sources)
		}
	}
	return records, err
}
