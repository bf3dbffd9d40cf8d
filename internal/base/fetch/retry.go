package fetch

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
)

const (
	maxRetries    = 2
	maxRetryAfter = 10 * time.Second
	backOff       = time.Second // before the first repetition; twice as long before the second
)

// retryAfter says whether a request is repeated after an answer, and how long to
// wait before that. Retries is how often it was repeated before. A server that asks
// for more than ten seconds is not asked again.
func retryAfter(hop archive.Hop, retries int, options Options) (time.Duration, bool) {
	if hop.Status != http.StatusTooManyRequests && hop.Status != http.StatusServiceUnavailable || retries >= maxRetries {
		return 0, false
	}
	value := strings.TrimSpace(hop.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		wait := time.Duration(seconds) * time.Second
		return wait, wait <= maxRetryAfter
	}
	if at, err := http.ParseTime(value); err == nil {
		wait := max(0, at.Sub(options.Now()))
		return wait, wait <= maxRetryAfter
	}
	return time.Duration(float64(backOff<<retries) * (0.5 + options.Jitter())), true
}
