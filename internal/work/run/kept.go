package run

import (
	"io"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// ArchiveFile is where a run keeps the pages that were fetched for it.
const ArchiveFile = "evidence/archive.warc.gz"

// kept is a record that, by a line of the log, was added to a file that only grows.
type kept struct {
	file           string
	offset, length int64
	digest         string
	line           int
}

// keptRecords checks that the records of the archive are there as they were
// added, and that it holds nothing else. However many differ, each file is
// one finding.
func (v *verifier) keptRecords() {
	byFile := map[string][]kept{}
	var files []string
	if there, err := v.run.folder.Exists(ArchiveFile); err == nil && there {
		files, byFile[ArchiveFile] = []string{ArchiveFile}, []kept{} // also where no line names it
	}
	for _, k := range v.recorded.kept {
		if byFile[k.file] == nil {
			files = append(files, k.file)
		}
		byFile[k.file] = append(byFile[k.file], k)
	}
	for _, name := range files {
		records := byFile[name]
		v.out.Checked = append(v.out.Checked, name)
		lost, unnamed := v.compare(name, records)
		if len(lost) > 0 {
			v.find("error", "record-missing", name, 0, "of %s that the log names %d are not there as they were added, the first of line %d",
				report.Counted(len(records), "record"), len(lost), lost[0].line)
		}
		if unnamed > 0 {
			v.find("note", "record-unnamed", name, 0, "the log names all of the file but %s, which count for nothing", report.Counted(int(unnamed), "byte"))
		}
	}
}

// compare returns the records that a file lacks, and how many of its bytes belong
// to no record.
func (v *verifier) compare(name string, records []kept) (lost []kept, unnamed int64) {
	file, err := v.run.folder.Open(name)
	if err != nil {
		return records, 0
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return records, 0
	}
	unnamed = info.Size()
	for _, k := range records {
		unnamed -= k.length
	}
	return missing(file, records), unnamed
}

// missing are the records that a file does not have at their places.
func missing(file io.ReaderAt, records []kept) (lost []kept) {
	for _, k := range records {
		if digest, err := codec.DigestReader(io.NewSectionReader(file, k.offset, k.length)); err != nil || digest != k.digest {
			lost = append(lost, k)
		}
	}
	return lost
}
