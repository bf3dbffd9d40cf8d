package client_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/agents"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/link"
)

// shell runs a script as an exec agent, and returns what it says and what happened.
func shell(t *testing.T, script string, settings driver.Settings, host driver.Host) (driver.Answer, []driver.Event, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.sh")
	must.Do(t, os.WriteFile(path, []byte(script), 0o600))
	settings.Driver = "exec:sh " + path
	if host.Temp == "" {
		host.Temp = t.TempDir()
	}
	d := must.Get(client.New(settings, host))(t)
	var events []driver.Event
	answer, err := d.Run(t.Context(), task(), func(e driver.Event) { events = append(events, e) })
	return answer, events, err
}

// TestWhatIsInACell has an agent look around.
func TestWhatIsInACell(t *testing.T) {
	t.Parallel()
	home, data, out := t.TempDir(), t.TempDir(), t.TempDir()
	for name, text := range map[string]string{filepath.Join(home, ".ssh/id"): "key", filepath.Join(home, "notes"): "n", filepath.Join(data, "figures"): "42"} {
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	}
	environ := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=/run/user/0", "DBUS_SESSION_BUS_ADDRESS=x", "HTTPS_PROXY=http://elsewhere"}
	answer, _ := must.Both(shell(t, `cat >/dev/null
try() { if (eval "$1") >/dev/null 2>&1; then echo "done: $1"; else echo "refused: $1"; fi; }
try "cat $PERSON/.ssh/id"
try "cat $PERSON/notes"
try "ls $PERSON"
try "echo x > $PERSON/made"
try "echo x > ../beside"
try "echo x > ../prompt"
try "rm ../claim"
try "cat ../claim"
try "flock -n ../claim true"
try "ls .."
try "cat $DATA/figures"
try "echo x > $DATA/made"
try "echo x > $OUT/made"
try "echo x > made"
try "mktemp"
try "mkdir -p ~/.claude && echo x > ~/.claude/settings.json"
try "cat ../prompt"
try "echo x > /dev/null"
try "cat /etc/shadow"
try "cat /proc/1/environ"
try "ls /etc/ssl/private"
echo "HOME $HOME" "bus $DBUS_SESSION_BUS_ADDRESS" "proxy $HTTPS_PROXY"
`, driver.Settings{Env: []string{"PERSON", "DATA", "OUT"}, Access: driver.Access{Read: []string{data}, Write: []string{out}}},
		driver.Host{Environ: append(environ, "PERSON="+home, "DATA="+data, "OUT="+out)}))(t)
	want := []string{"refused: cat " + home + "/.ssh/id", "refused: cat " + home + "/notes", "refused: ls " + home, "refused: echo x > " + home + "/made", "refused: echo x > ../beside",
		"refused: echo x > ../prompt", "refused: rm ../claim", "refused: cat ../claim", "refused: flock -n ../claim true", "done: ls ..", "done: cat " + data + "/figures", "refused: echo x > " + data + "/made", "done: echo x > " + out + "/made", "done: echo x > made", "done: mktemp",
		"done: mkdir -p ~/.claude", "done: cat ../prompt", "done: echo x > /dev/null", "refused: cat /etc/shadow", "refused: cat /proc/1/environ", "refused: ls /etc/ssl/private"}
	lines := strings.Split(answer.Text, "\n")
	for i, line := range want {
		if !strings.HasPrefix(lines[i], line) {
			t.Errorf("got %q, want %q", lines[i], line)
		}
	}
	if last := lines[len(want)]; strings.Contains(last, home) || !strings.Contains(last, "bus  proxy") && !strings.HasSuffix(last, "proxy ") {
		t.Errorf("its environment: %s", last)
	}
	if _, err := os.Stat(filepath.Join(home, ".claude")); err == nil {
		t.Error("a file was planted in the person's home")
	}
}

