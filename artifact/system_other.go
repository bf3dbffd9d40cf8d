//go:build !linux

package artifact

import (
	"errors"
	"os"
)

const canSyncAll = false

func syncAll(*os.File) error { return errors.ErrUnsupported }
