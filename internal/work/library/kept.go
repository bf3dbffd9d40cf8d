package library

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// resultFile is the result of what is kept, and aboutFile says what it is about.
const (
	resultFile = "result.json"
	aboutFile  = "about.json"
)

// about is aboutFile: what a kept folder is bound to.
type about struct {
	SchemaVersion string    `json:"schema_version"`
	ID            string    `json:"id"`
	CreatedAt     string    `json:"created_at"`
	Program       string    `json:"program"`
	Of            []Subject `json:"of"`
}

// file is a file of a kept folder.
type file struct {
	name string
	data []byte
}

// recordsPerLine keeps the lines about a large batch short enough for the log.
const recordsPerLine = 500

// keep makes a folder under home that holds what a result follows from and the result, in
// the form of audits: about, files, archive, log, result. It appears whole or not at all.
// Result is the document of the result under the id of the folder.
func keep(desk run.Desk, home, schema string, of []Subject, files []file, fetched []*archive.Packed, result func(id, path string) ([]byte, error)) error {
	stamp := desk.Stamp()
	var records []archive.Ref
	if len(fetched) > 0 {
		data, laid := archive.Lay(0, fetched...)
		files = append(files, file{run.ArchiveFile, data})
		for _, entry := range laid {
			records = append(records, entry.Records...)
		}
	}
	for n := byte(0); ; n++ {
		seed := []byte(stamp)
		for _, s := range of {
			seed = append(seed, s.ID+s.Head...)
		}
		sum := sha256.Sum256(append(seed, n))
		id := stamp[:len("2006-01-02")] + "-" + hex.EncodeToString(sum[:3])
		path := filepath.Join(home, id)
		document, err := result(id, path)
		if err != nil {
			return err
		}
		of, err := codec.MarshalFile(about{schema, id, stamp, desk.Program, of})
		if err != nil {
			return err
		}
		err = desk.Reach.CreateFolder("home", path, func(d *artifact.Draft) error {
			line := func(event string, more tidegate.Details) error {
				out := tidegate.Pairs("ts", stamp, "event", event)
				if desk.Pinned {
					out = append(out, tidegate.Detail{Key: "clock", Value: "pinned"})
				}
				return d.Record(run.AuditFile, append(out, more...))
			}
			digests := tidegate.Details{}
			for _, f := range append([]file{{aboutFile, of}}, files...) {
				if err := d.Write(f.name, f.data); err != nil {
					return err
				}
				if f.name != run.ArchiveFile { // its records are named below
					digests = append(digests, tidegate.Detail{Key: f.name, Value: codec.DigestBytes(f.data)})
				}
			}
			if err := d.Write(resultFile, document); err != nil {
				return err
			}
			if err := line("created", tidegate.Pairs("program", desk.Program, "files", digests)); err != nil {
				return err
			}
			for part := range slices.Chunk(records, recordsPerLine) {
				if err := line("fetched", tidegate.Pairs("archive", run.ArchiveFile, "records", part)); err != nil {
					return err
				}
			}
			return line("judged", tidegate.Pairs("files", tidegate.Pairs(resultFile, codec.DigestBytes(document))))
		})
		if tidegate.CodeOf(err) == tidegate.AlreadyExistsConflict && n < 255 {
			continue // the same at the same time
		}
		return err
	}
}
