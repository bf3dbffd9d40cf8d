package run

import (
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/store"
)

// ArchiveFile is where a run keeps the pages that were fetched for it.
const ArchiveFile = store.ArchiveFile

// keptRecords checks that the records of the archive are there as they were
// added, and that it holds nothing else. However many differ, each file is
// one finding.
func (v *verifier) keptRecords() {
	byFile := map[string][]store.Added{}
	var files []string
	if there, err := v.run.folder.Exists(ArchiveFile); err == nil && there {
		files, byFile[ArchiveFile] = []string{ArchiveFile}, []store.Added{} // also where no line names it
	}
	for _, k := range v.recorded.kept {
		if byFile[k.File] == nil {
			files = append(files, k.File)
		}
		byFile[k.File] = append(byFile[k.File], k)
	}
	for _, name := range files {
		records := byFile[name]
		v.out.Checked = append(v.out.Checked, name)
		lost, unnamed := v.compare(name, records)
		if len(lost) > 0 {
			v.find("error", "record-missing", name, 0, "of %s that the log names %d are not there as they were added, the first of line %d",
				report.Counted(len(records), "record"), len(lost), lost[0].Line)
		}
		if unnamed > 0 {
			v.find("warning", "record-unnamed", name, 0, "the log names all of the file but %s, which count for nothing", report.Counted(int(unnamed), "byte"))
		}
	}
}

// compare returns the records that a file lacks, and how many of its bytes belong
// to no record.
func (v *verifier) compare(name string, records []store.Added) (lost []store.Added, unnamed int64) {
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
		unnamed -= k.Length
	}
	return store.Missing(file, records), unnamed
}
