package artifact

import (
	"errors"
	"io"
	"os"
	"slices"
)

// LastLine reads the last whole line of a log, whatever its length, without the
// lines before it. It returns the zero Line for a log that does not exist or has no
// whole line. Its Number is unknown and 0. It returns READ_FAILED.
func (f *Folder) LastLine(name string) (Line, error) {
	file, err := f.Open(name)
	if err != nil {
		return Line{}, UnlessMissing(err)
	}
	defer file.Close()
	line, err := lastLine(file)
	if err != nil {
		return Line{}, f.place(name).unreadable(err)
	}
	return line, nil
}

func lastLine(file *os.File) (Line, error) {
	info, err := file.Stat()
	if err != nil {
		return Line{}, err
	}
	for end := info.Size(); end > 0; {
		start, err := startOfLastLine(file, end)
		if err != nil {
			return Line{}, err
		}
		line, err := scanFrom(file, start, end).next()
		if err != nil && !errors.Is(err, io.EOF) {
			return Line{}, err
		}
		if !line.Torn {
			line.Number, line.Text = 0, slices.Clone(line.Text)
			return line, nil
		}
		end = start
	}
	return Line{}, nil
}
