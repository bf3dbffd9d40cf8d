package web

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/base/user"
	"github.com/tidegate/tidegate/internal/face/guard"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/tool"
)

// Site is what the pages show.
type Site struct {
	Home    string // of runs
	Project string // of changes
	Desk    run.Desk
	Version string
	// Standing says how a run stands for a person, and what they may type.
	Standing func(*job.Board) (dispatch.Standing, error)
	// PDF prints a page, for downloads; nil where nothing prints.
	PDF reporting.Printer
	// Decisions are tools; those among them that are a person's decisions can be
	// taken on the pages. Nil: the pages can only be read. They must not sign.
	Decisions []*tool.Tool
	// Works starts and continues what a person asks for on the pages. Nil: they start
	// nothing.
	Background *dispatch.Background
	// spends is what works whoever sees this part of the site: what is decided stays within
	// its money, too.
	spends *dispatch.Background
	// Demo is the audit of a report with lies in it; nil where there is none. Agents says
	// whether an agent is set up; nil where nobody knows.
	Demo   func(context.Context) (foreign.Result, error)
	Agents func() string
	// Audit holds a report against its sources, for the HTTP API, where there are Works.
	Audit func(ctx context.Context, report string, noFetch bool) (foreign.Result, error)
	// Users are let in beside whoever has the token of the server, by their own tokens or
	// by the word of Proxy.
	Users user.List
	Proxy guard.Proxy

	printing sync.Mutex // held while a browser prints

	seen   *seenRuns
	unread chan struct{} // has something where a search left something unread

	mu    sync.Mutex
	slots map[string]*slot // by the path of the manifest
	kept  kept
}

// begin makes what the parts of the site share.
func (s *Site) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = &seenRuns{runs: map[string]seenRun{}}
		s.unread = make(chan struct{}, 1)
	}
}

// snapshot is a run as it stood at one moment. Several readers share it; it is
// closed when the last of them has gone and another has taken its place.
type snapshot struct {
	users    sync.RWMutex
	stamp    string
	line     int // the last line of the log
	board    *job.Board
	run      *run.Run
	status   stage.StatusResult
	standing dispatch.Standing
	gates    gates.GateList
	// gateNotes are what the judges noted, by gate.
	gateNotes map[string]string
	records   []source.Record
	entries   []run.Entry
	incoming  []feedRow // pages that came in last, of a run that goes on

	reportOnce sync.Once
	report     reporting.Reported
	reportErr  error

	mu    sync.Mutex
	pages map[string]rendered
}

// rendered is a page that was made a moment ago: everybody who follows a run asks
// for the same page at the same time.
type rendered struct {
	at   time.Time
	data []byte
}

// slot is what the readers of one run share.
type slot struct {
	mu       sync.Mutex
	now      *snapshot
	last     time.Time // when the run was last asked for
	arrivals sourcing.Arrivals
}

// maxSlots is how many runs are kept as they were last read.
const maxSlots = 16

// snapshot is the run of a manifest in its current state. Its reader calls done when it
// has read enough. It returns the errors of [run.Open] and of the run's documents.
func (s *Site) snapshot(ctx context.Context, manifest string) (l *snapshot, done func(), err error) {
	w := s.meet(manifest)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = time.Now()
	if w.now != nil && w.now.stands() {
		w.now.users.RLock()
		return w.now, w.now.users.RUnlock, nil
	}
	fresh, err := s.read(ctx, manifest)
	if err != nil {
		return nil, nil, err
	}
	if !fresh.run.Manifest().Status().Final() {
		fresh.incoming = arrived(w.arrivals.Read(ctx, s.Desk, filepath.Dir(manifest), fresh.entries, fresh.board.Policy().Sources, mostFeed))
	}
	w.replace(fresh)
	fresh.users.RLock()
	return fresh, fresh.users.RUnlock, nil
}

func (w *slot) replace(fresh *snapshot) {
	if old := w.now; old != nil {
		go func() {
			old.users.Lock()
			defer old.users.Unlock()
			old.board.Close()
		}()
	}
	w.now = fresh
}

// meet finds what the readers of a run share. When there are too many runs, it
// forgets the one that was not asked for the longest.
func (s *Site) meet(manifest string) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slots == nil {
		s.slots = map[string]*slot{}
	}
	if w := s.slots[manifest]; w != nil {
		return w
	}
	if len(s.slots) >= maxSlots {
		oldest := ""
		for path, w := range s.slots {
			if oldest == "" || w.last.Before(s.slots[oldest].last) {
				oldest = path
			}
		}
		if w := s.slots[oldest]; w.mu.TryLock() {
			w.replace(nil)
			w.arrivals.Close()
			w.mu.Unlock()
			delete(s.slots, oldest)
		}
	}
	w := &slot{last: time.Now()}
	s.slots[manifest] = w
	return w
}

