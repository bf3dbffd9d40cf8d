package proof_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"golang.org/x/sys/unix"
)

// prison is a home with a run, a person with keys and servers, and an agent that does
// all it can to get at them.
type prison struct {
	t            *testing.T
	home, person string
	project, out string
	env          []string
	reached      chan string // by whom the person's servers were reached
}

func newPrison(t *testing.T) *prison {
	t.Helper()
	for _, program := range []string{"curl", "bash", "git", "perl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("no %s here", program)
		}
	}
	p := &prison{t: t, home: t.TempDir(), person: t.TempDir(), project: t.TempDir(), out: t.TempDir(), reached: make(chan string, 100)}
	for name, text := range map[string]string{
		p.person + "/.ssh/id_ed25519":                "key",
		p.person + "/.config/tidegate/tidegate.toml": fmt.Sprintf("[agents.default]\nread = [%q]\nwrite = [%q]\n", binary, p.out),
		p.person + "/.claude/settings.json":          "{}",
		filepath.Join(p.project, "main.sh"):          "true\n",
	} {
		must.Write(t, name, text)
	}
	if out, err := exec.Command("git", "-C", p.project, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p.env = append(os.Environ(), "TIDEGATE_HOME="+p.home, "HOME="+p.person, "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "DBUS_SESSION_BUS_ADDRESS=unix:path="+p.socket(), "SSH_AUTH_SOCK="+p.socket())
	p.types(0, "run", "init", "Tides?", "--id", "tides")
	return p
}

// socket is where the person's session bus, tmux server and ssh-agent listen.
func (p *prison) socket() string { return filepath.Join(p.person, "socket") }

// inbox is where a service of the person's takes datagrams, such as the log's or the one
// that hears that a service is up.
func (p *prison) inbox() string { return filepath.Join(p.person, "inbox") }

// serve makes the person's servers, which note who reaches them.
func (p *prison) serve() (tcp, udp string) {
	p.t.Helper()
	var config net.ListenConfig
	for _, where := range [][2]string{{"unix", p.socket()}, {"unix", "@tidegate-proof-" + filepath.Base(p.person)}, {"tcp", "127.0.0.1:0"}} {
		l := must.Get(config.Listen(context.Background(), where[0], where[1]))(p.t)
		p.t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				p.reached <- where[0] + " " + where[1]
				conn.Close()
			}
		}()
		if where[0] == "tcp" {
			_, tcp, _ = net.SplitHostPort(l.Addr().String())
		}
	}
	for _, where := range [][2]string{{"unixgram", p.inbox()}, {"udp", "127.0.0.1:0"}} {
		l := must.Get(config.ListenPacket(context.Background(), where[0], where[1]))(p.t)
		p.t.Cleanup(func() { l.Close() })
		go func() {
			buffer := make([]byte, 100)
			for {
				if _, _, err := l.ReadFrom(buffer); err != nil {
					return
				}
				p.reached <- where[0]
			}
		}()
		_, udp, _ = net.SplitHostPort(l.LocalAddr().String())
	}
	return tcp, udp
}

