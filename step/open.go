package step

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/archive"
	"github.com/tidegate/tidegate/citation"
)

// OpenPage fetches a page for an agent that wants to read it, and returns its
// text. What an agent opened is no evidence: nothing of it is kept. It returns
// READ_FAILED for a page without text, and the errors of fetch.
func OpenPage(ctx context.Context, fetch Fetch, url string) (string, error) {
	text, problem := "", "it cannot be reached"
	err := fetch(ctx, []string{url}, func(batch []*archive.Packed) error {
		for _, packed := range batch {
			page := pageOf(packed.Capture())
			switch {
			case page.Fault != "":
				problem = string(page.Fault)
			case page.Status >= 400:
				problem = "it answers with an error"
			default:
				text, problem = citation.Read(page).Text, "it has no text"
			}
		}
		return nil
	})
	if err == nil && text == "" {
		err = tidegate.Errorf(tidegate.ReadFailed, tidegate.D("url", tidegate.Cut(url)), "the page cannot be read: %s", problem)
	}
	return text, err
}