// TestACellThroughLinks: a person's temporary folder, home, folders of programs and what an
// agent is given may all be links.
func TestACellThroughLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"real/tools/v1/bin/tool":  "#!/bin/sh\ncat \"$(dirname \"$(readlink -f \"$0\")\")/../lib/words\"",
		"real/tools/v1/lib/words": "of the tool", "real/home/src/notes": "n", "real/home/go/pkg/mod/m": "of a module", "real/home/bin/x": "", "real/data/figures": "42", "real/out/x": "", "real/temp/x": "",
	} {
		name = filepath.Join(dir, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o700)))
	}
	for name, to := range map[string]string{"tools": "real/tools", "real/tools/current": "v1", "home": "real/home", "data": dir + "/real/data", "out": "real/out", "temp": "temp2", "temp2": "real/temp", "bin/tool": "../tools/current/bin/tool"} {
		name = filepath.Join(dir, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.Symlink(to, name)))
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	path := strings.Join([]string{in("bin"), in("tools/current/bin"), in("real/home/bin"), os.Getenv("PATH")}, ":")
	answer, _, err := shell(t, `cat >/dev/null
cat "$DATA/figures"; echo; tool; echo; cat "$GOMODCACHE/m"; echo
echo x > made && echo x > "$OUT/made" && echo x > "$(mktemp)" && echo x > ~/made && echo written
cat "$PERSON/src/notes" || echo refused
`, driver.Settings{Env: []string{"PERSON", "DATA", "OUT"}, Access: driver.Access{Read: []string{in("data")}, Write: []string{in("out")}}},
		driver.Host{Temp: in("temp"), Environ: []string{"PATH=" + path, "HOME=" + in("home"), "PERSON=" + in("home"), "DATA=" + in("data"), "OUT=" + in("out")}})
	if want := "42\nof the tool\nof a module\nwritten\nrefused\n"; err != nil || answer.Text != want {
		t.Errorf("got %q, %v", answer.Text, err)
	}
}

// TestAnAgentOfYesterdayReadsWhatToAdd is about one that needs a file that no cell
// holds by itself.
func TestAnAgentOfYesterdayReadsWhatToAdd(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(data, "model.bin"), nil, 0o600))
	_, _, err := shell(t, "cat >/dev/null\ncat "+data+"/model.bin", driver.Settings{}, driver.Host{})
	failure := agents.CheckKind(t, err, driver.Died)
	if failure == nil || !strings.Contains(failure.Message, data+"/model.bin: Permission denied") || !strings.Contains(failure.Help, "--agent-read") || strings.Contains(failure.Help, "\n") {
		t.Errorf("got %+v", failure)
	}
}

// TestAnAgentWithoutANetworkIsToldSo has agents that try again for ever to reach their
// model: at the address that a person configured, and at a host that is known.
func TestAnAgentWithoutANetworkIsToldSo(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("no curl here")
	}
	for address, url := range map[string]string{"127.0.0.1:4242": "http://127.0.0.1:4242/v1", "api.openai.com:443": "https://api.openai.com/v1"} {
		_, events, err := shell(t, "cat >/dev/null\nwhile true; do "+curl+" -s "+url+"; done", driver.Settings{Env: []string{"MY_BASE_URL"}},
			driver.Host{Environ: []string{"PATH=" + os.Getenv("PATH"), "MY_BASE_URL=http://127.0.0.1:4242"}})
		failure := agents.CheckKind(t, err, driver.Unavailable)
		if failure == nil || !failure.NeedsPerson() || failure.Help != "--agent-network model" || !strings.Contains(failure.Message, address) {
			t.Errorf("%s: got %+v", url, failure)
		}
		if !slices.ContainsFunc(events, func(e driver.Event) bool { return strings.HasPrefix(e.Text, "the door refused "+address) }) {
			t.Errorf("%s: the record says %v", url, events)
		}
	}
	// What is nobody's model is refused, and the agent goes on.
	answer, _, err := shell(t, "cat >/dev/null\n"+curl+" -s -o /dev/null -w '%{http_code}' http://telemetry.example/", driver.Settings{}, driver.Host{})
	if err != nil || answer.Text != "403" {
		t.Errorf("got %q, %v", answer.Text, err)
	}
}

