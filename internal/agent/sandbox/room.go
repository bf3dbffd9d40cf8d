// Package sandbox is what a program in a cell is given: its folder, its variables, its
// door to the network and a supervisor, which ends with it all that it has started. It
// starts agents, follows them to their end, and runs a project's tests.
package sandbox

import (
	"context"
	_ "embed"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/driver"
)

//go:embed lists/cell.txt
var cellList string

// common is what lists/cell.txt says, by the kind of its lines.
var common = sync.OnceValue(func() map[string][]string {
	lines := map[string][]string{}
	for line := range strings.Lines(cellList) {
		if kind, what, ok := strings.Cut(strings.TrimSpace(line), " "); ok && kind != "#" {
			lines[kind] = append(lines[kind], what)
		}
	}
	return lines
})

// proofs are what was found out about systems, each once.
var proofs struct {
	sync.Mutex
	of map[cell.System]proof
}

type proof struct {
	system cell.System
	err    error
}

// proven is the system that cells are made of, once a probe has failed to break out
// of one. It returns NOT_CONFINED where there can be no cell, unless a person does
// without.
func (m Machine) proven() (cell.System, error) {
	system := m.System
	if system == (cell.System{}) {
		system = cell.Here()
	}
	if m.Unconfined {
		return system, nil
	}
	proofs.Lock()
	defer proofs.Unlock()
	if known, ok := proofs.of[system]; ok {
		return known.system, known.err
	}
	f, err := makeFolder(m.Temp, "")
	if err != nil {
		return system, driver.Failf(driver.Unavailable, "no folder can be made to try a cell: %v", err)
	}
	defer f.remove()
	secret := f.In(claimName)
	for _, forbidden := range m.Forbidden {
		if exists(forbidden.Path) {
			secret = forbidden.Path
			break
		}
	}
	var found proof
	found.system, found.err = cell.Prove(system, f.In("work"), secret)
	if proofs.of == nil {
		proofs.of = map[cell.System]proof{}
	}
	proofs.of[system] = found
	return found.system, found.err
}

// Confinement says how the agents of h are held: the system that cells are made of,
// or NOT_CONFINED.
func Confinement(h driver.Host) (cell.System, error) { return On(h, nil).proven() }

// Machine is a host that keeps agents in cells.
type Machine struct {
	driver.Host
	models   []string        // hosts of the models of every agent that is known
	folders  *folders        // that may be repaired
	readable func() []string // what every agent may read, found once: the system's own, and tools
}

// On is the machine of a host, with what is left to it.
func On(host driver.Host, models []string) Machine {
	m := Machine{Host: host.Filled(), models: models, folders: &folders{}}
	m.readable = sync.OnceValue(func() []string {
		return cell.Named(slices.DeleteFunc(slices.Concat(common()["read"], m.tools()), func(path string) bool { return !exists(path) }))
	})
	return m
}

// Program is a program that is to be started in a cell, and what it needs there.
type Program struct {
	Path  string      // of the program
	Args  []string    // of which those that name a file or folder may be read; nil: none may
	Task  driver.Task // what it works at, in whose folder, with whose servers
	Hosts []string    // of its model
	shut  bool        // without a network it has no door, not even one that refuses everything
	driver.Access
}

// Policy is the policy for a program that is started in f. It returns INVALID_ARGS
// where a folder that is allowed holds one that is forbidden, and NOT_CONFINED.
func (m Machine) Policy(f *Folder, t Program, d *door) (cell.Policy, error) {
	system, err := m.proven()
	if err != nil {
		return cell.Policy{}, err
	}
	p := cell.Policy{System: system, Confined: !m.Unconfined, Own: []string{f.path}}
	if t.Task.Folder != "" && !f.Owns(t.Task) {
		p.Own = append(p.Own, t.Task.Folder)
	}
	if m.Unconfined {
		return p, nil
	}
	if d == nil { // else it was asked for the door
		if err := mayReach(t.ModelAddress); err != nil {
			return cell.Policy{}, err
		}
	}
	p.Network, p.MaxFile, p.Devices = t.Network, t.Task.Limits.File, common()["device"]
	if d != nil {
		p.Ports, p.Listen = d.ports(), d.addresses()
	}
	if t.Network == cell.Open {
		p.Ports = append(p.Ports, 443)
	}
	p.List, p.Write = []string{f.path}, append(f.paths(writable), t.Write...)
	if t.Task.Folder != "" {
		p.Write = append(p.Write, t.Task.Folder)
	}
	p.Read = slices.Concat(m.readable(), f.paths(readable), t.Read, []string{objectsOf(t.Task), t.Task.Tree}, m.program(t.Path))
	p.Read = append(p.Read, NamedIn(t.Args)...)
	for _, server := range t.Task.Tools.MCP {
		p.Read = append(p.Read, m.program(server.Command)...)
	}
	// A relative path, as a script may name its interpreter, would be one of the supervisor's folder.
	p.Read = slices.DeleteFunc(p.Read, func(path string) bool { return !filepath.IsAbs(path) })
	return p.Checked(m.readable(), m.Forbidden, p.Own...)
}

