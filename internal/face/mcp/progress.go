package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressPause is the shortest time between two notifications of one call. A
// wave of ten thousand outputs does not need ten thousand messages.
const progressPause = 100 * time.Millisecond

// progress sends notifications to a client that gave a token, and is nil for
// one that did not. The numbers only ever grow, although the workers of a call
// report in any order; the first and the last are always sent.
func progress(ctx context.Context, request *sdk.CallToolRequest) func(done, total int) {
	token := request.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	var (
		mu   sync.Mutex
		sent int
		last time.Time
	)
	return func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if done <= sent || done < total && time.Since(last) < progressPause || ctx.Err() != nil {
			return
		}
		sent, last = done, time.Now()
		// The call goes on even where the client cannot be reached.
		_ = request.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(done), Total: float64(total)})
	}
}
