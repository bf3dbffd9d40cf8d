package proof_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/test/scratch"
)

// diskCalls are the system calls that the disk of the tests knows. One that changes files
// and is not among them makes its files differ from the real ones, which is noticed.
var diskCalls = []string{"openat", "write", "pwrite64", "lseek", "fsync", "fdatasync", "syncfs", "renameat", "renameat2", "unlinkat", "mkdirat", "linkat", "ftruncate", "copy_file_range"}

// node is a file or a folder, as programs see it and as it is after a loss of power.
type node struct {
	folder        bool
	data, synced  []byte           // of a file
	names, stable map[string]*node // of a folder
}

func newFolder() *node {
	return &node{folder: true, names: map[string]*node{}, stable: map[string]*node{}}
}

// sync makes it durable: the bytes of a file, the names in a folder.
func (n *node) sync() {
	n.synced = slices.Clone(n.data)
	n.stable = maps.Clone(n.names)
}

// each does something with a node and all that lies in it.
func (n *node) each(do func(*node)) {
	do(n)
	for _, inner := range n.names {
		inner.each(do)
	}
}

// disk is a file system that forgets what was not synced: the bytes of a file until the
// file is synced, and a name until its folder is.
type disk struct {
	root  string // where it lies
	top   *node
	files map[string]*open // by the number of their descriptor
}

// open is a file that a program has open.
type open struct {
	node   *node
	at     int
	append bool
}

// newDisk is a disk with files that have been there for long.
func newDisk(root string, files map[string][]byte) *disk {
	d := &disk{root: root, top: newFolder(), files: map[string]*open{}}
	for name, data := range files {
		folder, last := d.top, filepath.Base(name)
		for part := range strings.SplitSeq(filepath.Dir(name), "/") {
			if part == "." {
				continue
			}
			if folder.names[part] == nil {
				folder.names[part] = newFolder()
			}
			folder = folder.names[part]
		}
		folder.names[last] = &node{data: data}
	}
	d.top.each((*node).sync)
	return d
}

// find is the folder of a path and the last part of its name; ok is false outside of the
// disk and where a folder is missing.
func (d *disk) find(path string) (folder *node, name string, ok bool) {
	inside, ok := strings.CutPrefix(path, d.root)
	if !ok || inside != "" && inside[0] != '/' {
		return nil, "", false
	}
	folder = d.top
	parts := strings.Split(strings.Trim(inside, "/"), "/")
	for _, part := range parts[:len(parts)-1] {
		if folder = folder.names[part]; folder == nil || !folder.folder {
			return nil, "", false
		}
	}
	return folder, parts[len(parts)-1], true
}

// at is what a path leads to, nil for nothing.
func (d *disk) at(path string) *node {
	if path == d.root {
		return d.top
	}
	folder, name, ok := d.find(path)
	if !ok {
		return nil
	}
	return folder.names[name]
}

// after are the files and folders after a loss of power; the name of a folder ends with a
// slash. With names, the names of files were kept, and only bytes were lost; without,
// everything was that was not synced.
func (d *disk) after(names bool) map[string][]byte {
	files := map[string][]byte{}
	var walk func(n *node, at string)
	walk = func(n *node, at string) {
		there := n.stable
		if names {
			there = n.names
		}
		for name, inner := range there {
			if path := filepath.Join(at, name); inner.folder {
				files[path+"/"] = nil
				walk(inner, path)
			} else {
				files[path] = inner.synced
			}
		}
	}
	walk(d.top, "")
	return files
}

// visible are the files as programs see them.
func (d *disk) visible() map[string][]byte {
	files := map[string][]byte{}
	var walk func(n *node, at string)
	walk = func(n *node, at string) {
		for name, inner := range n.names {
			if path := filepath.Join(at, name); inner.folder {
				walk(inner, path)
			} else {
				files[path] = inner.data
			}
		}
	}
	walk(d.top, "")
	return files
}

// systemCall is one line of a trace: its name, what stands in its brackets, and its result.
type systemCall struct{ name, args, result string }

