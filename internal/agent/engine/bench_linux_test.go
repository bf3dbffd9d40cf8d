package engine_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/work/run"
)

// BenchmarkThousandJobs drives a wave of a thousand jobs with a program that
// answers at once: a script that reads its prompt, as an agent does, and cat, which
// does not, because nothing that could be started takes less. It compares that time
// with starting the program as often and writing its answers durably, measured before
// and after: for the whole run, with what rules do before and after the wave, and for
// the jobs alone. It also reports how long it takes to start the program and to write
// durably, one after the other, the files that a job leaves: the cost of the record by
// itself. And it compares the last third of the jobs with the first. TMPDIR chooses
// the disk.
func BenchmarkThousandJobs(b *testing.B) {
	for _, agent := range []struct{ name, script string }{
		{"script", "cat >/dev/null\ncat answer.md\n"},
		{"cat", ""},
	} {
		b.Run(agent.name, func(b *testing.B) {
			for b.Loop() {
				program := b.TempDir()
				put(b, filepath.Join(program, "answer.md"), answerText)
				argv := []string{"cat", filepath.Join(program, "answer.md")}
				if agent.script != "" {
					argv = []string{"sh", filepath.Join(program, "agent.sh")}
					put(b, argv[1], strings.ReplaceAll(agent.script, "answer.md", filepath.Join(program, "answer.md")))
				}
				thousandJobs(b, program, argv)
			}
		})
	}
}

func put(b *testing.B, name, text string) {
	must.Do(b, os.WriteFile(name, []byte(text), 0o600))
}

// thousandJobs drives the jobs with a program that may read its own folder, in a cell
// as every agent.
func thousandJobs(b *testing.B, program string, argv []string) {
	const jobs, parallel = 1000, 4
	dir := b.TempDir()
	before := startPrograms(b, dir, argv, jobs, parallel, 1)
	files := startPrograms(b, dir, argv, jobs, parallel, filesOfAJob)

	desk := run.Desk{Now: time.Now}
	manifest := withJobs(b, desk, dir, jobs)
	agent := must.Get(client.New(driver.Settings{Driver: "exec:" + strings.Join(argv, " "), Access: driver.Access{Read: []string{program}}}, driver.Host{}))(b)
	time.Sleep(2 * time.Second) // a file that has just been written is read again, because it may change unseen
	began, used := time.Now(), cpuTime(b)
	out, err := engine.Drive(b.Context(), manifest, engine.Options{Desk: desk, Pool: &engine.Local{Drivers: func(string) []driver.Driver { return []driver.Driver{agent} }}})
	if err != nil || out.Stage != run.Citations {
		b.Fatalf("%s, %v", shown(out), err)
	}
	whole, busy := time.Since(began), cpuTime(b)-used
	// The pace of a machine changes: take the mean of one time before and one after.
	used = cpuTime(b)
	bare := (before + startPrograms(b, b.TempDir(), argv, jobs, parallel, 1)) / 2
	b.ReportMetric(busy.Seconds()/(cpuTime(b)-used).Seconds(), "cpu-times-bare")
	b.ReportMetric(busy.Seconds(), "cpu-s")
	b.ReportMetric(bare.Seconds(), "bare-s")
	b.ReportMetric(files.Seconds()/bare.Seconds(), "files-times-bare")
	b.ReportMetric(whole.Seconds()/bare.Seconds(), "times-bare")
	leased, accepted := timesOf(b, manifest)
	b.ReportMetric(accepted[jobs-1].Sub(leased[0]).Seconds()/bare.Seconds(), "jobs-times-bare")
	b.ReportMetric(accepted[jobs-1].Sub(accepted[jobs-jobs/3]).Seconds()/accepted[jobs/3-1].Sub(accepted[0]).Seconds(), "late/early")
}

