package web

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
)

// pollEvery is how often a stream looks which tools the agents of a run used last, and
// whether a process still drives it: the log does not say that, and what a far agent
// does arrives every other second.
const pollEvery = 500 * time.Millisecond

// beatEvery is how often a stream shows that it is alive, so that each end notices when
// the other has gone or hangs. The page waits for three of them.
const beatEvery = 2 * time.Second

const beat = "event: beat\ndata: there\n\n"

// events streams the numbers of the lines that are added to the log of a run, and
// says when an agent uses another tool than before, and when nobody drives the run any
// more.
// A reader that comes back says which it saw last, and gets all that came since.
// The text of a line is not sent: a reader that hears of one asks for the page
// again, and gets it as of one moment.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("run")
	if run.CheckID(id) != nil {
		s.problem(w, r, tidegate.Errorf(tidegate.FileNotFound, nil, "there is no run of that name"))
		return
	}
	opened, err := run.Open(r.Context(), s.site.Desk, filepath.Join(s.site.Home, id, run.ManifestFile))
	if err != nil {
		s.problem(w, r, err)
		return
	}
	defer opened.Close()
	after, err := strconv.Atoi(r.Header.Get("Last-Event-ID"))
	if err != nil {
		after, _ = strconv.Atoi(r.URL.Query().Get("after"))
	}
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	lines := make(chan int, 64)
	ended := make(chan error, 1)
	go func() {
		for entry, err := range opened.Tail(ctx, max(0, after)+1) {
			if err != nil {
				ended <- err
				return
			}
			select {
			case lines <- entry.Number:
			case <-ctx.Done():
				ended <- nil
				return
			}
		}
		ended <- nil
	}()
	say := startStream(w)
	beats := time.NewTicker(beatEvery)
	defer beats.Stop()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	drives := func() bool {
		return driven(opened.Folder()) || s.site.Background != nil && s.site.Background.Drives(id)
	}
	// A page may have been drawn just before its driver ended.
	tools, held := run.LastTools(opened.Folder()), true
	open := say("retry: 500\n\n")
	for open {
		select {
		case <-poll.C:
			if used, now := run.LastTools(opened.Folder()), drives(); now != held || !maps.Equal(used, tools) {
				tools, held = used, now
				open = say("event: line\ndata: tools\n\n")
			}
		case n := <-lines:
			open = say(fmt.Sprintf("id: %d\nevent: line\ndata: %d\n\n", n, n))
		case <-beats.C:
			open = say(beat)
		case err := <-ended:
			if err != nil {
				say(fmt.Sprintf("event: broken\ndata: %s\n\n", tidegate.CodeOf(err)))
			}
			return
		}
	}
	stop()
	<-ended // before its run is closed
}
