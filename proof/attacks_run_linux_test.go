package proof_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"golang.org/x/sys/unix"
)

// hostileRun is what an agent does at each job of a run before it answers as it should:
// it looks for the home, decides for the person, brings its own evidence, raises its
// budget and edits the record, with what it finds and with what somebody told it.
func (p *prison) hostileRun(id string) []string {
	run, said := filepath.Join(p.home, "runs", id), filepath.Join(p.out, "forged.html")
	lines := []string{
		"cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -a '^TIDEGATE_HOME='" + p.home, "ls " + p.home, "cat " + run + "/manifest.json", "cat " + run + "/jobs/*/*/*",
		"cp " + said + " " + run + "/archive/", "mkdir " + run + "/jobs/verify.9", "rm -rf " + run, "mv " + run + " " + run + ".gone", "ln -s " + p.out + " " + run + "/pages",
	}
	for _, file := range []string{"manifest.json", "gates.json", "logs/audit.jsonl", "logs/head.json", "perspectives.json", "wave-1/one.md", "citations/citations.jsonl", "synthesis/final-synthesis.md", "policy.json"} {
		lines = append(lines, "echo x >> "+run+"/"+file, "cp "+said+" "+run+"/"+file)
	}
	for i, words := range []string{
		"citations attach %s cid_1 " + said + " --over --reason x", "citations replace %s cid_1 https://example.org/ --over --reason x", "run accept %s --reason x", "gate c %s --accept --reason x",
		"run limit %s max_minutes 99999", "run limit %s max_cost_usd 99999", "run pause %s", "run cancel %s --reason x", "run seal %s", "job retry %s perspectives --note x", "run continue %s --unconfined",
	} {
		way := []string{"TIDEGATE_HOME=", "env -i TIDEGATE_HOME="}[i%2]
		lines = append(lines, way+p.home+" setsid -w "+binary+" "+fmt.Sprintf(words, id))
	}
	return lines
}

// byChance is what differs between two honest runs: digests, and how many lines of
// digests the log has, because answers that come in together are written together.
var byChance = regexp.MustCompile(`[0-9a-f]{64}|\b\d+ (?:lines|events)\b`)

// TestNoAgentTurnsItsRun takes a question to its report twice: with an agent that does
// what its prompts say, and with one that attacks the run during every job besides. What
// comes out is the same, and a stranger verifies it.
func TestNoAgentTurnsItsRun(t *testing.T) {
	full.Story(t)
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, article(r.URL.Path))
	}))
	t.Cleanup(web.Close)
	self := must.Get(os.Executable())(t)
	key, signers := filepath.Join(t.TempDir(), "key"), filepath.Join(t.TempDir(), "signers")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key).CombinedOutput(); err != nil {
		t.Skipf("no key can be made: %v %s", err, out)
	}
	public := must.Get(os.ReadFile(key + ".pub"))(t)
	must.Do(t, os.WriteFile(signers, append([]byte("person@example.org "), public...), 0o600))
	const id = "tugs"
	var ends [2]map[string]string
	for i, hostile := range []bool{false, true} {
		p := newPrison(t)
		p.env = append(p.env, "TIDEGATE_NOW=2026-03-02T10:00:00Z", "TIDEGATE_FETCH_ALLOW="+strings.TrimPrefix(web.URL, "http://"), "COLUMNS=400")
		lines := []string{}
		if hostile {
			lines = p.hostileRun(id)
		}
		script := "cat > prompt\necho $TIDEGATE_KIND >> " + p.out + "/kinds\n"
		for n, line := range lines {
			script += fmt.Sprintf("(%s) </dev/null >/dev/null 2>&1 && echo %d >> %s/done\n", line, n, p.out)
		}
		agent := filepath.Join(p.out, "agent.sh")
		for name, text := range map[string]string{agent: script + "exec \"$@\" < prompt\n", filepath.Join(p.out, "forged.html"): "<p>It pulls at the moon.</p>"} {
			must.Do(t, os.WriteFile(name, []byte(text), 0o600))
		}
		said := p.types(0, "research", "Tugs: which?", "--one-agent", "--yes", "--agent", "exec:sh "+agent+" "+self+" "+obeyWord+" "+web.URL+"/port", "--agent-read", self)
		if text, err := os.ReadFile(filepath.Join(p.out, "done")); err == nil {
			for n := range strings.FieldsSeq(string(text)) {
				at, _ := strconv.Atoi(n)
				t.Errorf("an agent did: %s", lines[at])
			}
		}
		kinds, _ := os.ReadFile(filepath.Join(p.out, "kinds"))
		for _, kind := range []string{"perspectives", "wave1", "summary", "synthesis", "review", "verify"} {
			if !slices.Contains(strings.Fields(string(kinds)), kind) {
				t.Errorf("no agent worked at %s:\n%s", kind, said)
			}
		}
		ends[i] = map[string]string{"verify": p.types(0, "run", "verify", id), "report": p.types(0, "report", id)}
		// Whoever seals and whoever verifies a seal replays, too. The short form has no
		// more than the hostile agent's run replayed.
		seal := filepath.Join(p.out, "sealed")
		if hostile || full.Asked() {
			p.types(0, "run", "seal", id, "--sign", key, "--output", seal)
			said := p.types(0, "verify", seal, "--signers", signers)
			if full.Asked() {
				ends[i]["stranger"], ends[i]["replay"] = said, p.types(0, "run", "replay", id)
			}
		}
		// Leases and their tokens are random, and so is every digest over them.
		for what, shown := range ends[i] {
			ends[i][what] = byChance.ReplaceAllString(strings.ReplaceAll(shown, p.out, "OUT"), "CHANCE")
		}
	}
	if diff := cmp.Diff(ends[0], ends[1]); diff != "" {
		t.Errorf("the hostile agent made another run (-honest +hostile):\n%s", diff)
	}
}

