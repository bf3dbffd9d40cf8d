package driver

import (
	"context"
	_ "embed"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate/internal/agent/cell"
)

// Cells says how a host keeps agents in cells. The zero value confines them by what
// the machine has.
type Cells struct {
	Unconfined bool             // agents work with the person's rights, on the person's files: a person's decision
	Forbidden  []cell.Forbidden // what no agent may reach: the home, the person's keys and configuration
	System     cell.System      // what cells are made of; zero: what this machine has
}

// Access is what a person gives the agents of a role beyond what every cell holds.
type Access struct {
	Read    []string // files and folders, absolute
	Write   []string // folders, absolute
	Network cell.Network
}

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
func (h Host) proven() (cell.System, error) {
	system := h.System
	if system == (cell.System{}) {
		system = cell.Here()
	}
	if h.Unconfined {
		return system, nil
	}
	proofs.Lock()
	defer proofs.Unlock()
	if known, ok := proofs.of[system]; ok {
		return known.system, known.err
	}
	f, err := makeFolder(h.Temp, "")
	if err != nil {
		return system, failf(Unavailable, "no folder can be made to try a cell: %v", err)
	}
	defer f.remove()
	secret := f.in(claimName)
	for _, forbidden := range h.Forbidden {
		if exists(forbidden.Path) {
			secret = forbidden.Path
			break
		}
	}
	var found proof
	found.system, found.err = cell.Prove(system, f.in("work"), secret)
	if proofs.of == nil {
		proofs.of = map[cell.System]proof{}
	}
	proofs.of[system] = found
	return found.system, found.err
}

// Confinement says how the agents of h are held: the system that cells are made of,
// or NOT_CONFINED.
func Confinement(h Host) (cell.System, error) { return h.filled().proven() }

// NetworkOf is what the agent of d may reach from its cell, at a task with tools for the
// web or without; "" for one that needs no cell, because no program is started.
func NetworkOf(d Driver, web bool) cell.Network {
	switch d := d.(type) {
	case *headless:
		return d.network(web)
	case *acp:
		return d.settings.network()
	case *program:
		return d.settings.network()
	}
	return ""
}

// tenant is a program that is to be started in a cell, and what it needs there.
type tenant struct {
	path  string   // of the program
	args  []string // of which those that name a file or folder may be read; nil: none may
	task  Task     // what it works at, in whose folder, with whose servers
	hosts []string // of its model
	shut  bool     // without a network it has no door, not even one that refuses everything
	Access
}

// cell is the policy for a program that is started in f. It returns INVALID_ARGS
// where a folder that is allowed holds one that is forbidden, and NOT_CONFINED.
func (h Host) cell(f *folder, t tenant, d *door) (cell.Policy, error) {
	system, err := h.proven()
	if err != nil {
		return cell.Policy{}, err
	}
	p := cell.Policy{System: system, Confined: !h.Unconfined, Own: []string{f.path}}
	if t.task.Folder != "" && !f.owns(t.task) {
		p.Own = append(p.Own, t.task.Folder)
	}
	if h.Unconfined {
		return p, nil
	}
	p.Network, p.MaxFile, p.Devices = t.Network, t.task.Limits.File, common()["device"]
	if d != nil {
		p.Ports, p.Listen = d.ports(), d.addresses()
	}
	if t.Network == cell.Open {
		p.Ports = append(p.Ports, 443)
	}
	p.List, p.Write = []string{f.path}, append(f.paths(writable), t.Write...)
	if t.task.Folder != "" {
		p.Write = append(p.Write, t.task.Folder)
	}
	p.Read = slices.Concat(h.machine(), f.paths(readable), t.Read, []string{t.task.objects(), t.task.Tree}, h.program(t.path))
	for _, arg := range t.args {
		if named := filepath.Clean(arg); filepath.IsAbs(named) && exists(named) {
			p.Read = append(p.Read, named)
		}
	}
	for _, server := range t.task.Tools.MCP {
		p.Read = append(p.Read, h.program(server.Command)...)
	}
	// A relative path, as a script may name its interpreter, would be one of the supervisor's folder.
	p.Read = slices.DeleteFunc(p.Read, func(path string) bool { return !filepath.IsAbs(path) })
	return p.Checked(h.machine(), h.Forbidden, p.Own...)
}

// tools are the folders of PATH, what lies beside them, and the folders of the
// person's with tools and packages.
func (h Host) tools() []string {
	var list []string
	for _, folder := range filepath.SplitList(variable(h.Environ, "PATH")) {
		if filepath.IsAbs(folder) {
			list = append(append(list, folder), h.beside(folder)...)
		}
	}
	for _, kept := range h.kept() {
		_, folder, _ := strings.Cut(kept, "=")
		list = append(list, folder)
	}
	return list
}

