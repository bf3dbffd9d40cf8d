package artifact_test

import (
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
)

func TestClaimIsHeldByOneAndSaysByWhom(t *testing.T) {
	folder, err := artifact.Everywhere.Open("path", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	const name = ".tidegate.home"
	if _, held, err := folder.Claimed(name); held || err != nil {
		t.Fatalf("nobody claimed it: %v, %v", held, err)
	}
	claim := must.Get(folder.Claim(name, tidegate.Pairs("host", "tug", "process", 7)))(t)
	_, err = folder.Claim(name, tidegate.Pairs("host", "other"))
	if tidegate.CodeOf(err) != tidegate.LockHeld {
		t.Fatalf("a second claim gives %v", err)
	}
	if host, ok := tidegate.AsError(err).Details.Get("host"); !ok || host == nil {
		t.Errorf("the error does not name the holder: %v", err)
	}
	if holder, held, err := folder.Claimed(name); !held || err != nil || len(holder) != 2 {
		t.Errorf("Claimed says %v, %v, %v", holder, held, err)
	}
	claim.Release()
	claim.Release()
	if _, held, err := folder.Claimed(name); held || err != nil {
		t.Errorf("after its release: %v, %v", held, err)
	}
}

// TestLookingAtAClaimDoesNotTakeIt claims a folder that others look at all the
// time.
func TestLookingAtAClaimDoesNotTakeIt(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	var lookers sync.WaitGroup
	folder := must.Get(artifact.Everywhere.Open("path", dir))(t)
	defer folder.Close()
	for range 2 {
		lookers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					folder.Claimed("home")
				}
			}
		})
	}
	for range 50 {
		claim, err := folder.Claim("home", tidegate.Pairs("process", 1))
		if err != nil {
			t.Errorf("a look took the claim: %v", err)
			break
		}
		claim.Release()
	}
	close(stop)
	lookers.Wait()
}

// TestTheHolderOfAClaimChangesItsNote reads notes of different lengths, one after
// the other, and what is left of a longer one.
func TestTheHolderOfAClaimChangesItsNote(t *testing.T) {
	folder := must.Get(artifact.Everywhere.Open("path", t.TempDir()))(t)
	defer folder.Close()
	const name = ".tidegate.home"
	claim := must.Get(folder.Claim(name, tidegate.Pairs("first", "a rather long note")))(t)
	defer claim.Release()
	for _, note := range []tidegate.Details{tidegate.Pairs("a", "b"), nil, tidegate.Pairs("c", "a longer note", "d", "and more"), tidegate.Pairs("e", "f")} {
		must.Do(t, claim.Note(note))
		got, held, err := folder.Claimed(name)
		if err != nil || !held || len(got) != len(note) || len(got) > 0 && got[0].Key != note[0].Key {
			t.Errorf("noted %v, read %v (%v, %v)", note, got, held, err)
		}
	}
}

// TestAClaimWaitsForWhatADeadHolderLeft keeps the lock of a dead holder for a while,
// as a process does that the holder was just starting.
func TestAClaimWaitsForWhatADeadHolderLeft(t *testing.T) {
	t.Parallel()
	dead := exec.Command(os.Args[0], "-test.run", "^$")
	must.Do(t, dead.Run())
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	folder := must.Get(artifact.Everywhere.Open("path", t.TempDir()))(t)
	defer folder.Close()
	left := must.Get(folder.Claim("home", tidegate.Pairs("host", host, "process", dead.Process.Pid)))(t)
	time.AfterFunc(200*time.Millisecond, left.Release)
	claim := must.Get(folder.Claim("home", tidegate.Pairs("host", host, "process", os.Getpid())))(t)
	claim.Release()
}
