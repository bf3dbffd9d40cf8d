package artifact_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestNoUpdateIsLostBetweenProcesses(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"counter": "0\n"})
	var processes sync.WaitGroup
	for range 8 {
		processes.Go(func() {
			if said, err := self(t, "count", dir).Output(); err != nil || string(said) != "done" {
				t.Errorf("said %q, %v", said, err)
			}
		})
	}
	processes.Wait()
	expectCount(t, dir, 400)
}

func TestNoUpdateIsLostBetweenGoroutines(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"counter": "0\n"})
	var goroutines sync.WaitGroup
	for range 400 {
		goroutines.Go(func() {
			if err := countOnce(dir); err != nil {
				t.Error(err)
			}
		})
	}
	goroutines.Wait()
	expectCount(t, dir, 400)
}

// expectCount checks that each of the updates has its line, and that the head
// names the last.
func expectCount(t *testing.T, dir string, want int) {
	t.Helper()
	state := tree(t, dir)
	if got := state["counter"]; got != fmt.Sprintln(want) {
		t.Errorf("counter is %q, want %d", got, want)
	}
	log := state["log.jsonl"]
	if report := verify(t, log); report.Lines != want || report.Broken+report.Unchained > 0 || report.Torn {
		t.Errorf("log: %+v; want %d chained lines", report, want)
	}
	for i, line := range strings.Split(strings.TrimSuffix(log, "\n"), "\n") {
		if !strings.HasPrefix(line, fmt.Sprintf(`{"n":%d,`, i+1)) {
			t.Fatalf("line %d is %s", i+1, line)
		}
	}
	if state["log.head"] != headOf(log) {
		t.Errorf("head is %s, want %s", state["log.head"], headOf(log))
	}
	if len(state) != 4 {
		t.Errorf("more than counter, log, head and lock is left: %v", state)
	}
}

func TestWaitingForTheLockEndsAfterHalfAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		holder := locked(t, open(t, dir))
		began := time.Now()
		_, err := open(t, dir).Lock(t.Context(), time.Now)
		if tidegate.CodeOf(err) != tidegate.LockHeld {
			t.Errorf("%v, want LOCK_HELD", err)
		}
		if path, _ := tidegate.AsError(err).Details.Get("lock_path"); path != filepath.Join(dir, ".tidegate.lock") {
			t.Errorf("details name %v", path)
		}
		if waited := time.Since(began); waited != 30*time.Second {
			t.Errorf("waited %v", waited)
		}
		holder.Unlock()
		holder.Unlock()
		locked(t, open(t, dir))
	})
}

func TestWaitingForTheLockEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		locked(t, open(t, dir))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for _, when := range []string{"while it waits", "before it begins"} {
			if _, err := open(t, dir).Lock(ctx, time.Now); tidegate.CodeOf(err) != tidegate.Cancelled {
				t.Errorf("%s: %v, want CANCELLED", when, err)
			}
		}
	})
}

// holdLock holds the lock until it is killed.
func holdLock(dir string) error {
	f, err := artifact.Everywhere.Open("dir", dir)
	if err != nil {
		return err
	}
	if _, err := f.Lock(context.Background(), time.Now); err != nil {
		return err
	}
	fmt.Println("held")
	select {}
}

