package sandbox

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
)

// Folder is the folder of an attempt. It lies among the temporary files, outside
// every run and every root, and nothing in it outlives the attempt, so it is
// made and removed here and not by package artifact.
//
//	work/    where the agent works, empty at first
//	tmp/     its temporary files
//	home/    its home, with a copy of its login; unused without a cell
//	tree     a link to the tree of its task
//	claim    held while this program lives, so that [Sweep] knows; no agent in a cell can
//	         open it, and so hold it in the place of a program that is gone
//	prompt   its standard input
//	relay    where the tools of the home are
//	stdout, stderr
//
// Clients put their configuration beside these.
type Folder struct {
	Root  *os.Root
	claim *artifact.Claim
	path  string
	Key   string // the key that makes another folder at the same path
	// confined says that the agent is in a cell.
	Confined bool
}

// writable are the folders of an attempt that its agent may write in.
var writable = []string{"work", "tmp", "home"}

// readable are the files beside them that it may read: what it is asked, and how its client
// is set up.
var readable = []string{"prompt", "input", relayFile, "mcp.json", "policy.toml", "config"}

const (
	folderPrefix = "tidegate-"
	claimName    = artifact.ScratchClaim
)

// makeFolder makes a folder below temp: at the place that had key before, for a
// client whose sessions belong to a path, or anywhere.
func makeFolder(temp, key string) (*Folder, error) {
	var path string
	var err error
	if key == "" {
		path, err = os.MkdirTemp(temp, folderPrefix+"*")
	} else {
		path = filepath.Join(temp, folderPrefix+key)
		err = os.Mkdir(path, 0o700)
	}
	if err != nil {
		return nil, err
	}
	f := &Folder{path: path, Key: strings.TrimPrefix(filepath.Base(path), folderPrefix)}
	if f.Root, err = os.OpenRoot(path); err != nil {
		removeTree(path)
		return nil, err
	}
	if f.claim, err = artifact.ClaimScratch(path); err == nil {
		for _, name := range writable {
			err = cmp.Or(err, f.Root.Mkdir(name, 0o700))
		}
	}
	if err != nil {
		f.remove()
		return nil, err
	}
	return f, nil
}

// folders are the folders that a driver keeps for repairs.
type folders struct {
	mu   sync.Mutex
	kept map[string]*Folder // by key
}

// keep keeps a folder until it is taken or forgotten.
func (k *folders) keep(f *Folder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kept == nil {
		k.kept = map[string]*Folder{}
	}
	k.kept[f.Key] = f
}

// take takes the folder that was kept for key; nil where there is none.
func (k *folders) take(key string) *Folder {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.kept[key]
	delete(k.kept, key)
	return f
}

