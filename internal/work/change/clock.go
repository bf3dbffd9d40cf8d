package change

import "time"

// Clock gives the time to everything that writes one down. Pinned says that it was
// fixed by the caller; log lines written under it carry "clock":"pinned".
type Clock struct {
	Now    func() time.Time
	Pinned bool
}
