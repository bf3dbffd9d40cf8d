// Package proof_test holds the suites that show what docs/evidence.md promises.
// They use the program as a built binary. `go test ./proof` runs a short form of
// each, which tries some of its points; with -full they try all of them:
// `go test ./proof -full -timeout 90m`.
package proof_test

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/test/reader"
	_ "github.com/tidegate/tidegate/internal/test/scratch"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	if kind := os.Getenv("TIDEGATE_KIND"); kind != "" {
		answerAsAgent(kind)
		return
	}
	flag.Parse()
	dir, err := os.MkdirTemp("", "tg")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "tidegate")
	// go run caches the program that it links; go build links it each time.
	if out, err := exec.Command("go", "run", "-exec", "cp", "../cmd/tidegate", binary).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "the program does not build: %v\n%s", err, out)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// answerAsAgent is an agent of `tidegate ask` that says what the page says, and reads as one
// that knows the truth.
func answerAsAgent(kind string) {
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	if kind == "verify" {
		fmt.Print(reader.Faithful(string(prompt)))
		return
	}
	fmt.Print(strings.TrimSuffix(reader.Sentence(0, 3), ".") + " [@s1].")
}
