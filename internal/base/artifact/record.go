package artifact

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path"
	"slices"

	"github.com/tidegate/tidegate/internal/base/codec"
)

const (
	recordName   = "record" // the changes are to be made
	undoName     = "undo"   // the same record: the changes are to be taken back
	recordSchema = "tidegate_commit.v1"
)

// record is the commit record of a transaction: names and digests, and what is
// needed to make the changes or to take them back. The file holds it as one
// line of JSON and a second line with the digest of the first, so that a part
// of a record is never mistaken for a record.
type record struct {
	folders []string // that do not exist before, the outermost first
	changes []change
	logs    []*appendix
}

func (r *record) addFolders(dirs []string) {
	for _, dir := range dirs {
		if !slices.Contains(r.folders, dir) {
			r.folders = append(r.folders, dir)
		}
	}
}

// recorded lists those logs whose lines are part of the transaction.
func (r record) recorded() []*appendix {
	return slices.DeleteFunc(slices.Clone(r.logs), func(a *appendix) bool { return !a.recorded })
}

// needsStaging reports whether the transaction does more than add lines to one
// log. A log that has a head can be added to without a record: a line is either
// there or not, and the head follows it.
func (r record) needsStaging() bool {
	recorded := r.recorded()
	return len(r.changes) > 0 || len(recorded) > 1 || len(recorded) == 1 && recorded[0].head == ""
}

type wireRecord struct {
	Schema  string       `json:"schema_version"`
	Folders []string     `json:"folders"`
	Changes []wireChange `json:"changes"`
	Logs    []wireLog    `json:"logs"`
}

type wireChange struct {
	Name     string `json:"name"`
	Digest   string `json:"digest"`
	Replaces bool   `json:"replaces"`
	Was      string `json:"was"`
}

type wireLog struct {
	Name     string   `json:"name"`
	From     int64    `json:"from"`
	Lines    []string `json:"lines"`
	Recorded bool     `json:"recorded"`
	Accepted bool     `json:"accepted"`
	New      bool     `json:"new"`
	Head     []byte   `json:"head"` // in base 64, because it may be anything
}

func (r record) encode() ([]byte, error) {
	wire := wireRecord{Schema: recordSchema, Folders: r.folders}
	for _, c := range r.changes {
		wire.Changes = append(wire.Changes, wireChange{c.target, c.digest, c.replaces, c.was})
	}
	for _, a := range r.logs {
		log := wireLog{Name: a.name, From: a.from, Recorded: a.recorded, Accepted: a.accepted, New: a.isNew, Head: []byte(a.head)}
		for _, line := range a.lines {
			log.Lines = append(log.Lines, string(line))
		}
		wire.Logs = append(wire.Logs, log)
	}
	line, err := codec.MarshalLine(wire)
	if err != nil {
		return nil, err
	}
	return append(append(line, '\n'), codec.DigestBytes(line)+"\n"...), nil
}

var errUnknownRecord = errors.New("an interrupted transaction has a record of an unknown kind")

// decodeRecord reads a record. It reports false for anything that is not a
// whole one, and fails for a whole one that it does not understand.
func decodeRecord(data []byte) (record, bool, error) {
	line, digest, _ := bytes.Cut(data, []byte("\n"))
	if string(digest) != codec.DigestBytes(line)+"\n" {
		return record{}, false, nil
	}
	v, err := codec.Parse(line)
	if err != nil || v.Get("schema_version").Str() != recordSchema {
		return record{}, false, errUnknownRecord
	}
	var r record
	for _, dir := range v.Get("folders").Elems() {
		r.folders = append(r.folders, dir.Str())
	}
	for _, c := range v.Get("changes").Elems() {
		r.changes = append(r.changes, change{c.Get("name").Str(), c.Get("digest").Str(), c.Get("replaces").Bool(), c.Get("was").Str()})
	}
	for _, log := range v.Get("logs").Elems() {
		a := &appendix{name: log.Get("name").Str(), recorded: log.Get("recorded").Bool(), accepted: log.Get("accepted").Bool(),
			isNew: log.Get("new").Bool()}
		a.from, _ = log.Get("from").Int()
		head, err := base64.StdEncoding.DecodeString(log.Get("head").Str())
		if err != nil {
			return record{}, false, errUnknownRecord
		}
		a.head = string(head)
		for _, line := range log.Get("lines").Elems() {
			a.lines = append(a.lines, []byte(line.Str()))
		}
		r.logs = append(r.logs, a)
	}
	return r, true, nil
}

// write writes the record and makes it durable together with the staged files,
// and the names of all of them. All means that there are too many files to be
// synced one by one.
func (r record) write(root *os.Root, staged []*os.File, all bool) error {
	var syncs syncer
	for _, f := range staged {
		syncs.start(f, (*os.File).Sync)
	}
	err := r.writeFile(root, &syncs, all)
	if synced := syncs.wait(); err == nil {
		err = synced
	}
	return err
}

func (r record) writeFile(root *os.Root, syncs *syncer, all bool) error {
	data, err := r.encode()
	if err != nil {
		return err
	}
	f, err := root.OpenFile(inStaging(recordName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if all {
		syncs.start(f, syncAll)
		return nil
	}
	syncs.start(f, (*os.File).Sync)
	return syncFolders(root, []string{stagingDir, "."})
}

// syncFolders makes the names that a record changes durable. After undoing, the
// folders that were made for it do not matter.
func (r record) syncFolders(f *Folder, undone bool) error {
	var dirs []string
	seen := map[string]bool{}
	for _, dir := range r.folders {
		seen[dir] = undone
	}
	add := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range r.folders {
		add(path.Dir(dir))
	}
	for _, c := range r.changes {
		add(path.Dir(c.target))
	}
	return f.place(".").unwritable(syncFolders(f.root, dirs))
}