func TestForbiddenFoldersAreRefusedBeforeTheFirstTask(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	forbidden := []cell.Forbidden{{Path: filepath.Join(home, "runs"), What: "the folder of runs"}}
	d := must.Get(client.New(driver.Settings{Driver: "exec:true", Access: driver.Access{Read: []string{home}}}, driver.Host{Temp: t.TempDir(), Cells: driver.Cells{Forbidden: forbidden}}))(t)
	if _, err := driver.Check(t.Context(), d); tidegate.CodeOf(err) != tidegate.InvalidArgs || !strings.Contains(err.Error(), home) || !strings.Contains(err.Error(), "the folder of runs") {
		t.Errorf("got %v", err)
	}
}

// TestNothingIsSpentWithoutACell takes Landlock and seccomp away.
func TestNothingIsSpentWithoutACell(t *testing.T) {
	t.Parallel()
	for _, system := range []cell.System{{Name: "linux", Filter: true}, {Name: "linux", ABI: 1, Filter: true}, {Name: "linux", ABI: 7}, {Name: "darwin"}} {
		for _, name := range []string{"exec:true", "acp:true", "claude"} {
			marker := filepath.Join(t.TempDir(), "started")
			bin := t.TempDir()
			for _, program := range []string{"true", "claude"} {
				must.Do(t, os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\ntouch "+marker+"\n"), 0o700))
			}
			d := must.Get(client.New(driver.Settings{Driver: name}, driver.Host{Temp: t.TempDir(), Environ: []string{"PATH=" + bin + ":" + os.Getenv("PATH")}, Cells: driver.Cells{System: system}}))(t)
			_, checked := driver.Check(t.Context(), d)
			_, ran := d.Run(t.Context(), task(), func(driver.Event) {})
			if tidegate.CodeOf(checked) != tidegate.NotConfined || tidegate.CodeOf(ran) != tidegate.NotConfined {
				t.Errorf("%s on %+v: got %v and %v", name, system, checked, ran)
			}
			if _, err := os.Stat(marker); err == nil {
				t.Errorf("%s on %+v was started", name, system)
			}
		}
	}
}

// TestAgentsOnOlderKernels takes from the kernel what it did not have with ABI 3 and 5.
// There are cells, and each says what it does not hold.
func TestAgentsOnOlderKernels(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	must.Do(t, os.WriteFile(secret, []byte("secret"), 0o600))
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for abi, held := range map[int]map[cell.Network]string{3: {cell.None: "none", cell.Model: "open"}, 5: {cell.None: "none", cell.Model: "model, by port"}} {
		for network, want := range held {
			system := cell.System{Name: "linux", ABI: abi, Filter: true}
			path := filepath.Join(t.TempDir(), "agent.sh")
			must.Do(t, os.WriteFile(path, []byte("cat >/dev/null; cat "+secret+" || echo kept\nbash -c 'exec 3<>/dev/tcp/127.0.0.1/"+port+"' || echo shut"), 0o600))
			d := must.Get(client.New(driver.Settings{Driver: "exec:sh " + path, Access: driver.Access{Network: network}}, driver.Host{Temp: t.TempDir(), Cells: driver.Cells{System: system}}))(t)
			answer, err := d.Run(t.Context(), task(), func(driver.Event) {})
			said := "kept\nshut\n"
			if want == "open" {
				said = "kept\n" // as its name says
			}
			if err != nil || answer.Text != said || answer.Kept == nil || answer.Kept.Network != want || answer.Kept.ABI != abi {
				t.Errorf("ABI %d, %s: got %q, %+v, %v", abi, network, answer.Text, answer.Kept, err)
			}
			if system.Weak() == "" {
				t.Errorf("ABI %d: nothing is said of signals", abi)
			}
		}
	}
}

// logins are those of persons, with what the clients keep in them.
var logins = map[string]struct{ file, text string }{
	"claude": {".claude/.credentials.json", `{"claudeAiOauth":{"accessToken":"sk-ant-access-token","refreshToken":"sk-ant-refresh-token","expiresAt":%d000}}`},
	"codex":  {".codex/auth.json", `{"tokens":{"access_token":"header.%s.signature","refresh_token":"codex-refresh-token","account_id":"a"}}`},
	"gemini": {".gemini/oauth_creds.json", `{"access_token":"ya29.access-token","refresh_token":"1//refresh-token","expiry_date":%d000}`},
	"opencode": {".local/share/opencode/auth.json",
		`{"anthropic":{"type":"oauth","access":"oc-access-token","refresh":"oc-refresh-token","expires":%d000},"groq":{"type":"api","key":"gsk-key-of-groq"}}`},
}

func loginOf(name string, ends time.Time) string {
	if name == "codex" {
		return fmt.Sprintf(logins[name].text, base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp":%d}`, ends.Unix())))
	}
	return fmt.Sprintf(logins[name].text, ends.Unix())
}

// client is a script that stands in for a client: it shows its login, plants what a
// client would obey, and renews a login that ends where it finds what renews it.
const clientScript = `#!/bin/sh
case "$*" in *--version*) echo 9.9.9; exit;; *status*) exit;; esac
case $0 in
*claude) f=$CLAUDE_CONFIG_DIR/.credentials.json;; *codex) f=$CODEX_HOME/auth.json;; *gemini) f=$GEMINI_CLI_HOME/.gemini/oauth_creds.json;; *opencode) f=$XDG_DATA_HOME/opencode/auth.json;;
esac
[ -f "$f" ] || f=$HOME/LOGIN
grep -q refresh-token "$f" && { echo renewed >> "$HOME/renewed"; sed -i s/access-token/another-token/ "$f"; exit 1; }
cat "$f" >&2
echo '{"hooks":{}}' > "$(dirname "$f")/settings.json"
exit 3
`

// TestALoginIsLent has a client in a cell show what it finds of the person's login:
// a copy that cannot be renewed. What it does to the copy does not come back.
func TestALoginIsLent(t *testing.T) {
	t.Parallel()
	for name, login := range logins {
		for _, soon := range []bool{false, true} {
			home, bin := t.TempDir(), t.TempDir()
			ends := time.Now().Add(time.Hour)
			if soon {
				ends = time.Now().Add(time.Minute)
			}
			text := loginOf(name, ends)
			path := filepath.Join(home, login.file)
			script := strings.Replace(clientScript, "LOGIN", login.file, 1)
			for file, text := range map[string]string{path: text, filepath.Join(bin, name): script} {
				must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
				must.Do(t, os.WriteFile(file, []byte(text), 0o700))
			}
			environ := []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "GEMINI_DEFAULT_AUTH_TYPE=oauth-personal"}
			d, err := client.New(driver.Settings{Driver: name}, driver.Host{Temp: t.TempDir(), Environ: environ})
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.Run(t.Context(), task(), func(driver.Event) {})
			failure := agents.CheckKind(t, err, driver.Died)
			if failure == nil {
				continue
			}
			if strings.Contains(failure.Message, "token\"") && strings.Contains(failure.Message, "access-token") || strings.Contains(failure.Message, "refresh-token") {
				t.Errorf("%s: what it logs in with is in the message: %s", name, failure.Message)
			}
			if name != "codex" && !strings.Contains(failure.Message, link.SecretMask) {
				t.Errorf("%s: it had no login: %s", name, failure.Message)
			}
			kept, err := os.ReadFile(path)
			if err != nil || !json.Valid(kept) || !strings.Contains(string(kept), "refresh-token") {
				t.Errorf("%s: the person's login is %s, %v", name, kept, err)
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), "settings.json")); err == nil {
				t.Errorf("%s: a hook was planted in the person's own client", name)
			}
			if _, err := os.Stat(filepath.Join(home, "renewed")); (err == nil) != soon {
				t.Errorf("%s: renewed %v, want %v", name, err == nil, soon)
			}
		}
	}
}