// withoutWord makes the test binary a program that becomes another on an older kernel:
// one that does not know the call with the number that follows the word.
const withoutWord = "without"

func init() {
	if len(os.Args) < 4 || os.Args[1] != withoutWord {
		return
	}
	call, _ := strconv.Atoi(os.Args[2])
	runtime.LockOSThread()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(call), Jf: 1},
		{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program))); errno != 0 {
		panic(errno)
	}
	panic(syscall.Exec(os.Args[3], os.Args[3:], os.Environ()))
}

// TestNothingIsSpentOnAKernelWithoutCells takes Landlock and seccomp away from the whole
// program: no agent is started, no run begins, and a person who goes without is told so.
func TestNothingIsSpentOnAKernelWithoutCells(t *testing.T) {
	t.Parallel()
	self := must.Get(os.Executable())(t)
	for reason, call := range map[string]int{"no Landlock": unix.SYS_LANDLOCK_CREATE_RULESET, "no seccomp": unix.SYS_SECCOMP} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			p := newPrison(t)
			agent := filepath.Join(p.out, "agent.sh")
			must.Do(t, os.WriteFile(agent, []byte("cat >/dev/null\necho $TIDEGATE_KIND >> "+p.out+"/started\n"), 0o600))
			types := func(want int, words ...string) string {
				t.Helper()
				command := exec.Command(self, append([]string{withoutWord, strconv.Itoa(call), binary}, words...)...)
				command.Dir, command.Env = p.project, p.env
				out, _ := command.CombinedOutput()
				if got := command.ProcessState.ExitCode(); got != want {
					t.Fatalf("tidegate %q: exit status %d, want %d\n%s", words, got, want, out)
				}
				return string(out)
			}
			research := []string{"research", "Tugs: which?", "--one-agent", "--yes", "--agent", "exec:sh " + agent}
			if said := types(4, research...); !strings.Contains(said, "NOT_CONFINED") || !strings.Contains(said, reason) || !strings.Contains(said, "--unconfined") {
				t.Errorf("research says:\n%s", said)
			}
			if _, err := os.Stat(filepath.Join(p.out, "started")); err == nil {
				t.Error("an agent was started")
			}
			if _, err := os.Stat(filepath.Join(p.home, "runs", "tugs")); err == nil {
				t.Error("a run was begun")
			}
			if said := types(0, "doctor"); !strings.Contains(said, reason) {
				t.Errorf("doctor says:\n%s", said)
			}
			// The agent has no answer, which is another matter.
			if said := types(4, append(research, "--unconfined")...); strings.Contains(said, "NOT_CONFINED") {
				t.Errorf("research --unconfined says:\n%s", said)
			}
			if kinds, _ := os.ReadFile(filepath.Join(p.out, "started")); !strings.Contains(string(kinds), "perspectives") {
				t.Error("the agent of a person who goes without was not started")
			}
		})
	}
}
