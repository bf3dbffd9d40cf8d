package artifact

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// A claim can happen at the same moment as a look by [Folder.Claimed]. So it asks
// again for this long before it says that another process holds it. When a process is
// killed while it starts another, that one keeps its lock until it runs; so for a
// holder that is dead a claim waits longer.
const (
	claimTries = 20
	deadTries  = 2000
	claimPause = time.Millisecond
)

// maxClaim is how much of the note of a claim is read.
const maxClaim = 64 << 10

// Claim is the hold of one process on a folder for as long as it works there.
// It differs from the lock of the folder: it says who is at work, and keeps out
// only others who claim it by the same name.
type Claim struct {
	file  *os.File
	noted int // bytes of the note
}

// Claim takes the claim name of the folder at once, or returns LOCK_HELD with
// the note of its holder in the details. Where the note has host and process, it is
// known whether its holder still lives. The claim ends with [Claim.Release] or
// with the process. It returns WRITE_FAILED when the file cannot be locked.
func (f *Folder) Claim(name string, note tidegate.Details) (*Claim, error) {
	local, err := f.local(name)
	if err != nil {
		return nil, err
	}
	file, err := openRegular(f.root, local, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, f.place(name).unwritable(err)
	}
	dead := isDead(noteOf(file))
	for try := 1; try <= claimTries || dead && try <= deadTries; try++ {
		locked, err := tryLock(file)
		if err != nil {
			file.Close()
			return nil, f.place(name).unwritable(err)
		}
		if locked {
			c := &Claim{file: file}
			err := file.Truncate(0) // the note of a killed process
			if err == nil {
				err = c.Note(note)
			}
			if err != nil {
				c.Release()
				return nil, f.place(name).unwritable(err)
			}
			return c, nil
		}
		time.Sleep(claimPause)
	}
	defer file.Close()
	holder := noteOf(file)
	return nil, tidegate.Errorf(tidegate.LockHeld, append(f.place(name).details(), holder...), "another process is at work here%s: %s", inWords(holder), f.Path())
}

// isDead reports whether the holder of a claim was a process of this machine that
// has ended.
func isDead(holder tidegate.Details) bool {
	host, _ := holder.Get("host")
	process, _ := holder.Get("process")
	name, _ := host.(*codec.Value)
	number, _ := process.(*codec.Value)
	pid, ok := number.Int()
	if here, err := os.Hostname(); err != nil || name.Str() != here || !ok {
		return false
	}
	p, err := os.FindProcess(int(pid))
	return err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// Release ends the claim. A second call does nothing.
func (c *Claim) Release() {
	if c.file == nil {
		return
	}
	c.file.Truncate(0)
	unlock(c.file)
	c.file.Close()
	c.file = nil
}

// Note replaces what the holder says, in one write: the rest of a longer note
// before it is blanked out.
func (c *Claim) Note(note tidegate.Details) error {
	data, err := codec.MarshalLine(note)
	if err != nil {
		return err
	}
	size := len(data)
	for len(data) < c.noted {
		data = append(data, ' ')
	}
	c.noted = size
	_, err = c.file.WriteAt(append(data, '\n'), 0)
	return err
}

// Claimed reports whether a living process holds the claim name of the folder,
// with its note. It does not take the claim. It returns READ_FAILED.
func (f *Folder) Claimed(name string) (holder tidegate.Details, held bool, err error) {
	local, err := f.local(name)
	if err != nil {
		return nil, false, err
	}
	file, err := openRegular(f.root, local, os.O_RDONLY) // the disk may be read-only
	if err != nil {
		err = f.place(name).unreadable(err)
		return nil, false, UnlessMissing(err)
	}
	defer file.Close()
	free, err := tryShare(file)
	if err != nil {
		return nil, false, f.place(name).unreadable(err)
	}
	if free {
		unlock(file)
		return nil, false, nil
	}
	return noteOf(file), true, nil
}

// noteOf reads what the holder of a claim says about itself; nothing, if it has not
// said it yet.
func noteOf(file *os.File) tidegate.Details {
	data, err := io.ReadAll(io.NewSectionReader(file, 0, maxClaim))
	if err != nil {
		return nil
	}
	doc, err := codec.Parse(data)
	if err != nil {
		return nil
	}
	var note tidegate.Details
	for _, m := range doc.Members() {
		note = append(note, tidegate.Detail{Key: m.Key, Value: m.Value})
	}
	return note
}

func inWords(holder tidegate.Details) string {
	text := ""
	for _, d := range holder {
		value, ok := d.Value.(*codec.Value)
		if !ok {
			continue
		}
		if line, err := codec.MarshalLine(value); err == nil {
			text += ", " + d.Key + " " + tidegate.Cut(string(line))
		}
	}
	return text
}
