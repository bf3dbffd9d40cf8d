package artifact

import (
	"os"
	"sync"
)

const (
	// fewFiles is the largest number of files that are synced one by one. Above it,
	// one sync of the file system is cheaper where the system has it.
	fewFiles = 32
	// maxSyncs is how many files are synced at the same time.
	maxSyncs = 16
)

// syncer syncs files at the same time: a file system makes several durable in
// little more time than one.
type syncer struct {
	group sync.WaitGroup
	slots chan struct{}
	mu    sync.Mutex
	err   error
}

// start syncs f by the function given and closes it, in the background.
func (s *syncer) start(f *os.File, sync func(*os.File) error) {
	s.run(func() error {
		err := sync(f)
		if closed := f.Close(); err == nil {
			err = closed
		}
		return err
	})
}

// run does one thing in the background.
func (s *syncer) run(do func() error) {
	if s.slots == nil {
		s.slots = make(chan struct{}, maxSyncs)
	}
	s.slots <- struct{}{}
	s.group.Go(func() {
		defer func() { <-s.slots }()
		if err := do(); err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.err = err
		}
	})
}

// wait waits for all of them and returns an error when one failed.
func (s *syncer) wait() error {
	s.group.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// syncFolder makes the names in a folder durable.
func syncFolder(root *os.Root, dir string) error {
	f, err := root.OpenFile(dir, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return syncNames(f)
}

// syncFolders makes the names in several folders durable.
func syncFolders(root *os.Root, dirs []string) error {
	if canSyncAll && len(dirs) > fewFiles {
		f, err := root.Open(".")
		if err != nil {
			return err
		}
		defer f.Close()
		return syncAll(f)
	}
	var syncs syncer
	for _, dir := range dirs {
		f, err := root.OpenFile(dir, os.O_RDONLY|nonblock, 0)
		if err != nil {
			syncs.wait()
			return err
		}
		syncs.start(f, syncNames)
	}
	return syncs.wait()
}

// syncPath makes the names in the folder at a path durable.
func syncPath(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return syncNames(f)
}