// TestSecretsStayOut has an agent that answers with the key that it works with.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	answer, events, err := shell(t, "cat >/dev/null\necho \"The key is $AGENT_API_KEY.\"", driver.Settings{Env: []string{"AGENT_API_KEY"}},
		driver.Host{Environ: []string{"PATH=" + os.Getenv("PATH"), "AGENT_API_KEY=sk-0123456789abcdef"}})
	if err != nil || answer.Text != "The key is "+link.SecretMask+".\n" {
		t.Errorf("got %q, %v", answer.Text, err)
	}
	for _, e := range events {
		if strings.Contains(e.Raw+e.Text, "sk-0123456789abcdef") {
			t.Errorf("an event has the key: %+v", e)
		}
	}
}

// TestNoSecretIsLeftInAWorktree has an implementer leave its key in the files that are
// to be committed: in a file, far inside a large one, in a name, in a link, in other forms.
func TestNoSecretIsLeftInAWorktree(t *testing.T) {
	t.Parallel()
	const key = "sk-0123456789abcdef"
	for _, exit := range []string{"0", "1"} { // what a failed one leaves is kept, too
		worktree, script := t.TempDir(), filepath.Join(t.TempDir(), "agent.sh")
		must.Do(t, os.WriteFile(script, []byte(`cat >/dev/null
k=$AGENT_API_KEY
printf 'key = "%s"\n' $k > config.ini
mkdir -p deep/er && echo $k $k > deep/er/file
head -c 1048570 /dev/zero > large && printf %s $k >> large
echo x > $k.txt
mkdir d-$k && echo x > d-$k/file
ln -s /$k link
ln -s / leads
echo safe > other
printf %s "$k" | sed 's/./&\x00/g' > u16le && printf %s "$k" | sed 's/./\x00&/g' > u16be
for before in "" 1 12; do printf %s "$before${k}tail" | base64 | tr +/ -_ > b64.$before; done
printf %s "$k" | od -An -v -tx1 | tr -d ' \n' > hex && sed 's/../%&/g' hex > percent
printf %s "$k" | rev > back
echo done
exit `+exit), 0o600))
		d := must.Get(client.New(driver.Settings{Driver: "exec:sh " + script, Env: []string{"AGENT_API_KEY"}}, driver.Host{Temp: t.TempDir(), Environ: []string{"PATH=" + os.Getenv("PATH"), "AGENT_API_KEY=" + key}}))(t)
		asked := task()
		asked.Folder = worktree
		var said []string
		if _, err := d.Run(t.Context(), asked, func(e driver.Event) { said = append(said, e.Text) }); (err == nil) != (exit == "0") {
			t.Fatal(err)
		}
		masks := 0
		must.Do(t, filepath.WalkDir(worktree, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, _ := os.Readlink(path)
			if entry.Type().IsRegular() {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				text = string(data)
			}
			if strings.Contains(path+text, key) {
				t.Errorf("the key is in %s", path)
			}
			if strings.HasPrefix(filepath.Base(path), "b64.") && len(text) > len(link.SecretMask)+len("MTJ")+len("dGFpbA==\n") {
				t.Errorf("much of %q is left in %s", text, path)
			}
			if strings.Contains(path+text, link.SecretMask) {
				masks++
			}
			return nil
		}))
		if masks != 14 || !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "in 14 of the files") }) {
			t.Errorf("%d are masked; said %q", masks, said)
		}
		if text, err := os.ReadFile(filepath.Join(worktree, "other")); string(text) != "safe\n" {
			t.Errorf("another file is %q, %v", text, err)
		}
	}
}