// Forget removes the folder that was kept for a session, or all of them where it
// names none.
func (m Machine) Forget(session string) {
	k := m.folders
	key, _, _ := strings.Cut(session, "/")
	if key != "" {
		if f := k.take(key); f != nil {
			f.remove()
		}
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, f := range k.kept {
		f.remove()
	}
	clear(k.kept)
}

// scratchKinds are the kinds of temporary folders beside those of attempts: those of
// [artifact.Scratch].
var scratchKinds = []string{"worktree-", "index-", "tree-", "replica-", "recorded-", "canary-", "edit-"}

// Sweep ends what killed programs have left below temp, and removes their folders;
// empty: those among the system's temporary files. One whose program lives stays, and
// so does one in which a person is at work, such as in an editor.
func Sweep(temp string) {
	if temp == "" {
		temp = os.TempDir()
	}
	above, err := os.OpenRoot(temp)
	if err != nil {
		return
	}
	defer above.Close()
	entries, _ := os.ReadDir(temp)
	for _, entry := range entries {
		key, ours := strings.CutPrefix(entry.Name(), folderPrefix)
		for _, kind := range scratchKinds {
			key = strings.TrimPrefix(key, kind)
		}
		if _, err := strconv.ParseUint(key, 10, 64); !ours || err != nil || !entry.IsDir() {
			continue
		}
		path := filepath.Join(temp, entry.Name())
		// An agent may have taken the right to look at them from itself, and so from us.
		above.Chmod(entry.Name(), 0o700)
		above.Chmod(filepath.Join(entry.Name(), claimName), 0o600)
		since, err := artifact.ScratchSince(path)
		if err != nil || since.IsZero() && isYoung(above, filepath.Join(entry.Name(), claimName)) {
			continue // it is just being made
		}
		if held, err := artifact.ClaimScratch(path); err == nil {
			if endLeft(path, since) {
				removeClaimed(path, held)
			} else {
				held.Release()
			}
		}
	}
}

// makingTime is how long a folder may take from its making to its claim.
const makingTime = time.Minute

// isYoung reports whether a file was written within that time.
func isYoung(above *os.Root, name string) bool {
	info, err := above.Lstat(name)
	return err == nil && time.Since(info.ModTime()) < makingTime
}

// InFolder calls do with the folder of an attempt at task. A first answer that has a
// session may be repaired: its folder is kept, and the repair finds in it what the
// agent left. In all other cases the folder is gone afterwards. Where nothing was
// kept for key, because another program had the attempt, the folder is made at the
// place that had it. The task that do gets has its Folder and the arguments of its
// servers filled in.
func (m Machine) InFolder(key string, task driver.Task, do func(*Folder, driver.Task) (driver.Answer, error)) (answer driver.Answer, err error) {
	f, err := m.folderFor(key)
	if err != nil {
		return driver.Answer{}, &driver.Error{Kind: driver.Unavailable, Message: "no folder can be made for the attempt: " + err.Error(), SessionGone: key != ""}
	}
	defer func() {
		if err == nil && answer.Session != "" && task.Turn == 1 {
			m.folders.keep(f)
		} else {
			f.remove()
		}
	}()
	f.Confined = !m.Unconfined
	if task.Folder == "" {
		task.Folder = f.In("work")
	}
	if !exists(task.Tree) {
		task.Tree = ""
	}
	if task.Tree != "" {
		if err := f.Root.Symlink(task.Tree, "tree"); err != nil {
			return driver.Answer{}, driver.Failf(driver.Unavailable, "the attempt's folder cannot be made: %v", err)
		}
	}
	task.Tools.MCP = slices.Clone(task.Tools.MCP)
	for i, server := range task.Tools.MCP {
		task.Tools.MCP[i].Args = slices.Clone(server.Args)
		for j, arg := range server.Args {
			if arg == RelayArg {
				task.Tools.MCP[i].Args[j] = f.In(relayFile)
			}
		}
	}
	return do(f, task)
}

// folderFor is the folder that was kept for key, or a fresh one. One in which an
// agent has left no folder to work in is made afresh, too.
func (m Machine) folderFor(key string) (*Folder, error) {
	if f := m.folders.take(key); f != nil {
		if err := f.tidy(); err == nil {
			return f, nil
		}
		f.remove()
	}
	return makeFolder(m.Temp, key)
}

// tidy prepares a folder for the agent's second turn. What the agent wrote stays,
// except where a client could take it for a part of its configuration, and with
// it for more rights than its task has. Everything but the writable is ours, and
// is written again.
func (f *Folder) tidy() error {
	at, err := os.Lstat(f.path)
	if err != nil {
		return err
	}
	opened, err := f.Root.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(at, opened) {
		return fmt.Errorf("%s is another folder", f.path)
	}
	for _, name := range writable {
		if info, err := f.Root.Lstat(name); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is not a folder", f.In(name))
		}
	}
	if err := f.removeFrom(".", func(name string) bool { return !slices.Contains(writable, name) && name != claimName }); err != nil {
		return err
	}
	return f.removeFrom("work", configures)
}