func TestAKilledHolderBlocksNobody(t *testing.T) {
	dir := t.TempDir()
	holder := self(t, "hold", dir)
	out := must.Get(holder.StdoutPipe())(t)
	must.Do(t, holder.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := open(t, dir).Lock(ctx, time.Now); tidegate.CodeOf(err) != tidegate.Cancelled {
		t.Errorf("the lock of another process was taken: %v", err)
	}
	must.Do(t, holder.Process.Kill())
	holder.Wait()
	locked(t, open(t, dir)).Unlock()
}

func TestADeletedLockFileIsNoLock(t *testing.T) {
	dir := t.TempDir()
	holder := locked(t, open(t, dir))
	defer holder.Unlock()
	if err := os.Remove(filepath.Join(dir, ".tidegate.lock")); err != nil {
		t.Skipf("an open file cannot be deleted here: %v", err)
	}
	// By another path, because a process has its own queue for each.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	locked(t, open(t, link)).Unlock()
	if _, err := os.Stat(filepath.Join(dir, ".tidegate.lock")); err != nil {
		t.Errorf("the lock file is not there again: %v", err)
	}
}

// In one process, those who wait get the lock in the order in which they came.
func TestGoroutinesGetTheLockInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		holder := locked(t, open(t, dir))
		const waiters = 20
		order := make(chan int, waiters)
		for i := range waiters {
			go func() {
				l, err := open(t, dir).Lock(t.Context(), time.Now)
				if err != nil {
					t.Error(err)
					return
				}
				order <- i
				l.Unlock()
			}()
			synctest.Wait()
		}
		holder.Unlock()
		for i := range waiters {
			if got := <-order; got != i {
				t.Fatalf("the lock went to %d before %d", got, i)
			}
		}
	})
}

func TestSomethingElseInPlaceOfTheLock(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, ".tidegate.lock"), 0o700))
	if _, err := open(t, dir).Lock(t.Context(), time.Now); tidegate.CodeOf(err) != tidegate.WriteFailed {
		t.Errorf("%v, want WRITE_FAILED", err)
	}
}

// leaseAt is a .lock as the earlier system writes it.
func leaseAt(created, refreshed string, seconds any) string {
	return fmt.Sprintf("{\n  \"pid\": 4242,\n  \"hostname\": \"box\",\n  \"created_at\": %q,\n  \"lease_seconds\": %v,\n  \"refreshed_at\": %q,\n  \"owner_id\": \"box:4242:%s\"\n}\n", created, seconds, refreshed, created)
}

func TestLeaseOfTheEarlierSystem(t *testing.T) {
	now := time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC)
	const past, recent = "2026-02-14T11:00:00.000Z", "2026-02-14T11:58:30.000Z"
	for what, lease := range map[string]struct {
		content string
		held    bool
	}{
		"fresh":                               {leaseAt(recent, recent, 120), true},
		"refreshed":                           {leaseAt(past, recent, 120), true},
		"to the second":                       {leaseAt("2026-02-14T11:58:00.000Z", "2026-02-14T11:58:00.000Z", 120), true},
		"a millisecond over":                  {leaseAt("2026-02-14T11:57:59.999Z", "2026-02-14T11:57:59.999Z", 120), false},
		"run out":                             {leaseAt(past, past, 120), false},
		"from the future":                     {leaseAt("2026-02-14T13:00:00.000Z", "2026-02-14T13:00:00.000Z", 120), false},
		"a millisecond ahead":                 {leaseAt("2026-02-14T12:00:00.001Z", "2026-02-14T12:00:00.001Z", 120), false},
		"from now":                            {leaseAt("2026-02-14T12:00:00.000Z", "2026-02-14T12:00:00.000Z", 120), true},
		"endless":                             {leaseAt(past, past, "1e300"), true},
		"refreshed at no time, created fresh": {leaseAt(recent, "soon", 120), true},
		"of no time":                          {leaseAt("once", "soon", 120), false},
		"of no length":                        {leaseAt(recent, recent, 0), false},
		"of a length in words":                {leaseAt(recent, recent, `"120"`), false},
		"without owner":                       {strings.Replace(leaseAt(recent, recent, 120), "owner_id", "owner", 1), false},
		"torn":                                {leaseAt(recent, recent, 120)[:60], false},
		"empty":                               {"", false},
		"no JSON":                             {"locked\n", false},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				put(t, dir, map[string]string{".lock": lease.content})
				l, err := open(t, dir).Lock(t.Context(), func() time.Time { return now })
				if held := tidegate.CodeOf(err) == tidegate.LockHeld; held != lease.held {
					t.Errorf("held %v, want %v (%v)", held, lease.held, err)
				}
				if err == nil {
					l.Unlock()
				}
				if lease.held {
					if path, _ := tidegate.AsError(err).Details.Get("lock_path"); path != filepath.Join(dir, ".lock") {
						t.Errorf("details name %v", path)
					}
					if !strings.Contains(err.Error(), "box:4242") {
						t.Errorf("the owner is not named: %v", err)
					}
				}
				if got := tree(t, dir)[".lock"]; got != lease.content {
					t.Errorf("the lease was changed: %q", got)
				}
			})
		})
	}
}