// share is memory that the person's programs share.
func (p *prison) share() int {
	p.t.Helper()
	id := must.Get(unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600))(p.t)
	p.t.Cleanup(func() { unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	return id
}

// types types a command as the person.
func (p *prison) types(want int, words ...string) string {
	p.t.Helper()
	command := exec.Command(binary, words...)
	command.Dir, command.Env = p.project, p.env
	out, _ := command.CombinedOutput()
	if got := command.ProcessState.ExitCode(); want >= 0 && got != want {
		p.t.Fatalf("tidegate %q: exit status %d, want %d\n%s", words, got, want, out)
	}
	return string(out)
}

// lock has an agent try every line of a list, and returns what became of each: its
// exit status, and what it said.
func (p *prison) lock(lines []string, flags ...string) []string {
	p.t.Helper()
	script := "cat >/dev/null\nexec >" + p.out + "/tried 2>&1\n"
	for i, line := range lines {
		file := filepath.Join(p.out, fmt.Sprintf("%d.sh", i))
		must.Do(p.t, os.WriteFile(file, []byte(line+"\n"), 0o600))
		script += fmt.Sprintf("timeout 60 bash %s </dev/null >%s.said 2>&1; echo $?\n", file, file)
	}
	agent := filepath.Join(p.out, "agent.sh")
	must.Do(p.t, os.WriteFile(agent, []byte(script), 0o600))
	p.types(-1, append([]string{"agents", "check", "exec:sh " + agent}, flags...)...)
	tried, err := os.ReadFile(filepath.Join(p.out, "tried"))
	if err != nil {
		p.t.Fatalf("the agent was not started: %v", err)
	}
	results := strings.Fields(string(tried))
	if len(results) != len(lines) {
		p.t.Fatalf("%d of %d were tried", len(results), len(lines))
	}
	for i := range results {
		said, _ := os.ReadFile(filepath.Join(p.out, fmt.Sprintf("%d.sh.said", i)))
		results[i] += " " + string(said)
	}
	return results
}

// TestNoAgentLeavesItsCell has an agent with a shell try to read and write what is not
// its own, and to reach whoever would work for it outside.
func TestNoAgentLeavesItsCell(t *testing.T) {
	full.Story(t)
	t.Parallel()
	p := newPrison(t)
	tcp, udp := p.serve()
	run := filepath.Join(p.home, "runs", "tides")
	before := p.types(0, "run", "verify", "tides")
	lines := []string{
		// the home, and what names it
		"cat " + run + "/manifest.json", "ls " + p.home, "ls " + filepath.Join(p.home, "runs"), "echo x >> " + run + "/audit.jsonl", "echo x > " + run + "/gates.json", "rm -r " + run, "mv " + run + " " + p.out,
		"ln " + run + "/manifest.json " + p.out + "/linked && cat " + p.out + "/linked", "ln -s " + p.home + " " + p.out + "/link && ls " + p.out + "/link/",
		"cat /proc/$PPID/../[0-9]*/environ | grep -aq TIDEGATE_HOME=" + p.home, "cat /proc/1/environ", "cat /proc/1/mem", "ls /proc/1/root/", "ls /proc/1/cwd/",
		// the person's files
		"cat " + p.person + "/.ssh/id_ed25519", "ls " + p.person, "echo x > " + p.person + "/.claude/settings.json", "echo x > " + p.person + "/.bashrc", "echo x > " + p.person + "/.config/tidegate/tidegate.toml",
		"echo x > " + p.project + "/.git/hooks/post-merge", "cat " + p.project + "/.git/config", "cat " + p.project + "/main.sh", "echo x > " + p.project + "/made",
		"echo x > " + binary, "cat /etc/shadow", "echo x > /etc/passwd", "echo x > /tmp/tidegate-proof", "echo x > /usr/local/bin/tidegate-proof", "mkdir /dev/shm/tidegate-proof", "ls /root", "ls /home",
		// programs outside
		"curl -sS --max-time 20 --unix-socket " + p.socket() + " http://bus/", "curl -sS --max-time 20 --abstract-unix-socket tidegate-proof-" + filepath.Base(p.person) + " http://bus/",
		"perl -MSocket -e 'socketpair(A,B,AF_UNIX,SOCK_DGRAM,0) or exit 1; send(A,\"x\",0,pack_sockaddr_un(\"" + p.inbox() + "\")) or exit 1'",
		"perl -MSocket -e 'socketpair(A,B,AF_UNIX,SOCK_DGRAM,0) or exit 1; connect(A,pack_sockaddr_un(\"" + p.inbox() + "\")) or exit 1'",
		"perl -MSocket -e 'socketpair(A,B,AF_UNIX,SOCK_STREAM,0) or exit 1; close(B); connect(A,pack_sockaddr_un(\"" + p.socket() + "\")) or exit 1'",
		fmt.Sprintf("perl -e 'shmread(%d,$x,0,4) or exit 1'", p.share()), fmt.Sprintf("prlimit --pid %d --cpu=1000", os.Getpid()), fmt.Sprintf("renice 5 -p %d", os.Getpid()),
		fmt.Sprintf("taskset -p 1 %d", os.Getpid()), fmt.Sprintf("cat /proc/%d/environ", os.Getpid()), fmt.Sprintf("readlink /proc/%d/fd/0", os.Getpid()), fmt.Sprintf("cat /proc/%d/fd/0", os.Getpid()),
		fmt.Sprintf("nsenter -t %d -n true", os.Getpid()), "nsenter -t 1 -m true", "echo x > /dev/tty", "echo x > /dev/console", "cat /dev/mem",
		"perl -e 'exit !(syscall(425,1,0)>=0)'", "perl -e 'exit !(syscall(250,0,-3,0)>=0)'", "perl -e 'exit !(syscall(323,1)>=0)'", "perl -e 'ioctl(STDIN,0x5412,\"x\") or exit 1'",
		// the claim of its attempt, which says to the next program that this one lives; a lease on what it may read
		"cat ../claim", "flock -n ../claim true", "perl -e 'open F,\"<\",\"" + binary + "\"; exit !(syscall(72,fileno F,1024,0)>=0)'",
		// sockets of kinds that nothing looks at
		"perl -e 'socketpair(A,B,30,1,0) or exit 1'", "perl -e 'socket(S,43,1,0) or exit 1'", "perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,0); setsockopt(S,6,31,\"smc\") or exit 1'",
		"perl -MSocket -e 'socket(S,AF_INET,SOCK_STREAM,262) or exit 1'", "perl -MSocket -e 'socket(S,AF_INET,SOCK_RAW,1) or exit 1'", "perl -e 'socket(S,17,3,0) or exit 1'", "perl -e 'socket(S,16,3,15) or exit 1'", "perl -e 'socket(S,38,5,0) or exit 1'",
		fmt.Sprintf("perl -e 'exit !(syscall(101,16,%d,0,0)>=0)'", os.Getpid()), fmt.Sprintf("perl -e '$f=syscall(434,%d,0); exit !(syscall(438,$f,0,0)>=0)'", os.Getpid()), "perl -e 'exit !(syscall(321,0,0,0)>=0)'", "perl -e 'exit !(syscall(298,0,0,0,0,0)>=0)'",
		"kill -0 1", "kill -9 $(ps -o ppid= -p $(ps -o ppid= -p $PPID))", "echo x > /proc/1/oom_score_adj",
		// the network
		"curl -sS --max-time 20 http://127.0.0.1:" + tcp + "/", "exec 3<>/dev/tcp/127.0.0.1/" + tcp, "echo x > /dev/udp/127.0.0.1/" + udp, "exec 3<>/dev/tcp/1.1.1.1/443", "echo x > /dev/udp/1.1.1.1/53",
		// more rights
		"perl -e 'syscall(272,0x10020000)==0 or exit 1; $t=syscall(428,-100,\"" + p.person + "/.ssh\",1); $t>=0 or exit 1; exit !(syscall(257,$t,\"id_ed25519\",0,0)>=0)'",
		"echo x > /proc/self/fd/1/../0", "cat < /proc/$PPID/fd/255", "git config --global --add safe.directory '*' && git -C " + p.project + " status",
		"mount -t tmpfs none /mnt", "unshare -m true", "unshare -Urm mount -t tmpfs none /mnt", "unshare -Ur cat " + run + "/manifest.json", "unshare -Ur cat /proc/1/environ",
		"unshare -Urn curl -sS --max-time 20 http://1.1.1.1/", "unshare -Urm mount --bind " + p.home + " $TMPDIR", "chroot / true", "mknod " + p.out + "/disk b 8 0 && cat " + p.out + "/disk", "su -c true nobody", "ulimit -c 1",
		// another way to the same: a child of its own, in a session of its own
		"setsid sh -c 'cat " + p.person + "/.ssh/id_ed25519'", "env -i /bin/cat " + run + "/manifest.json", "(cat " + run + "/manifest.json)",
	}
	for i, got := range p.lock(lines) {
		if strings.HasPrefix(got, "0 ") {
			t.Errorf("an agent did: %s\n%s", lines[i], got)
		}
	}
	select {
	case who := <-p.reached:
		t.Errorf("the person's server was reached: %s", who)
	case <-time.After(0):
	}
	if after := p.types(0, "run", "verify", "tides"); after != before {
		t.Errorf("the run is another:\n%s\nwas\n%s", after, before)
	}
	for _, path := range []string{p.project + "/.git/hooks/post-merge", p.project + "/made", p.person + "/.bashrc", "/tmp/tidegate-proof", "/usr/local/bin/tidegate-proof", "/dev/shm/tidegate-proof"} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("an agent made %s", path)
		}
	}
	// What an agent needs it has.
	needs := []string{"echo x > made && cat made", "mkdir a b && echo x > a/x && perl -e 'rename(\"a/x\",\"b/x\") or exit 1; link(\"b/x\",\"a/y\") or exit 1'", "ls ..", "mktemp", "echo $HOME && touch ~/.profile", "ls /usr/bin >/dev/null", "git --version", "exec 3<&0; sleep 0.01 & wait", "cat <(echo x)", "curl --version", "ulimit -n 100", "perl -MSocket -e 'socketpair(A,B,AF_UNIX,SOCK_STREAM,0) or exit 1'"}
	for i, got := range p.lock(needs) {
		if !strings.HasPrefix(got, "0 ") {
			t.Errorf("an agent cannot: %s\n%s", needs[i], got)
		}
	}
}