// TestTheDoor has an agent go out by every way there is.
func TestTheDoor(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("no curl here")
	}
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the model") }))
	defer model.Close()
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "private") }))
	defer private.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(private.URL, "http://"))
	ask := func(flags, url string) string {
		return curl + " -sS --max-time 20 " + flags + " " + url + " 2>&1; echo\n"
	}
	for _, system := range []cell.System{{}, {Name: "linux", ABI: 5, Filter: true}} {
		answer, events := must.Both(shell(t, "cat >/dev/null\n"+
			ask("", model.URL)+
			ask("", private.URL)+
			ask("--noproxy ''", private.URL)+
			ask("--noproxy '' --proxytunnel", "http://localhost:"+port)+
			ask("--noproxy ''", "http://10.0.0.1/")+
			ask("--noproxy '' -x $(echo $HTTP_PROXY | sed s/agent:.*@//)", "http://api.anthropic.com/")+
			ask("--noproxy '*'", "http://1.1.1.1/"),
			driver.Settings{Env: []string{"MY_BASE_URL"}, Access: driver.Access{Network: cell.Model}},
			driver.Host{Environ: []string{"PATH=" + os.Getenv("PATH"), "MY_BASE_URL=" + model.URL}, Cells: driver.Cells{System: system}}))(t)
		lines := strings.Split(answer.Text, "\n")
		if lines[0] != "the model" {
			t.Errorf("%+v: the configured endpoint: %q", system, answer.Text)
		}
		if strings.Contains(answer.Text, "private\n") || !strings.Contains(answer.Text, "is not in it") || !strings.Contains(answer.Text, "another agent") {
			t.Errorf("%+v: got %q", system, answer.Text)
		}
		var record []string
		for _, e := range events {
			record = append(record, e.Text)
		}
		// Where it has no network of its own, it reaches the endpoint itself.
		if all := strings.Join(record, "\n"); system.ABI == 0 && !strings.Contains(all, "the door let through "+strings.TrimPrefix(model.URL, "http://")) || !strings.Contains(all, "the door refused 10.0.0.1:80") {
			t.Errorf("%+v: the record says %s", system, all)
		}
	}
}

