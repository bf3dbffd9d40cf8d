package wave

import (
	"context"
	"io/fs"
	"os"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
)

// replacedByReport is the file that the report will replace, nil when there is
// none. It must be nothing that is judged, by whatever name: perspectives.json is
// refused here, and the outputs are compared with it as they are opened.
func replacedByReport(ctx context.Context, req ReviewInput) (fs.FileInfo, error) {
	if req.ReportPath == "" {
		return nil, nil
	}
	replaced := fileInfo(ctx, "report_path", req.ReportPath)
	if isSame(replaced, fileInfo(ctx, "perspectives_path", req.PerspectivesPath)) {
		return nil, reportReplacesInput(req)
	}
	return replaced, nil
}

// CheckReportPath returns INVALID_ARGS when the report would replace something
// that the review reads.
func CheckReportPath(ctx context.Context, req ReviewInput) error {
	_, err := replacedByReport(ctx, req)
	return err
}

// fileInfo is nil for what cannot be opened: the code that reads or writes
// the file says why.
func fileInfo(ctx context.Context, arg, path string) fs.FileInfo {
	file, err := artifact.OpenFile(ctx, arg, path)
	if err != nil {
		return nil
	}
	defer file.Close()
	return infoOf(file)
}

func infoOf(file *os.File) fs.FileInfo {
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	return info
}

func isSame(a, b fs.FileInfo) bool { return a != nil && b != nil && os.SameFile(a, b) }

func reportReplacesInput(req ReviewInput) error {
	return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("report_path", tidegate.Cut(req.ReportPath)),
		"report_path must not be one of the files that the review reads")
}
