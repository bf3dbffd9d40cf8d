package fetch_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
)

const archiveName = "evidence/archive.warc.gz"

func openFolder(t testing.TB, dir string) *artifact.Folder {
	t.Helper()
	folder := must.Get(artifact.Everywhere.Open("dir", dir))(t)
	t.Cleanup(func() { folder.Close() })
	return folder
}

// keepIn fetches what an archive does not have yet into it.
func keepIn(a *archive.Archive, folder *artifact.Folder, client *fetch.Client, urls []string) (kept []archive.Entry, err error) {
	missing := slices.DeleteFunc(slices.Clone(urls), func(url string) bool {
		_, there := a.Find(url)
		return there
	})
	ctx := context.Background()
	err = client.Each(ctx, missing, func(batch []*archive.Packed) error {
		lock, err := folder.Lock(ctx, time.Now)
		if err != nil {
			return err
		}
		defer lock.Unlock()
		entries, err := a.Append(ctx, lock, batch...)
		kept = append(kept, entries...)
		return err
	}, nil)
	return kept, err
}

// childVar tells the test binary to fetch into a folder, as another process.
const childVar = "FETCH_TEST_FOLDER"

func TestMain(m *testing.M) {
	flag.Parse() // the other process is told of -full
	if dir := os.Getenv(childVar); dir != "" {
		if err := fetchInto(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// childURLs are what the other process fetches. Some redirect and some have no
// answer, so that captures of every length are written.
func childURLs() []string {
	var urls []string
	for i := range 200 / full.Stride(2, 1) {
		urls = append(urls, fmt.Sprintf("http://h%d.example/%d", i, i%7))
	}
	return append(urls, "http://localhost/", "http://10.0.0.1/")
}

// fetchInto fetches what the archive of a folder does not have, and says what it
// asked for and how much it kept.
func fetchInto(dir string) error {
	var mu sync.Mutex
	say := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Println(line)
	}
	w := startSmall(func(w http.ResponseWriter, r *http.Request) {
		say("asked http://" + r.Host + r.URL.Path)
		if r.URL.Path == "/3" {
			http.Redirect(w, r, "/there", http.StatusFound)
			return
		}
		fmt.Fprint(w, strings.Repeat(r.Host+" ", 500))
	})
	folder, err := artifact.Everywhere.Open("dir", dir)
	if err != nil {
		return err
	}
	a, err := archive.Open(context.Background(), folder, archiveName, nil)
	if err != nil {
		return err
	}
	client := fetch.New(w.options())
	missing := slices.DeleteFunc(childURLs(), func(url string) bool {
		_, there := a.Find(url)
		return there
	})
	for len(missing) > 0 { // a few at a time, so that there are many writes
		some := missing[:min(5, len(missing))]
		missing = missing[len(some):]
		if _, err := keepIn(a, folder, client, some); err != nil {
			return err
		}
		say("kept " + strings.Join(some, " "))
	}
	return nil
}

// TestKilledProcess kills, at many moments, a process that fetches, and lets the
// next one go on: what was reported as kept is there, nothing that is there is
// asked for again, and in the end everything is there once.
func TestKilledProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes are left out of the short form")
	}
	exe := must.Get(os.Executable())(t)
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.FromSlash(archiveName))
	for round := 0; ; round++ {
		if round > 200 {
			t.Fatal("it never ends")
		}
		before := must.Get(archive.Open(context.Background(), openFolder(t, dir), archiveName, nil))(t)
		cmd := exec.Command(exe, fmt.Sprintf("-full=%v", full.Asked()))
		cmd.Env = append(os.Environ(), childVar+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		kept := []string{}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if urls, ok := strings.CutPrefix(lines.Text(), "kept "); ok {
				kept = append(kept, strings.Fields(urls)...)
			}
			if url, ok := strings.CutPrefix(lines.Text(), "asked "); ok {
				if _, there := before.Find(url); there {
					t.Errorf("%s was in the archive and is asked for again", url)
				}
			}
			if n == 3+round*5%23 { // at another line in every round
				cmd.Process.Kill()
			}
		}
		ended := cmd.Wait()
		after, err := archive.Open(context.Background(), openFolder(t, dir), archiveName, nil)
		if err != nil {
			t.Fatalf("after round %d: %v", round, err)
		}
		for _, url := range kept {
			if _, there := after.Find(url); !there {
				t.Errorf("%s was kept and is gone", url)
			}
		}
		if ended == nil {
			break
		}
	}
	a := must.Get(archive.Open(context.Background(), openFolder(t, dir), archiveName, nil))(t)
	times := map[string]int{}
	for _, entry := range a.Entries() {
		times[entry.URL]++
	}
	for _, url := range childURLs() {
		if times[url] != 1 {
			t.Errorf("%s is there %d times", url, times[url])
		}
	}
	if info, err := os.Stat(file); err != nil || info.Size() != a.Size() {
		t.Errorf("%d bytes of the archive are records: %v", a.Size(), err)
	}
}