var (
	calledRule  = regexp.MustCompile(`^(\d+) +(\w+)\((.*)\) += (-?\d+)(?:<([^>]*)>)?`)
	resumedRule = regexp.MustCompile(`^(\d+) +<\.\.\. \w+ resumed>`)
	fileRule    = regexp.MustCompile(`^(\d+|AT_FDCWD)<([^>]*)>`)
	textRule    = regexp.MustCompile(`"((?:\\x[0-9a-f]{2})*)"`)
)

// callsIn are the calls of a trace that succeeded, in the order in which they ended.
func callsIn(trace string) (calls []systemCall) {
	begun := map[string]string{}
	for line := range strings.Lines(trace) {
		line = strings.TrimSuffix(line, "\n")
		pid, _, _ := strings.Cut(line, " ")
		if before, ok := strings.CutSuffix(line, "<unfinished ...>"); ok {
			begun[pid] = strings.TrimRight(before, " ")
			continue
		}
		if m := resumedRule.FindString(line); m != "" {
			line = begun[pid] + strings.TrimPrefix(line, m)
		}
		if m := calledRule.FindStringSubmatch(line); m != nil && !strings.HasPrefix(m[4], "-") {
			calls = append(calls, systemCall{m[2], m[3], m[4]})
		}
	}
	return calls
}

// plain is a text that strace wrote in hexadecimal.
func plain(text string) string {
	if !strings.Contains(text, `\x`) {
		return text
	}
	out, err := strconv.Unquote(`"` + text + `"`)
	if err != nil {
		return text
	}
	return out
}

// described are the descriptors with their paths, and the texts, of a call.
func (c systemCall) described() (descriptors, paths, texts []string) {
	for field := range strings.SplitSeq(c.args, ", ") {
		if m := fileRule.FindStringSubmatch(field); m != nil {
			descriptors, paths = append(descriptors, m[1]), append(paths, plain(m[2]))
		}
	}
	for _, m := range textRule.FindAllStringSubmatch(c.args, -1) {
		texts = append(texts, plain(m[1]))
	}
	return descriptors, paths, texts
}

func under(folder, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(folder, name)
}

// do does to the disk what a program did, and reports whether that changed something.
func (d *disk) do(c systemCall) bool {
	descriptors, paths, texts := c.described()
	if len(paths) == 0 {
		return false
	}
	file := d.files[descriptors[0]]
	switch c.name {
	case "openat":
		if len(texts) == 0 {
			return false
		}
		path := under(paths[0], texts[0])
		delete(d.files, c.result)
		folder, name, ok := d.find(path)
		if !ok {
			return false
		}
		made := false
		if folder.names[name] == nil && name != "" && strings.Contains(c.args, "O_CREAT") {
			folder.names[name], made = &node{}, true
		}
		n := d.at(path)
		if n == nil {
			return false
		}
		if strings.Contains(c.args, "O_TRUNC") && !n.folder {
			n.data, made = nil, true
		}
		d.files[c.result] = &open{node: n, append: strings.Contains(c.args, "O_APPEND")}
		return made
	case "lseek":
		if at, err := strconv.Atoi(c.result); file != nil && err == nil {
			file.at = at
		}
		return false
	case "write", "pwrite64":
		if file == nil || len(texts) == 0 {
			return false
		}
		written, _ := strconv.Atoi(c.result)
		at := &file.at
		if c.name == "pwrite64" {
			offset, _ := strconv.Atoi(c.args[strings.LastIndex(c.args, ", ")+2:])
			at = &offset
		} else if file.append {
			*at = len(file.node.data)
		}
		file.write(at, []byte(texts[0])[:written])
		return true
	case "copy_file_range":
		if len(descriptors) < 2 || d.files[descriptors[0]] == nil || d.files[descriptors[1]] == nil {
			return false
		}
		n, _ := strconv.Atoi(c.result)
		from, to := d.files[descriptors[0]], d.files[descriptors[1]]
		to.write(&to.at, slices.Clone(from.node.data[from.at:from.at+n]))
		from.at += n
		return n > 0
	case "ftruncate":
		if file == nil {
			return false
		}
		size, _ := strconv.Atoi(c.args[strings.LastIndex(c.args, ", ")+2:])
		file.node.data = append(slices.Clone(file.node.data), make([]byte, max(0, size-len(file.node.data)))...)[:size]
		return true
	case "fsync", "fdatasync":
		if file == nil {
			return false
		}
		file.node.sync()
		return true
	case "syncfs":
		if file == nil {
			return false
		}
		d.top.each((*node).sync)
		return true
	case "mkdirat":
		folder, name, ok := d.find(under(paths[0], texts[0]))
		if ok {
			folder.names[name] = newFolder()
		}
		return ok
	case "unlinkat":
		folder, name, ok := d.find(under(paths[0], texts[0]))
		if ok {
			delete(folder.names, name)
		}
		return ok
	case "renameat", "renameat2", "linkat":
		from, old, found := d.find(under(paths[0], texts[0]))
		to, name, ok := d.find(under(paths[1], texts[1]))
		if !found || !ok {
			return false
		}
		to.names[name] = from.names[old]
		if c.name != "linkat" {
			delete(from.names, old)
		}
		return true
	}
	return false
}