// TestNoAgentTypesAPersonsCommand has an agent call tidegate to decide for a person,
// in a cell and without one.
func TestNoAgentTypesAPersonsCommand(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{nil, {"--unconfined"}} {
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			t.Parallel()
			p := newPrison(t)
			manifest := filepath.Join(p.home, "runs", "tides", "manifest.json")
			before := must.Get(os.ReadFile(manifest))(t)
			decide := []string{"run limit tides max_minutes 9999", "run cancel tides --reason x", "run accept tides --reason x", "run delete tides --yes", "gate a tides --accept --reason x", "citations attach tides cid_1 /etc/hostname --over --reason x", "citations replace tides cid_1 https://example.org/ --over --reason x", "job retry tides perspectives --note x", "config trust", "run list", "doctor", "mcp"}
			var lines []string
			for _, words := range decide {
				for _, way := range []string{"TIDEGATE_HOME=" + p.home + " " + binary + " ", "env -i TIDEGATE_HOME=" + p.home + " " + binary + " ", "setsid --wait env TIDEGATE_HOME=" + p.home + " " + binary + " "} {
					lines = append(lines, way+words)
				}
			}
			// A home of its own does not lead to another.
			own := "TIDEGATE_HOME=$TMPDIR/home " + binary + " "
			lines = append(lines, own+"run cancel "+filepath.Dir(manifest)+" --reason x", own+"run limit "+manifest+" max_minutes 9999", own+"run status "+filepath.Dir(manifest),
				"ln -s "+p.home+" $TMPDIR/link; TIDEGATE_HOME=$TMPDIR/link "+binary+" run cancel tides --reason x",
				"cp "+binary+" ./other && TIDEGATE_HOME="+p.home+" ./other run cancel tides --reason x",
				own+"serve --http 127.0.0.1:0 --allow-decisions --project "+p.project)
			for i, got := range p.lock(lines, flags...) {
				if !strings.HasPrefix(got, "5 ") || !strings.Contains(got, "NOT_A_PERSON") {
					t.Errorf("%s: got %s", lines[i], got)
				}
			}
			if after, err := os.ReadFile(manifest); err != nil || string(after) != string(before) {
				t.Errorf("the manifest is another: %v", err)
			}
			// What is nobody's decision works, and so does a home of its own.
			free := []string{binary + " help", binary + " version", binary + " explain INVALID_ARGS", own + "run init 'Mine?' --id mine", own + "run init 'Mine?' --id mine && " + own + "run cancel mine --reason x"}
			for i, got := range p.lock(free, flags...) {
				if !strings.HasPrefix(got, "0 ") {
					t.Errorf("%s: got %s", free[i], got)
				}
			}
			if text := p.types(0, "run", "status", "tides"); strings.Contains(text, "cancelled") || slices.Contains(strings.Fields(text), "9999") {
				t.Errorf("an agent decided:\n%s", text)
			}
		})
	}
}