// BenchmarkJobsWithSources drives a wave of a thousand jobs whose answers name ten
// sources each, none of them twice, with agents and pages that cost nothing. It
// reports the time of a job, and compares the last third of the jobs with the first.
func BenchmarkJobsWithSources(b *testing.B) {
	const jobs, sources = 1000, 10
	for b.Loop() {
		desk := run.Desk{Now: time.Now}
		manifest := withJobs(b, desk, b.TempDir(), jobs)
		pool := &crew{agent: func(_ context.Context, task driver.Task) (driver.Answer, error) {
			if task.Kind != string(run.Wave1) {
				return driver.Answer{}, &driver.Error{Kind: driver.Auth, Message: "enough"}
			}
			text := "## Findings\n\nTugs are electric.\n\n## Gaps\n\nNone.\n\n## Sources\n\n"
			for i := range sources {
				text += fmt.Sprintf("- Port statistics https://example.org/%s-%d\n", task.Job, i)
			}
			return driver.Answer{Text: text}, nil
		}}
		began, used := time.Now(), cpuTime(b)
		out, err := engine.Drive(b.Context(), manifest, engine.Options{Desk: desk, Pool: pool, Fetch: new(web).fetch})
		if err != nil || out.Stage != run.Summaries {
			b.Fatalf("%s, %v", shown(out), err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "whole-s")
		b.ReportMetric((cpuTime(b) - used).Seconds(), "cpu-s")
		leased, accepted := timesOf(b, manifest)
		b.ReportMetric(accepted[jobs-1].Sub(leased[0]).Seconds(), "jobs-s")
		b.ReportMetric(accepted[jobs-1].Sub(accepted[jobs-jobs/3]).Seconds()/accepted[jobs/3-1].Sub(accepted[0]).Seconds(), "late/early")
	}
}

// filesOfAJob is how many files a job writes: its prompt, its lease and the attempt
// when it is leased; the answer, the attempt and the lease when it is answered; the
// output, what was accepted and the attempt when it is judged.
const filesOfAJob = 9

// startPrograms starts the program for each job, with the prompt of one, and writes
// its answer durably, into the given number of files. It returns how long that took.
func startPrograms(b *testing.B, dir string, argv []string, jobs, parallel, files int) time.Duration {
	prompt := filepath.Join(dir, "prompt.md")
	put(b, prompt, strings.Repeat("A prompt has about four thousand characters.\n", 4000/45))
	began := time.Now()
	var group sync.WaitGroup
	next := make(chan int)
	for range parallel {
		group.Go(func() {
			for i := range next {
				out, err := answerOf(argv, prompt)
				for n := 0; n < files && err == nil; n++ {
					err = artifact.Everywhere.WriteFile("path", filepath.Join(dir, fmt.Sprintf("answer-%d-%d-%d.md", files, i, n)), out)
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	group.Wait()
	return time.Since(began)
}

// answerOf is what a program answers to a prompt.
func answerOf(argv []string, prompt string) ([]byte, error) {
	in, err := os.Open(prompt)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin = in
	return cmd.Output()
}

// cpuTime is the time that this process and all that it started have had on a core,
// with the supervisors that still wait for an agent.
func cpuTime(b *testing.B) time.Duration {
	all := ofSupervisors(b)
	for _, of := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var used unix.Rusage
		must.Do(b, unix.Getrusage(of, &used))
		all += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return all
}

// ofSupervisors is what the children of this process that have not ended, and what they
// have started, had on a core.
func ofSupervisors(b *testing.B) time.Duration {
	const tick = 10 * time.Millisecond // in which the kernel counts here
	var all time.Duration
	lists := must.Get(filepath.Glob("/proc/self/task/*/children"))(b)
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			continue // a thread that has ended
		}
		for _, pid := range strings.Fields(string(children)) {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			if err != nil {
				continue
			}
			_, fields, _ := strings.Cut(string(stat), ") ") // behind the name of the program
			for _, ticks := range strings.Fields(fields)[11:15] {
				n := must.Get(strconv.Atoi(ticks))(b)
				all += time.Duration(n) * tick
			}
		}
	}
	return all
}

// timesOf is when jobs were leased and when their answers were accepted.
func timesOf(b *testing.B, manifest string) (leased, accepted []time.Time) {
	r := must.Get(run.Open(b.Context(), reviewClock, manifest))(b)
	defer r.Close()
	events := must.Get(r.Events())(b)
	for _, e := range events {
		switch {
		case e.Event == run.EventLeased:
			leased = append(leased, e.Time)
		case e.Event == run.EventVerdict && e.Entry.Get("accepted").Bool():
			accepted = append(accepted, e.Time)
		}
	}
	return leased, accepted
}