func (o *open) write(at *int, data []byte) {
	end := *at + len(data)
	grown := append(slices.Clone(o.node.data), make([]byte, max(0, end-len(o.node.data)))...)
	copy(grown[*at:], data)
	o.node.data, *at = grown, end
}

// unpowered are the writers that the power is taken from: the others write into runs and
// changes, by transactions, and the last one replaces a file somewhere else.
func unpowered() []writer {
	return append(writers(), writer{"wave review into a file", nil, "deep_research_wave_review",
		`{"perspectives_path":"$WORK/perspectives-in.json","outputs_dir":"$WORK","report_path":"$WORK/wave-review.json"}`, command{}})
}

// someUnpowered is how many writers the short form takes the power from.
const someUnpowered = 4

// TestEveryWriteSurvivesALossOfPower lets each writing tool do its work on a disk that
// forgets what was not synced, and takes the power away after every change of it; in the
// short form of some tools after some. The disk then has everything lost that was not
// synced, or has kept names and lost bytes. After the next call the result is that of one
// or two undisturbed calls, and the run agrees with its record. What a call has said to be
// done is there after the power was taken.
func TestEveryWriteSurvivesALossOfPower(t *testing.T) {
	if err := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-y", "-xx", "true").Run(); err != nil {
		t.Skipf("strace cannot be used here: %v", err)
	}
	var points atomic.Int64
	t.Cleanup(func() { t.Logf("%d losses of power in all", points.Load()) })
	all := unpowered()
	stride := full.Stride(len(all), someUnpowered)
	for i := (len(all) - 1) % stride; i < len(all); i += stride { // with the last one
		t.Run(all[i].name, func(t *testing.T) {
			t.Parallel()
			points.Add(all[i].unpower(t, i))
		})
	}
}