// NamedIn are the files and folders that arguments name.
func NamedIn(args []string) []string {
	var list []string
	for _, arg := range args {
		if named := filepath.Clean(arg); filepath.IsAbs(named) && exists(named) {
			list = append(list, named)
		}
	}
	return list
}

// tools are the folders of PATH, what lies beside them, and the folders of the
// person's with tools and packages.
func (m Machine) tools() []string {
	var list []string
	for _, folder := range filepath.SplitList(driver.Variable(m.Environ, "PATH")) {
		if filepath.IsAbs(folder) {
			list = append(append(list, folder), m.beside(folder)...)
		}
	}
	for _, kept := range m.kept() {
		_, folder, _ := strings.Cut(kept, "=")
		list = append(list, folder)
	}
	return list
}

// beside is what may be read beside a folder of programs. A folder of the person's
// home itself is none of it.
func (m Machine) beside(folder string) []string {
	above := filepath.Dir(folder)
	if name := filepath.Base(folder); name != "bin" && name != "shims" || above == "/" {
		return nil
	}
	// Either may be named by a link.
	real, _ := filepath.EvalSymlinks(above)
	if home, err := filepath.EvalSymlinks(driver.Variable(m.Environ, "HOME")); err == nil && real == home {
		return nil
	}
	var list []string
	for _, name := range common()["beside"] {
		list = append(list, filepath.Join(above, name))
	}
	return list
}

// kept are the variables of the person's that name folders with tools or packages,
// as far as these are there.
func (m Machine) kept() []string {
	var list []string
	for _, line := range common()["kept"] {
		name, usual, _ := strings.Cut(line, " ")
		folder := driver.Variable(m.Environ, name)
		if folder == "" && usual != "" {
			folder = filepath.Join(driver.Variable(m.Environ, "HOME"), usual)
		}
		if filepath.IsAbs(folder) && exists(folder) {
			list = append(list, name+"="+folder)
		}
	}
	return list
}

// program is what has to be read to start a program: its file after links, what it
// is a part of, and its interpreter.
func (m Machine) program(path string) []string {
	if path == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return []string{path}
	}
	list := append([]string{path, real, packageOf(real)}, m.beside(filepath.Dir(real))...)
	interpreter := m.interpreter(real)
	if interpreter == "" {
		return list
	}
	list = append(list, interpreter)
	if inner, err := filepath.EvalSymlinks(interpreter); err == nil {
		list = append(list, inner)
		list = append(list, m.beside(filepath.Dir(inner))...)
	}
	return append(list, m.beside(filepath.Dir(interpreter))...)
}

// packageOf is the folder of packages that a program lies in, or the folder of its
// versions; "" where it is a file for itself.
func packageOf(real string) string {
	const modules = "/node_modules/"
	if at := strings.Index(real, modules); at >= 0 {
		return real[:at+len(modules)-1]
	}
	return ""
}

// interpreter is the program that the first line of a script names; "" for none.
func (m Machine) interpreter(script string) string {
	words := strings.Fields(firstLine(script))
	if len(words) == 0 {
		return ""
	}
	if filepath.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
		if len(words) == 0 {
			return ""
		}
		found, _ := Find(m.Environ, words[0])
		return found
	}
	return words[0]
}

// variables are those by which an agent in a cell keeps to it: its home, its
// temporary files and its caches lie in f, its way out is the door.
func (m Machine) variables(f *Folder, network cell.Network, d *door) []string {
	if m.Unconfined {
		return f.variables()
	}
	if network == cell.Open {
		d = nil // its client would not use it
	}
	list := append(f.variables(), "HOME="+f.In("home"), "XDG_RUNTIME_DIR="+f.In("tmp"))
	for _, line := range common()["own"] {
		name, folder, _ := strings.Cut(line, " ")
		list = append(list, name+"="+filepath.Join(f.In("home"), folder))
	}
	list = append(list, m.kept()...)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		list = append(list, name+"="+d.url())
	}
	for _, name := range []string{"ALL_PROXY", "all_proxy"} {
		list = append(list, name+"=")
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		list = append(list, name+"=localhost,127.0.0.1,::1")
	}
	return list
}

// refusedInCell is what a person can do about a program that was refused something,
// as its last lines say; "" where they do not.
func refusedInCell(said string) string {
	lower := strings.ToLower(said)
	for _, sign := range []string{"eacces", "eperm", "permission denied", "operation not permitted", "connection refused", "econnrefused", "enotfound", "temporary failure in name resolution"} {
		if strings.Contains(lower, sign) {
			return "`tidegate agents` shows what its cell holds; add to it with read, write and network of its role in your own tidegate.toml, or with --agent-read and --agent-network"
		}
	}
	return ""
}

