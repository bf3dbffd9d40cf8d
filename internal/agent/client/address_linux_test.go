package client_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
)

// foreignModel is the name of a program that serves as a model on this machine and is not
// this program: a copy of it that knows itself by its name.
const foreignModel = "model-of-somebody-else"

func init() {
	if filepath.Base(os.Args[0]) != foreignModel {
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the model") }))
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// modelElsewhere starts a model that is another program, and returns its address.
func modelElsewhere(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), foreignModel)
	// Another process copies it: a file that this one has open to write could not be started.
	must.Do(t, exec.Command("cp", must.Get(os.Executable())(t), path).Run())
	model := exec.Command(path)
	input := must.Get(model.StdinPipe())(t)
	output := must.Get(model.StdoutPipe())(t)
	must.Do(t, model.Start())
	t.Cleanup(func() { input.Close(); model.Wait() })
	var address string
	must.Get(fmt.Fscanln(output, &address))(t)
	return address
}

// TestAModelByItsAddress: a program reaches the model on this machine that a person named,
// and nothing else.
func TestAModelByItsAddress(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("no curl here")
	}
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "private") }))
	defer private.Close()
	address := modelElsewhere(t)
	script := "cat >/dev/null\n" + curl + " -sS --noproxy '*' http://" + address + "/; echo\n" + curl + " -sS --noproxy '*' " + private.URL + " 2>&1; " + curl + " -sS --noproxy '' " + private.URL + " 2>&1"
	access := driver.Access{Network: cell.Model, ModelAddress: address}
	answer, events, err := shell(t, script, driver.Settings{Access: access, Env: []string{"MY_BASE_URL"}},
		driver.Host{Environ: []string{"PATH=" + os.Getenv("PATH"), "MY_BASE_URL=" + private.URL}})
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(answer.Text, "\n")
	if first != "the model" || strings.Contains(rest, "private") {
		t.Errorf("got %q", answer.Text)
	}
	if answer.Kept == nil || !strings.HasSuffix(answer.Kept.Network, " at "+address) {
		t.Errorf("it was kept as %+v", answer.Kept)
	}
	for _, e := range events {
		if strings.HasPrefix(e.Text, "the door let through") && !strings.Contains(e.Text, address) {
			t.Error(e.Text)
		}
	}
}

// TestAnAddressThatIsNoModel: neither a server of tidegate itself nor an address that is not
// of this machine alone can be named.
func TestAnAddressThatIsNoModel(t *testing.T) {
	t.Parallel()
	own := httptest.NewServer(http.NotFoundHandler())
	defer own.Close()
	everywhere := must.Get(net.Listen("tcp", ":0"))(t)
	defer everywhere.Close()
	_, port, _ := net.SplitHostPort(everywhere.Addr().String())
	for _, address := range []string{strings.TrimPrefix(own.URL, "http://"), "127.0.0.1:" + port, "[::1]:" + port,
		"169.254.169.254:80", "[fe80::1]:80", "0.0.0.0:80", "[::]:80", "224.0.0.1:80", "8.8.8.8:53", "[::ffff:169.254.169.254]:80", "127.0.0.1:0", "localhost:80", "model"} {
		_, _, err := shell(t, "cat >/dev/null; echo started", driver.Settings{Access: driver.Access{Network: cell.Model, ModelAddress: address}}, driver.Host{})
		if tidegate.CodeOf(err) != tidegate.NotConfined || !strings.Contains(err.Error(), "--agent-model-address "+address) {
			t.Errorf("%s: got %v", address, err)
		}
	}
}