// TestNoImplementerReachesTheRepository has an implementer plant hooks, settings and
// branches in the project, write into the home and take the .git of its worktree away; its
// work is merged as recommended afterwards.
func TestNoImplementerReachesTheRepository(t *testing.T) {
	t.Parallel()
	p := newPrison(t)
	git := func(args ...string) string {
		t.Helper()
		command := exec.Command("git", append([]string{"-C", p.project, "-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)...)
		command.Env = p.env
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return string(out)
	}
	git("add", "main.sh")
	git("commit", "-q", "-m", "first")
	owned := filepath.Join(p.out, "owned")
	attack := fmt.Sprintf(`cat >/dev/null
echo echo mended > main.sh
for dir in %[1]s/.git/hooks "$(git rev-parse --git-common-dir)/hooks" %[1]s/hooks; do
  mkdir -p "$dir" && printf '#!/bin/sh\ntouch %[2]s\n' > "$dir/post-merge" && chmod 755 "$dir/post-merge"
done
git -C %[1]s config core.hooksPath %[1]s/hooks
git config --global core.hooksPath %[1]s/hooks
git config core.hooksPath $PWD/hooks
env -u GIT_DIR -u GIT_WORK_TREE git -C %[1]s branch evil
env -u GIT_DIR -u GIT_WORK_TREE git branch -f main HEAD
git push origin HEAD:main
echo x > %[3]s/made
echo x > %[3]s/runs/tides/manifest.json
echo "gitdir: /nowhere" > .git
ls > /dev/null
rm -f .git
git --git-dir=%[1]s/.git worktree prune
echo It is done.
`, p.project, owned, p.home)
	reviewer := `cat >/dev/null
echo '{"change_id":"mend","verdict":"APPROVED","summary":"Good.","issues":[]}'
`
	for name, text := range map[string]string{
		filepath.Join(p.out, "implementer.sh"): attack, filepath.Join(p.out, "reviewer.sh"): reviewer,
		filepath.Join(p.project, "agentd/changes/mend/proposal.md"): "# Mend\n\nThe script says mended.\n",
	} {
		must.Write(t, name, text)
	}
	before := git("for-each-ref") + git("config", "--list")
	said := p.types(-1, "change", "run", "mend", "--implementer", "exec:sh "+filepath.Join(p.out, "implementer.sh"), "--reviewer", "exec:sh "+filepath.Join(p.out, "reviewer.sh"))
	// An implementer that takes the .git of its worktree away is found, and its work is
	// not taken.
	if !strings.Contains(said, "TAMPERED") {
		t.Errorf("the worktree has no .git any more, and change run says:\n%s", said)
	}
	must.Do(t, os.WriteFile(filepath.Join(p.out, "implementer.sh"), []byte(strings.NewReplacer("rm -f .git\n", "", "echo \"gitdir: /nowhere\" > .git\n", "").Replace(attack)), 0o600))
	worktrees := slices.Concat(must.Get(filepath.Glob(filepath.Join(p.home, "*/worktrees/mend-*")))(t), must.Get(filepath.Glob(filepath.Join(p.home, "worktrees/mend-*")))(t))
	worktrees = slices.DeleteFunc(worktrees, func(name string) bool { return strings.HasSuffix(name, ".complete") })
	if len(worktrees) != 1 {
		t.Fatalf("worktrees: %v", worktrees)
	}
	must.Do(t, os.RemoveAll(worktrees[0]))
	said = p.types(0, "change", "run", "mend", "--implementer", "exec:sh "+filepath.Join(p.out, "implementer.sh"), "--reviewer", "exec:sh "+filepath.Join(p.out, "reviewer.sh"))
	if !strings.Contains(said, "tidegate change merge mend") {
		t.Fatalf("the change is not complete:\n%s", said)
	}
	if after := git("for-each-ref", "refs/heads/*", "refs/tags", "refs/remotes", "refs/replace") + git("config", "--list"); after != before {
		t.Errorf("the repository changed:\n%s\nwas\n%s", after, before)
	}
	p.types(0, "change", "merge", "mend")
	for _, path := range []string{owned, filepath.Join(p.home, "made"), filepath.Join(p.project, ".git/hooks/post-merge"), filepath.Join(p.project, "hooks"), filepath.Join(p.person, ".gitconfig")} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("an implementer made %s", path)
		}
	}
	p.types(0, "run", "verify", "tides")
}

// TestNoImplementerRunsGitOutside has an implementer fill a submodule of the project with
// a repository at the commit that is asked for, whose settings name programs as filters
// and monitors: a git that looks whether the submodule changed would start them outside.
func TestNoImplementerRunsGitOutside(t *testing.T) {
	t.Parallel()
	p := newPrison(t)
	owned, module := filepath.Join(p.person, "owned"), filepath.Join(p.project, "sub")
	write := func(name, text string) {
		t.Helper()
		must.Write(t, name, text)
	}
	git := func(dir string, args ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "advice.addEmbeddedRepo=false"}, args...)...)
		command.Env = p.env
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	write(filepath.Join(module, "file"), "one\n")
	git(module, "init", "-q")
	git(module, "add", ".")
	git(module, "commit", "-q", "-m", "file")
	git(p.project, "add", ".")
	git(p.project, "commit", "-q", "-m", "first")
	// What everybody can have of a project that others publish.
	if out, err := exec.Command("cp", "-r", module, filepath.Join(p.out, "published")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write(filepath.Join(p.project, "agentd/changes/mend/proposal.md"), "# Mend\n\nThe script says mended.\n")
	write(filepath.Join(p.out, "implementer.sh"), fmt.Sprintf(`cat >/dev/null
echo echo mended > main.sh
rm -rf sub && cp -r %[1]s/published sub
printf '#!/bin/sh\ntouch %[2]s\ncat\n' > sub/.git/trap && chmod 755 sub/.git/trap
for key in filter.evil.clean filter.evil.process core.fsmonitor; do GIT_DIR=$PWD/sub/.git git config $key $PWD/sub/.git/trap; done
echo '* filter=evil' > sub/.git/info/attributes
echo two > sub/file
touch -d 2001-01-01 sub/file
echo It is done.
`, p.out, owned))
	write(filepath.Join(p.out, "reviewer.sh"), "cat >/dev/null\necho '{\"change_id\":\"mend\",\"verdict\":\"APPROVED\",\"summary\":\"Good.\",\"issues\":[]}'\n")
	said := p.types(-1, "change", "run", "mend", "--implementer", "exec:sh "+filepath.Join(p.out, "implementer.sh"), "--reviewer", "exec:sh "+filepath.Join(p.out, "reviewer.sh"))
	if !strings.Contains(said, "sub was changed: it is a repository of its own") {
		t.Errorf("change run says:\n%s", said)
	}
	if _, err := os.Stat(owned); err == nil {
		t.Error("a program of the implementer's ran outside of its cell")
	}
}