// For a process on this host it is known whether it can still be at work.
func TestLeaseOfAProcessOfThisHost(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	process := func() *exec.Cmd {
		holder := self(t, "hold", t.TempDir())
		out := must.Get(holder.StdoutPipe())(t)
		must.Do(t, holder.Start())
		must.Get(bufio.NewReader(out).ReadString('\n'))(t)
		return holder
	}
	running, gone := process(), process()
	defer running.Wait()
	defer running.Process.Kill()
	gone.Process.Kill()
	gone.Wait()
	for what, lease := range map[string]struct {
		host string
		pid  any
		held bool
	}{
		"of one that is at work":        {host, running.Process.Pid, true},
		"of one that is gone":           {host, gone.Process.Pid, false},
		"of one that is gone elsewhere": {"box", gone.Process.Pid, true},
		"of our parent":                 {host, os.Getppid(), false},
		"of ourselves":                  {host, os.Getpid(), false},
		"of an unknown one":             {host, -1, true},
		"of half a one":                 {host, 4242.5, true},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				at := time.Now().UTC().Format(time.RFC3339Nano)
				text := strings.Replace(leaseAt(at, at, 120), `"pid": 4242`, fmt.Sprintf(`"pid": %v`, lease.pid), 1)
				put(t, dir, map[string]string{".lock": strings.Replace(text, `"hostname": "box"`, fmt.Sprintf(`"hostname": %q`, lease.host), 1)})
				l, err := open(t, dir).Lock(t.Context(), time.Now)
				if held := tidegate.CodeOf(err) == tidegate.LockHeld; held != lease.held || err != nil && !held {
					t.Errorf("held %v, want %v (%v)", held, lease.held, err)
				}
				if err == nil {
					l.Unlock()
				}
			})
		})
	}
}

// The earlier system may have started a shell that started us.
func TestLeaseOfTheParentOfOurParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only the parent is known here")
	}
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	put(t, dir, map[string]string{"counter": "0\n"})
	at := time.Now().UTC().Format(time.RFC3339Nano)
	put(t, dir, map[string]string{".lock": strings.NewReplacer("4242,", fmt.Sprintf("%d,", os.Getpid()), `"box"`, fmt.Sprintf("%q", host)).Replace(leaseAt(at, at, 3600))})
	cmd := self(t, "count", dir, "sh", "-c", `"$0"; true`)
	if said, err := cmd.Output(); err != nil || string(said) != "done" {
		t.Errorf("said %q, %v", said, err)
	}
}

func TestLockWaitsUntilTheLeaseRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		at := time.Now().UTC().Format(time.RFC3339Nano)
		put(t, dir, map[string]string{".lock": leaseAt(at, at, 10)})
		began := time.Now()
		locked(t, open(t, dir)).Unlock()
		if waited := time.Since(began); waited < 10*time.Second || waited > 11*time.Second {
			t.Errorf("waited %v for a lease of 10 s", waited)
		}
	})
}

// The earlier system rewrites its lease in place: for a moment it is empty.
func TestLeaseThatIsJustBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, map[string]string{".lock": ""})
		go func() {
			time.Sleep(100 * time.Millisecond) // in the time of the bubble
			at := time.Now().UTC().Format(time.RFC3339Nano)
			put(t, dir, map[string]string{".lock": leaseAt(at, at, 120)})
		}()
		if _, err := open(t, dir).Lock(t.Context(), time.Now); tidegate.CodeOf(err) != tidegate.LockHeld {
			t.Errorf("%v, want LOCK_HELD", err)
		}
	})
}