// removeFrom removes from a folder in f what has one of these names.
func (f *Folder) removeFrom(dir string, these func(name string) bool) error {
	entries, err := fs.ReadDir(f.Root.FS(), dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if !these(entry.Name()) {
			continue
		}
		name := filepath.Join(dir, entry.Name())
		if entry.IsDir() {
			if inside, err := f.Root.OpenRoot(name); err == nil {
				flatten(inside)
				inside.Close()
			}
		}
		if err := f.Root.RemoveAll(name); err != nil {
			return err
		}
	}
	return nil
}

// configures reports whether clients look for their configuration under this name in
// the folder that they work in.
func configures(name string) bool { return strings.HasPrefix(name, ".") || config.Configures(name) }

// Owns reports whether the agent works in f.
func (f *Folder) Owns(task driver.Task) bool { return task.Folder == f.In("work") }

// variables are those by which an agent keeps its temporary files in f.
func (f *Folder) variables() []string {
	return []string{"TMPDIR=" + f.In("tmp"), "TMP=" + f.In("tmp"), "TEMP=" + f.In("tmp")}
}

// paths are those of files and folders in f.
func (f *Folder) paths(names []string) []string {
	var list []string
	for _, name := range names {
		list = append(list, f.In(name))
	}
	return list
}

// In is the path of a file or folder in f.
func (f *Folder) In(name string) string { return filepath.Join(f.path, name) }

// Write writes a file, with the folders above it, in the place of what an agent may
// have left under its name.
func (f *Folder) Write(name string, data []byte) error {
	if err := f.Root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if err := f.Root.RemoveAll(name); err != nil {
		return err
	}
	file, err := f.Root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// output makes a file that a program writes to, and opens it a second time for
// the one that follows it.
func (f *Folder) output(name string) (write, read *os.File, err error) {
	// O_APPEND keeps what several processes write from covering each other.
	if write, err = f.Root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, nil, err
	}
	if read, err = f.Root.Open(name); err != nil {
		write.Close()
		return nil, nil, err
	}
	return write, read, nil
}

func (f *Folder) remove() error {
	defer f.Root.Close()
	if f.claim == nil {
		return removeTree(f.path)
	}
	return removeClaimed(f.path, f.claim)
}

// removeClaimed removes a folder, and gives up its claim only when nothing else is left
// in it: a [Sweep] ends those who have anything open in a folder that nobody claims.
func removeClaimed(path string, held *artifact.Claim) error {
	entries, _ := os.ReadDir(path)
	for _, entry := range entries {
		if entry.Name() == claimName {
			continue
		}
		// Most are files or empty.
		if each := filepath.Join(path, entry.Name()); os.Remove(each) != nil {
			removeTree(each)
		}
	}
	held.Release()
	os.Remove(filepath.Join(path, claimName))
	if os.Remove(path) == nil {
		return nil
	}
	return removeTree(path)
}

// removeTree removes a folder, even one in which an agent took away its own right to do
// so, or that it made deeper than this program can have files open. A link in its place
// is removed and not followed.
func removeTree(path string) error {
	above, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return os.RemoveAll(path)
	}
	defer above.Close()
	// Through the folder above, so that a link leads nowhere else.
	if info, err := above.Lstat(filepath.Base(path)); err == nil && info.IsDir() {
		above.Chmod(filepath.Base(path), 0o700)
		if root, err := above.OpenRoot(filepath.Base(path)); err == nil {
			flatten(root)
			root.Close()
		}
	}
	return os.RemoveAll(path)
}

// deepest is how many folders may lie in one another before the next is moved up.
const deepest = 16