// TestAModelWithTwoNames: clients are told of one model in different words.
func TestAModelWithTwoNames(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("no curl here")
	}
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "the model") }))
	defer model.Close()
	named := strings.Replace(model.URL, "127.0.0.1", "localhost", 1)
	answer, _, err := shell(t, "cat >/dev/null\n"+curl+" -sS4 $ONE_BASE_URL $OTHER_BASE_URL", driver.Settings{Env: []string{"ONE_BASE_URL", "OTHER_BASE_URL"}, Access: driver.Access{Network: cell.Model}},
		driver.Host{Environ: []string{"PATH=" + os.Getenv("PATH"), "ONE_BASE_URL=" + model.URL, "OTHER_BASE_URL=" + named}})
	if err != nil || answer.Text != "the model\nthe model\n" {
		t.Errorf("got %q, %v", answer.Text, err)
	}
}

// TestTheDoorGoesByThePersonsProxy has a person who reaches the web by a proxy alone,
// with a login there. The agent does not see it.
func TestTheDoorGoesByThePersonsProxy(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("no curl here")
	}
	asked := make(chan string, 10)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Host + " " + r.Header.Get("Proxy-Authorization")
		if strings.HasPrefix(r.Host, "refused") {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		w.WriteHeader(http.StatusOK)
		conn, said, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		if request, err := http.ReadRequest(said.Reader); err == nil {
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%s of %s", request.URL, request.Host)
		}
	}))
	defer proxy.Close()
	upstream := strings.Replace(proxy.URL, "http://", "http://me:secret@", 1)
	ask := func(url string) string { return curl + " -sS --max-time 20 --noproxy '' " + url + "; echo\n" }
	answer, events := must.Both(shell(t, "cat >/dev/null\necho $HTTP_PROXY $HTTPS_PROXY $http_proxy\n"+ask("http://public.example/page")+ask("http://refused.example/")+ask("http://10.0.0.1/")+ask("http://127.0.0.1/"),
		driver.Settings{Access: driver.Access{Network: cell.Web}}, driver.Host{Environ: []string{"PATH=" + os.Getenv("PATH"), "HTTP_PROXY=" + upstream, "https_proxy=" + upstream}}))(t)
	lines := strings.Split(answer.Text, "\n")
	if strings.Contains(lines[0], "secret") || lines[1] != "/page of public.example" || !strings.Contains(answer.Text, "the proxy does not connect: it says 403") {
		t.Errorf("got %q", answer.Text)
	}
	close(asked)
	login := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:secret"))
	var got []string
	for each := range asked {
		got = append(got, each)
	}
	if want := []string{"CONNECT public.example:80 " + login, "CONNECT refused.example:80 " + login}; !slices.Equal(got, want) {
		t.Errorf("the proxy was asked for %q, want %q", got, want)
	}
	if !slices.ContainsFunc(events, func(e driver.Event) bool { return strings.HasPrefix(e.Text, "the door refused 10.0.0.1:80") }) {
		t.Errorf("the record says %v", events)
	}
}

