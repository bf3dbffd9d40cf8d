package artifact

import (
	"os"

	"golang.org/x/sys/windows"
)

// hasOtherName reports whether an open file has more than one name.
func hasOtherName(f *os.File) (bool, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return false, err
	}
	return info.NumberOfLinks > 1, nil
}
