package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/report"
)

// diskFindings tries in a scratch folder inside dir what a run relies on, with
// the code that a run uses.
func diskFindings(ctx context.Context, now func() time.Time, dir string) []finding {
	tell := func(what string, err error, good string) finding {
		if err != nil {
			return finding{"Runs", what, err.Error(), report.Fail}
		}
		return finding{"Runs", what, good, report.Pass}
	}
	scratch, err := os.MkdirTemp(dir, ".tidegate-doctor-")
	if err != nil {
		return []finding{tell("writable", fmt.Errorf("no: %w; TIDEGATE_HOME names another folder", err), "")}
	}
	defer os.RemoveAll(scratch)
	list := []finding{tell("writable", nil, "yes")}
	folder, err := artifact.Everywhere.Open("folder", scratch)
	if err != nil {
		return append(list, tell("opened", err, ""))
	}
	defer folder.Close()
	list = append(list,
		tell("durable writes", tryReplace(folder), "a file is replaced whole, and synced"),
		tell("locks", tryLock(ctx, now, folder, scratch), "a second process has to wait"))
	if sameFile(scratch) {
		list = append(list, finding{"Runs", "file names", "letter case does not matter here: ids must differ in more", report.Warn})
	}
	return list
}

func tryReplace(folder *artifact.Folder) error {
	for _, text := range []string{"before", "after"} {
		if err := folder.Write("probe", []byte(text)); err != nil {
			return err
		}
	}
	if data, err := folder.Read("probe"); err != nil || string(data) != "after" {
		return fmt.Errorf("a replaced file reads %q: %w", data, err)
	}
	return nil
}

// lockPatience is how long a second lock is tried before it counts as refused.
const lockPatience = 100 * time.Millisecond

func tryLock(ctx context.Context, now func() time.Time, first *artifact.Folder, path string) error {
	held, err := first.Lock(ctx, now)
	if err != nil {
		return err
	}
	defer held.Unlock()
	second, err := artifact.Everywhere.Open("folder", path)
	if err != nil {
		return err
	}
	defer second.Close()
	patience, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	also, err := second.Lock(patience, now)
	switch code := tidegate.CodeOf(err); {
	case err == nil:
		also.Unlock()
		return fmt.Errorf("two processes can hold the same lock: this file system is not fit for runs")
	case code == tidegate.LockHeld || code == tidegate.Cancelled:
		return nil
	}
	return err
}

// sameFile reports whether names that differ only in letter case are one file.
func sameFile(folder string) bool {
	name := filepath.Join(folder, "Case")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		return false
	}
	_, err := os.Stat(filepath.Join(folder, strings.ToLower("Case")))
	return err == nil
}

// keeps says what the entries of a home are.
var keeps = map[string]string{
	"runs": "runs, with their reports, pages and logs", "audits": "audits", "answers": "answers to further questions", "updates": "updates",
	"index": "the index of the search, which is made again", "serve.json": "the token of the pages", "work.json": "what pages spent", "users.json": "who is let in",
}

// keptHere lists what tidegate keeps on this machine for the person.
func keptHere(env *catalog.Env) report.Report {
	r := report.Report{Name: "doctor", Title: "What tidegate keeps here", Status: report.Pass}
	table := report.NewTable("Kind", ">Bytes", "Path")
	const foreign = "not of tidegate"
	var sum int64
	list := func(path, kind string) {
		if bytes, there := bytesIn(path); there {
			if kind != foreign {
				sum += bytes
			}
			table.Row(report.None, kind, bytes, path)
		}
	}
	if env.Home != "" {
		home := filepath.Dir(env.Home)
		entries, _ := os.ReadDir(home) // what cannot be read is not listed
		for _, e := range entries {
			list(filepath.Join(home, e.Name()), cmp.Or(keeps[e.Name()], foreign))
		}
	}
	if env.ConfigDir != "" {
		list(env.ConfigDir, "your configuration, and which files of projects you trust")
	}
	demos, _ := filepath.Glob(filepath.Join(os.TempDir(), demoFolder+"*")) // the pattern has no fault
	for _, path := range demos {
		if path != filepath.Dir(env.Home) { // whose files are listed already
			list(path, "a demo, which you may remove")
		}
	}
	r.Add(table)
	r.Summary = fmt.Sprintf("%d bytes in %s; nothing was removed", sum, report.Counted(len(table.Rows), "place"))
	return r
}

// bytesIn is the size of the files at and below a path, without following links.
func bytesIn(path string) (sum int64, there bool) {
	err := filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return err
	})
	return sum, err == nil || !errors.Is(err, fs.ErrNotExist)
}