// Sandbox is a cell that is ready for a program.
type Sandbox struct {
	machine Machine
	policy  cell.Policy
	Env     []string
	door    *door
	address string   // of the model on this machine that is all of its network
	secrets []string // that the agent was given, in all their forms, the longest first
}

// Prepare makes a cell in f ready for a program that gets the named variables of the
// person's. The sandbox must be closed. It returns INVALID_ARGS and NOT_CONFINED.
func (m Machine) Prepare(f *Folder, t Program, named []string) (*Sandbox, error) {
	system, err := m.proven()
	if err != nil {
		return nil, err
	}
	given := environment(m.Environ, named, nil)
	l := &Sandbox{machine: m}
	l.Hide(secretsIn(given, named)...)
	if apart, needed := t.wantsDoor(m, f, system); needed {
		if l.address = t.ModelAddress; !m.Unconfined {
			if err := mayReach(l.address); err != nil {
				return nil, err
			}
		}
		if l.door, err = openDoor(apart, t.Network, t.Hosts, m.models, endpointsIn(given), m.Environ, l.address); err != nil {
			return nil, driver.Failf(driver.Unavailable, "no door can be made for %s: %v", filepath.Base(t.Path), err)
		}
		if err := l.admitRelays(f, t.Task); err != nil {
			l.Close()
			return nil, driver.Failf(driver.Unavailable, "%s cannot be told of its door: %v", filepath.Base(t.Path), err)
		}
	}
	if l.policy, err = m.Policy(f, t, l.door); err != nil {
		l.Close()
		return nil, err
	}
	l.Env = environment(m.Environ, named, m.variables(f, t.Network, l.door))
	if t.Task.Tree != "" {
		l.Env = append(l.Env, "TIDEGATE_TREE="+t.Task.Tree)
	}
	return l, nil
}

// wantsDoor reports whether a program needs a door, and whether that is on a network of
// its own. Without one, a program that may reach nothing has none: Landlock opens a port
// for every host.
func (t Program) wantsDoor(m Machine, f *Folder, system cell.System) (apart, needed bool) {
	switch {
	case m.Unconfined, t.Network == cell.Open:
		return false, m.relays(f, t.Task)
	case t.Network == cell.None:
		return system.Namespace, system.Namespace && !t.shut
	}
	return system.Namespace, true
}

// admitRelays lets the relays of the task through the door, and tells them where it is.
func (l *Sandbox) admitRelays(f *Folder, task driver.Task) error {
	if !l.machine.relays(f, task) {
		return nil
	}
	l.door.tools = func(ctx context.Context, agent io.ReadWriter) {
		l.machine.Tools(ctx, task, agent, func(text string) bool { return mask(text, l.secrets) != text })
	}
	return f.Write(relayFile, []byte(l.door.url()))
}

func (l *Sandbox) Close() { l.door.close() }

// Command is a program that is started there.
func (l *Sandbox) Command(path string, args []string, dir string) Command {
	c := Command{path: path, args: args, Env: l.Env, dir: dir, cell: l.policy}
	if l.door != nil {
		c.handover = l.door.handover.file()
	}
	return c
}

// passed lists the variables that every agent gets from the person's
// environment. A name that ends in * stands for all that begin with it.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
	// What a program on Windows cannot do without.
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH",
	"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
}

// never lists what no agent gets, even where it is named: with these an agent could
// sign a person's decisions.
var never = []string{"SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "TIDEGATE_SIGN_KEY"}

// environment is what an agent gets of environ: what every agent gets, what
// named adds, and then the variables of own, which win; one without a value is taken
// away.
func environment(environ, named, own []string) []string {
	var env []string
	replaced := map[string]bool{}
	for _, variable := range own {
		name, _, _ := strings.Cut(variable, "=")
		replaced[name] = true
	}
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if !replaced[name] && (allows(passed, name) || allows(named, name)) {
			env = append(env, variable)
		}
	}
	env = append(env, own...)
	return slices.DeleteFunc(env, func(variable string) bool {
		name, value, _ := strings.Cut(variable, "=")
		return allows(never, name) || replaced[name] && value == ""
	})
}

func allows(list []string, name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return name != "" && slices.ContainsFunc(list, func(allowed string) bool {
		prefix, open := strings.CutSuffix(allowed, "*")
		return name == allowed || open && strings.HasPrefix(name, prefix)
	})
}

// Find is the path of a program: as it was named where that is a path, otherwise
// the first in the PATH of environ.
func Find(environ []string, program string) (string, error) {
	if strings.ContainsAny(program, `/\`) {
		path, err := exec.LookPath(program)
		if err != nil {
			return "", err
		}
		return filepath.Abs(path)
	}
	for _, folder := range filepath.SplitList(driver.Variable(environ, "PATH")) {
		if !filepath.IsAbs(folder) {
			continue // a program is never taken from the folder that somebody happens to be in
		}
		if path, err := exec.LookPath(filepath.Join(folder, program)); err == nil {
			return path, nil
		}
	}
	return "", exec.ErrNotFound
}