// read reads a run between two writes: when one came in between, it reads again, so
// that no page shows one part from before a write and another from after it. It
// returns LOCK_HELD for a run that is written all the time.
func (s *Site) read(ctx context.Context, manifest string) (*snapshot, error) {
	opened, err := run.Open(ctx, s.Desk, manifest)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	for begun := time.Now(); time.Since(begun) < quietTime; {
		stamp := stampOf(opened)
		if stamp != "" {
			l, err := s.readOnce(ctx, manifest)
			if stampOf(opened) == stamp {
				if err == nil {
					l.stamp = stamp
				}
				return l, err
			}
			if err == nil {
				l.board.Close()
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(betweenReads):
		}
	}
	return nil, errBusy
}

// How long a reader waits for a moment when nobody writes, and how long between
// tries.
const (
	quietTime    = 2 * time.Second
	betweenReads = 5 * time.Millisecond
)

var errBusy = tidegate.Errorf(tidegate.LockHeld, nil, "it is being written all the time: ask again in a moment")

// stands reports whether the run is still as it was when it was looked at.
func (l *snapshot) stands() bool {
	now := stampOf(l.run)
	return now != "" && now == l.stamp
}

// readOnce reads the parts of a run at the same time: in a run with a thousand jobs,
// each takes a while.
func (s *Site) readOnce(ctx context.Context, manifest string) (*snapshot, error) {
	l := &snapshot{pages: map[string]rendered{}, gateNotes: map[string]string{}}
	var list sourcing.CitationList
	parts := []func() error{
		func() (err error) { l.status, err = stage.Status(ctx, s.Desk, manifest); return err },
		func() (err error) {
			if l.board, err = job.OpenBoard(ctx, s.Desk, manifest); err != nil {
				return err
			}
			l.run = l.board.Run()
			if l.standing, err = s.Standing(l.board); err != nil {
				return err
			}
			l.entries, err = l.run.Events()
			return err
		},
		func() (err error) { l.gates, err = gates.ListGates(ctx, s.Desk, manifest); return err },
		func() (err error) {
			if list, err = sourcing.ListCitations(ctx, s.Desk, manifest); tidegate.CodeOf(err) == tidegate.FileNotFound {
				return nil
			}
			return err
		},
	}
	err := parallel.Each(ctx, len(parts), nil, func() func(int) error { return func(i int) error { return parts[i]() } })
	if err == nil {
		err = l.readGateNotes()
	}
	if err != nil {
		if l.board != nil {
			l.board.Close()
		}
		return nil, err
	}
	l.records = list.Records
	if n := len(l.entries); n > 0 {
		l.line = l.entries[n-1].Number
	}
	return l, nil
}

// readGateNotes reads what the judges noted.
func (l *snapshot) readGateNotes() error {
	gates, err := l.run.Gates()
	if err != nil {
		return err
	}
	for _, g := range l.gates.Gates {
		l.gateNotes[g.GateID] = gates.Gate(g.GateID).Get("notes").Str()
	}
	return nil
}

// stampOf is a stamp of the state of a run: every write ends with a line in the
// log; the other files count because a person may edit them by hand, and the process
// that drives it because it may die without a word. While something is being written
// it is empty.
func stampOf(r *run.Run) string {
	var b strings.Builder
	if r.Folder().Pending() {
		return ""
	}
	fmt.Fprintf(&b, "%t ", driven(r.Folder()))
	files := r.Folder().FS()
	layout := r.Layout()
	for _, name := range []string{run.LogFile, run.ManifestFile, run.PolicyFile, layout.Gates, layout.Citations, layout.Perspectives, layout.Synthesis()} {
		if info, err := fs.Stat(files, name); err == nil {
			fmt.Fprintf(&b, "%d.%d ", info.Size(), info.ModTime().UnixNano())
		} else {
			b.WriteString("- ")
		}
	}
	return b.String()
}

// driven reports whether a process drives the run of a folder at this moment.
func driven(folder *artifact.Folder) bool {
	_, held, err := folder.Claimed(run.HomeFile)
	return held && err == nil
}

// readReport compares the claims of the run's report with the archive, once.
func (l *snapshot) readReport(ctx context.Context, version string) (reporting.Reported, error) {
	l.reportOnce.Do(func() {
		l.report, l.reportErr = reporting.ReadReport(context.WithoutCancel(ctx), l.run, true, "tidegate "+version)
	})
	return l.report, l.reportErr
}