// flatten makes every folder below root one that can be read and removed, and none of
// them deep: to remove a folder takes an open file for each that it lies in, and its
// whole path each time.
func flatten(root *os.Root) {
	moved := []string{"."}
	var walk func(dir string, depth int)
	walk = func(dir string, depth int) {
		entries, _ := fs.ReadDir(root.FS(), dir)
		for _, entry := range entries {
			if !entry.IsDir() {
				continue
			}
			at := filepath.Join(dir, entry.Name())
			root.Chmod(at, 0o700)
			if depth < deepest {
				walk(at, depth+1)
				continue
			}
			name := fmt.Sprintf("tidegate-deep-%d", len(moved))
			if root.Rename(at, name) == nil {
				moved = append(moved, name)
			}
		}
	}
	for i := 0; i < len(moved); i++ {
		walk(moved[i], 0)
	}
}

// tail is the end of a file, at most size bytes.
func tail(file *os.File, size int64) string {
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	text, _ := io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-size), size))
	return strings.ToValidUTF8(string(text), "\uFFFD")
}

// exists reports whether something lies at a path.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// firstLine is what stands behind #! in the first line of a file.
func firstLine(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	line, _ := bufio.NewReaderSize(file, 512).ReadSlice('\n')
	text, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return ""
	}
	return string(text)
}

// maskFiles puts [link.SecretMask] in the place of every secret in the folder of a task,
// where that outlives the attempt: in files, in their names, and in what links say. It
// returns in how many it stood. What cannot be read here, nobody commits either.
func maskFiles(f *Folder, task driver.Task, secrets []string) (masked int, err error) {
	if len(secrets) == 0 || task.Folder == "" || f.Owns(task) {
		return 0, nil
	}
	root, err := os.OpenRoot(task.Folder)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	return maskIn(root, ".", secrets)
}

// cached are the folders in the home of an attempt in which tools keep what they compiled or
// fetched, and no settings.
func cached() (list []string) {
	for _, line := range common()["own"] {
		_, folder, _ := strings.Cut(line, " ")
		if top, _, _ := strings.Cut(folder, "/"); top != ".config" && top != ".local" {
			list = append(list, top)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// toolchain tells apart machines whose tools would not take each other's caches: by the
// programs that are found, and the folders of the person's that hold others.
func (m Machine) toolchain() string {
	list := m.kept()
	for _, name := range common()["toolchain"] {
		path, err := Find(m.Environ, name)
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err == nil {
			list = append(list, fmt.Sprint(path, info.Size(), info.ModTime().UnixNano()))
		}
	}
	return strings.TrimPrefix(codec.Digest(list), "sha256:")[:16]
}

// takeCaches gives tests in f a copy of what the tests of the base kept. Without it they take
// longer, and nothing else.
func (m Machine) takeCaches(f *Folder, t Tests) {
	if t.Caches == "" || m.Unconfined {
		return
	}
	if kept, err := os.OpenRoot(filepath.Join(t.Caches, m.toolchain())); err == nil {
		defer kept.Close()
		if os.CopyFS(f.In("home"), kept.FS()) != nil {
			f.removeFrom("home", func(string) bool { return true })
		}
	}
}

// keepCaches keeps what the tests of a base cached, in the place of what those of other bases
// of the project did.
func (m Machine) keepCaches(f *Folder, t Tests) {
	if !t.FillsCaches || t.Caches == "" || m.Unconfined || os.MkdirAll(t.Caches, 0o700) != nil {
		return
	}
	made, err := os.MkdirTemp(t.Caches, "new-")
	if err != nil {
		return
	}
	defer removeTree(made)
	for _, name := range cached() {
		from, err := f.Root.OpenRoot(filepath.Join("home", name))
		if err != nil {
			continue
		}
		err = os.CopyFS(filepath.Join(made, name), from.FS())
		from.Close()
		if err != nil {
			return
		}
	}
	place := filepath.Join(t.Caches, m.toolchain())
	removeTree(place)
	if os.Rename(made, place) != nil {
		return
	}
	others, _ := os.ReadDir(filepath.Dir(t.Caches))
	for _, other := range others {
		if other.Name() != filepath.Base(t.Caches) {
			removeTree(filepath.Join(filepath.Dir(t.Caches), other.Name()))
		}
	}
}
