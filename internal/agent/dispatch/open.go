package dispatch

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/text/page"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// openPage gives an agent the text of a page, fetched in the same way and with the same
// checks as sources, or from the run that answers in the place of the web or before it. The page is
// not kept: a page that an agent read is not evidence.
func (e *Env) openPage(ctx context.Context, task driver.Task, url string) (string, error) {
	fetch := e.OwnPages()
	if task.Lease.Manifest != "" {
		fetch = sourcing.AtHand(e.OwnDesk(), task.Lease.Manifest, fetch)
	}
	var text string
	var failed error
	err := fetch(ctx, []string{url}, func(captures []*archive.Packed) error {
		for _, packed := range captures {
			text, failed = textOf(packed.Capture())
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return text, failed
}

func textOf(c archive.Capture) (string, error) {
	last := c.Last()
	switch {
	case c.Kind == archive.Absent:
		return "", fmt.Errorf("the page cannot be opened: %s", c.Detail)
	case c.Kind != archive.Responded:
		return "", fmt.Errorf("the page cannot be opened: %s", strings.ReplaceAll(string(c.Kind), "_", " "))
	case last.Status != 200:
		return "", fmt.Errorf("the page cannot be opened: its server answers with status %d", last.Status)
	}
	content := page.Read(last.Body, last.Get("Content-Type"))
	if strings.TrimSpace(content.Text) == "" {
		return "", fmt.Errorf("the page has no text that can be read")
	}
	if content.Title == "" {
		return content.Text, nil
	}
	return content.Title + "\n\n" + content.Text, nil
}