func (w writer) unpower(t *testing.T, shift int) (tried int64) {
	work := scratch.Short(t)
	prepared := w.state(t, work)
	layDown(t, work, prepared)
	calls := w.calls(t, work)
	once := snapshot(t, work)
	wanted := []map[string][]byte{once}
	if w.parts() {
		w.callThen(t, work)
		wanted = append(wanted, snapshot(t, work))
	}
	w.call(t, work)
	wanted = append(wanted, snapshot(t, work))

	d := newDisk(work, prepared)
	type loss struct {
		where string
		files map[string][]byte
	}
	var losses []loss
	for i, c := range calls {
		if !d.do(c) {
			continue
		}
		for _, names := range []bool{false, true} {
			losses = append(losses, loss{fmt.Sprintf("after call %d of %d, %s(%.80s…), names kept: %v", i+1, len(calls), c.name, c.args, names), d.after(names)})
		}
	}
	if seen := d.visible(); !maps.EqualFunc(seen, once, bytes.Equal) {
		for name := range once {
			if !bytes.Equal(seen[name], once[name]) {
				t.Logf("%s: %d bytes, really %d", name, len(seen[name]), len(once[name]))
			}
		}
		t.Fatalf("the disk of the test has other files than the real one: %v and %v", slices.Sorted(maps.Keys(seen)), slices.Sorted(maps.Keys(once)))
	}
	kept := d.after(false)
	for name, data := range once {
		// The head of a log that falls behind is moved on by the next call.
		if got, there := kept[name]; !strings.HasSuffix(name, ".lock") && !strings.HasSuffix(name, ".head") && (!there || !bytes.Equal(got, data)) {
			t.Errorf("%s was there when the call ended, and is not after a loss of power (there: %v)", name, there)
		}
	}
	all := len(losses)
	if !full.Asked() {
		losses = []loss{losses[shift*31%all], losses[(shift*31+all/2)%all]}
	}
	stride := 1
	if w.parts() {
		stride = max(1, len(losses)/mostPoints)
	}
	for i := 0; i < len(losses); i += stride {
		layDown(t, work, losses[i].files)
		tried++
		w.call(t, work)
		checkHealed(t, losses[i].where, w.parts(), wanted, snapshot(t, work))
		checkAgrees(t, losses[i].where, work)
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d of %d losses of power", tried, all)
	return tried
}

// calls makes the call and returns what it asked of the disk, as far as that succeeded.
func (w writer) calls(t *testing.T, work string, options ...string) []systemCall {
	t.Helper()
	log := filepath.Join(filepath.Dir(work), "trace")
	w.under(t, work, append([]string{"strace", "-f", "--seccomp-bpf", "-qq", "-y", "-xx", "-s", "100000000", "-o", log, "-e", "trace=" + strings.Join(diskCalls, ",")}, options...)...)
	trace := must.Get(os.ReadFile(log))(t)
	return callsIn(string(trace))
}

// TestAFailedSyncIsNotTakenForDone has one sync after the other fail, as on a disk that
// then forgets what it was to keep and syncs well from there on. The power is lost when the
// call has ended, whatever it said. The next call does what it should have done.
func TestAFailedSyncIsNotTakenForDone(t *testing.T) {
	if err := exec.Command("strace", "-f", "--seccomp-bpf", "-qq", "-o", os.DevNull, "-e", "inject=access:error=EIO", "true").Run(); err != nil {
		t.Skipf("strace cannot be used here: %v", err)
	}
	var points atomic.Int64
	t.Cleanup(func() { t.Logf("%d failed syncs in all", points.Load()) })
	all := unpowered()
	for i := 1; i < len(all); i += full.Stride(len(all), 3) {
		if all[i].parts() {
			continue // its changes resemble those of the others
		}
		t.Run(all[i].name, func(t *testing.T) {
			t.Parallel()
			points.Add(all[i].failSyncs(t, i))
		})
	}
}

func (w writer) failSyncs(t *testing.T, shift int) (tried int64) {
	work := scratch.Short(t)
	prepared := w.state(t, work)
	layDown(t, work, prepared)
	syncs := map[string]int{}
	for _, c := range w.calls(t, work) {
		syncs[c.name]++
	}
	wanted := []map[string][]byte{snapshot(t, work)}
	w.call(t, work)
	wanted = append(wanted, snapshot(t, work))
	for _, call := range []string{"fsync", "syncfs"} {
		for n := 1; n <= syncs[call]; n++ {
			if !full.Asked() && n != 1+shift%syncs[call] {
				continue
			}
			layDown(t, work, prepared)
			d := newDisk(work, prepared)
			for _, c := range w.calls(t, work, "-e", fmt.Sprintf("inject=%s:error=EIO:when=%d", call, n)) {
				d.do(c)
			}
			for _, names := range []bool{false, true} {
				where := fmt.Sprintf("%s %d of %d failed, names kept: %v", call, n, syncs[call], names)
				layDown(t, work, d.after(names))
				tried++
				w.call(t, work)
				checkHealed(t, where, false, wanted, snapshot(t, work))
				checkAgrees(t, where, work)
				if t.Failed() {
					t.FailNow()
				}
			}
		}
	}
	return tried
}

// layDown makes a folder have these files and folders and no others.
func layDown(t *testing.T, work string, files map[string][]byte) {
	t.Helper()
	must.Do(t, os.RemoveAll(work))
	must.Do(t, os.MkdirAll(work, 0o700))
	for name, data := range files {
		path := filepath.Join(work, name)
		folder, isFile := filepath.Dir(path), !strings.HasSuffix(name, "/")
		if !isFile {
			folder = path
		}
		must.Do(t, os.MkdirAll(folder, 0o700))
		if !isFile {
			continue
		}
		must.Do(t, os.WriteFile(path, data, 0o600))
	}
}
