package web

import (
	"bytes"
	"net/http"
	"sync"
	"time"
)

// earlyTime is how long a page may take before its first bytes are sent.
var earlyTime = 40 * time.Millisecond

// firstBytes are those that every page begins with, the report too, which has a language of
// its own.
const firstBytes = "<!DOCTYPE html>\n<html lang=\""

// early is an answer whose first bytes are sent early when the rest takes long, so
// that a browser knows that it is being worked on. An error after that shows only in
// the page: the status has been sent.
type early struct {
	w     http.ResponseWriter
	timer *time.Timer

	mu    sync.Mutex
	begun bool
	ended bool
}

// begin starts an answer whose headers are set.
func begin(w http.ResponseWriter, r *http.Request) *early {
	e := &early{w: w}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if r.Method == http.MethodGet {
		e.timer = time.AfterFunc(earlyTime, e.goAhead)
	}
	return e
}

func (e *early) goAhead() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return
	}
	e.begun = true
	e.w.WriteHeader(http.StatusOK)
	if _, err := e.w.Write([]byte(firstBytes)); err == nil {
		_ = http.NewResponseController(e.w).Flush()
	}
}

// end sends the rest of a page, or all of it. It must be called while the answer's
// writer can still be used, with a page that begins with the first bytes.
func (e *early) end(status int, data []byte) {
	if e.timer != nil {
		e.timer.Stop()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	if e.begun {
		data = bytes.TrimPrefix(data, []byte(firstBytes))
	} else {
		e.w.WriteHeader(status)
	}
	_, _ = e.w.Write(data)
}
