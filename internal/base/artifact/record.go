package artifact

import (
	"bytes"
	"encoding/json"
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
	Schema  string      `json:"schema_version"`
	Folders []string    `json:"folders"` // that do not exist before, the outermost first
	Changes []change    `json:"changes"`
	Logs    []*appendix `json:"logs"`
}

func (r *record) addFolders(dirs []string) {
	for _, dir := range dirs {
		if !slices.Contains(r.Folders, dir) {
			r.Folders = append(r.Folders, dir)
		}
	}
}

// recorded lists those logs whose lines are part of the transaction.
func (r record) recorded() []*appendix {
	return slices.DeleteFunc(slices.Clone(r.Logs), func(a *appendix) bool { return !a.Recorded })
}

// needsStaging reports whether the transaction does more than add lines to one
// log. A log that has a head can be added to without a record: a line is either
// there or not, and the head follows it.
func (r record) needsStaging() bool {
	recorded := r.recorded()
	return len(r.Changes) > 0 || len(recorded) > 1 || len(recorded) == 1 && len(recorded[0].Head) == 0
}

func (r record) encode() ([]byte, error) {
	r.Schema = recordSchema
	line, err := codec.MarshalLine(r)
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
	var r record
	if err := json.Unmarshal(line, &r); err != nil || r.Schema != recordSchema {
		return record{}, false, errUnknownRecord
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
	for _, dir := range r.Folders {
		seen[dir] = undone
	}
	add := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range r.Folders {
		add(path.Dir(dir))
	}
	for _, c := range r.Changes {
		add(path.Dir(c.Target))
	}
	return f.place(".").unwritable(syncFolders(f.root, dirs))
}