// TestTheWebIsPublic asks the door for private addresses, which no network has.
func TestTheWebIsPublic(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("no curl here")
	}
	var script strings.Builder
	script.WriteString("cat >/dev/null\n")
	for _, url := range []string{"http://127.0.0.1/", "http://10.0.0.1/", "http://169.254.169.254/", "http://[::1]/", "http://localhost/", "http://0x7f.1/", "http://192.168.1.1:8080/"} {
		fmt.Fprintf(&script, "%s -gsS --max-time 20 --noproxy '' -o /dev/null -w '%%{http_code}\\n' '%s'\n", curl, url)
	}
	answer, _, err := shell(t, script.String(), driver.Settings{Access: driver.Access{Network: cell.Web}}, driver.Host{})
	if want := strings.Repeat("502\n", 6) + "403\n"; err != nil || answer.Text != want {
		t.Errorf("got %q, %v, want %q", answer.Text, err, want)
	}
}

// TestAnImplementerHasARepositoryOfItsOwn commits in a cell, and looks at the
// project afterwards.
func TestAnImplementerHasARepositoryOfItsOwn(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here")
	}
	project := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		command := exec.Command("git", append([]string{"-C", project, "-c", "user.name=n", "-c", "user.email=e@example.org"}, args...)...)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	must.Do(t, os.WriteFile(filepath.Join(project, "main.sh"), []byte("echo wrong\n"), 0o600))
	git("add", ".")
	git("commit", "-q", "-m", "first")
	git("config", "secret.token", "hunter2")
	worktree := filepath.Join(t.TempDir(), "w")
	git("worktree", "add", "-q", "-b", "work", worktree)
	before := git("for-each-ref") + git("rev-parse", "work") + git("status", "--porcelain")

	script := filepath.Join(t.TempDir(), "agent.sh")
	must.Do(t, os.WriteFile(script, []byte(`cat >/dev/null
git log --oneline --format=%s
git status --porcelain
echo echo right > main.sh
git status --porcelain
git -c user.name=a -c user.email=a@example.org commit -qam 'mine' && git log --format=%s -1
git config secret.token
git remote
cat "$PROJECT/.git/config"
echo x > "$PROJECT/.git/hooks/post-merge"
echo x > "$PROJECT/made"
true
`), 0o600))
	d := must.Get(client.New(driver.Settings{Driver: "exec:sh " + script, Env: []string{"PROJECT"}}, driver.Host{Temp: t.TempDir(), Environ: []string{"PATH=" + os.Getenv("PATH"), "PROJECT=" + project}}))(t)
	asked := task()
	asked.Folder = worktree
	asked.Repository = &driver.Repository{Objects: filepath.Join(project, ".git", "objects"), Format: "sha1", Head: git("rev-parse", "work")}
	answer, err := d.Run(t.Context(), asked, func(driver.Event) {})
	if want := "first\n M main.sh\nmine\n"; err != nil || answer.Text != want {
		t.Errorf("got %q, %v, want %q", answer.Text, err, want)
	}
	if after := git("for-each-ref") + git("rev-parse", "work") + git("status", "--porcelain"); after != before {
		t.Errorf("the project's repository changed: %s, was %s", after, before)
	}
	for _, made := range []string{"made", ".git/hooks/post-merge"} {
		if _, err := os.Stat(filepath.Join(project, made)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s was made: %v", made, err)
		}
	}
}
