package client_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/tidegate/tidegate/internal/agent/sandbox"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
)

// The stand-ins for clients are this test binary under the client's name.
func TestMain(m *testing.M) {
	if scene := os.Getenv("STANDIN"); scene != "" {
		standIn(filepath.Base(os.Args[0]), scene)
		return
	}
	if len(os.Args) == 4 && os.Args[1] == "mcp" { // it stands in for tidegate
		if err := sandbox.Relay(context.Background(), os.Args[3], os.Stdin, os.Stdout); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	// Most of the time a test waits for other processes.
	flag.Parse()
	if parallel := flag.Lookup("test.parallel"); parallel.Value.String() == parallel.DefValue {
		flag.Set("test.parallel", "8")
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(100) // agents that write 100 MB make more garbage than memory has room for
	}
	code := m.Run()
	sandbox.EndResting()
	if left := leftBehind(); left != "" && code == 0 {
		fmt.Println("the tests left behind:", left)
		code = 1
	}
	os.Exit(code)
}