// beside is what may be read beside a folder of programs. A folder of the person's
// home itself is none of it.
func (h Host) beside(folder string) []string {
	above := filepath.Dir(folder)
	if name := filepath.Base(folder); name != "bin" && name != "shims" || above == "/" {
		return nil
	}
	// Either may be named by a link.
	real, _ := filepath.EvalSymlinks(above)
	if home, err := filepath.EvalSymlinks(variable(h.Environ, "HOME")); err == nil && real == home {
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
func (h Host) kept() []string {
	var list []string
	for _, line := range common()["kept"] {
		name, usual, _ := strings.Cut(line, " ")
		folder := variable(h.Environ, name)
		if folder == "" && usual != "" {
			folder = filepath.Join(variable(h.Environ, "HOME"), usual)
		}
		if filepath.IsAbs(folder) && exists(folder) {
			list = append(list, name+"="+folder)
		}
	}
	return list
}

// program is what has to be read to start a program: its file after links, what it
// is a part of, and its interpreter.
func (h Host) program(path string) []string {
	if path == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return []string{path}
	}
	list := append([]string{path, real, packageOf(real)}, h.beside(filepath.Dir(real))...)
	interpreter := h.interpreter(real)
	if interpreter == "" {
		return list
	}
	list = append(list, interpreter)
	if inner, err := filepath.EvalSymlinks(interpreter); err == nil {
		list = append(list, inner)
		list = append(list, h.beside(filepath.Dir(inner))...)
	}
	return append(list, h.beside(filepath.Dir(interpreter))...)
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
func (h Host) interpreter(script string) string {
	words := strings.Fields(firstLine(script))
	if len(words) == 0 {
		return ""
	}
	if filepath.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
		if len(words) == 0 {
			return ""
		}
		found, _ := find(h.Environ, words[0])
		return found
	}
	return words[0]
}

// variables are those by which an agent in a cell keeps to it: its home, its
// temporary files and its caches lie in f, its way out is the door.
func (h Host) variables(f *folder, network cell.Network, d *door) []string {
	if h.Unconfined {
		return f.variables()
	}
	if network == cell.Open {
		d = nil // its client would not use it
	}
	list := append(f.variables(), "HOME="+f.in("home"), "XDG_RUNTIME_DIR="+f.in("tmp"))
	for _, line := range common()["own"] {
		name, folder, _ := strings.Cut(line, " ")
		list = append(list, name+"="+filepath.Join(f.in("home"), folder))
	}
	list = append(list, h.kept()...)
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

// lodging is a cell that is ready for a program.
type lodging struct {
	host    Host
	policy  cell.Policy
	env     []string
	door    *door
	secrets []string // that the agent was given
}

// lodge makes a cell in f ready for a program that gets the named variables of the
// person's. The lodging must be closed. It returns what [Host.cell] returns.
func (h Host) lodge(f *folder, t tenant, named []string) (*lodging, error) {
	system, err := h.proven()
	if err != nil {
		return nil, err
	}
	given := environment(h.Environ, named, nil)
	l := &lodging{host: h, secrets: secretsIn(given, named)}
	if apart, needed := t.wantsDoor(h, f, system); needed {
		if l.door, err = openDoor(apart, t.Network, t.hosts, endpointsIn(given), h.Environ); err != nil {
			return nil, failf(Unavailable, "no door can be made for %s: %v", filepath.Base(t.path), err)
		}
		if err := l.admitRelays(f, t.task); err != nil {
			l.close()
			return nil, failf(Unavailable, "%s cannot be told of its door: %v", filepath.Base(t.path), err)
		}
	}
	if l.policy, err = h.cell(f, t, l.door); err != nil {
		l.close()
		return nil, err
	}
	l.env = environment(h.Environ, named, h.variables(f, t.Network, l.door))
	if t.task.Tree != "" {
		l.env = append(l.env, "TIDEGATE_TREE="+t.task.Tree)
	}
	return l, nil
}

// wantsDoor reports whether a program needs a door, and whether that is on a network of
// its own. Without one, a program that may reach nothing has none: Landlock opens a port
// for every host.
func (t tenant) wantsDoor(h Host, f *folder, system cell.System) (apart, needed bool) {
	switch {
	case h.Unconfined, t.Network == cell.Open:
		return false, h.relays(f, t.task)
	case t.Network == cell.None:
		return system.Namespace, system.Namespace && !t.shut
	}
	return system.Namespace, true
}

// admitRelays lets the relays of the task through the door, and tells them where it is.
func (l *lodging) admitRelays(f *folder, task Task) error {
	if !l.host.relays(f, task) {
		return nil
	}
	l.door.tools = func(ctx context.Context, agent io.ReadWriter) {
		l.host.Tools(ctx, task, agent, func(text string) bool { return mask(text, l.secrets) != text })
	}
	return f.write(relayFile, []byte(l.door.url()))
}

func (l *lodging) close() { l.door.close() }

// command is a program that is started there.
func (l *lodging) command(path string, args []string, dir string) command {
	c := command{path: path, args: args, env: l.env, dir: dir, cell: l.policy}
	if l.door != nil {
		c.hand = l.door.hand.file()
	}
	return c
}
