package run

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Where a run keeps its jobs. HomeFile is claimed by the process that drives the
// run, and so is ToolsFile, which says what its agents used last.
const (
	JobsDir   = "jobs"
	HomeFile  = ".tidegate.home"
	ToolsFile = ".tidegate.tools"
)

// LeaseVersion is the schema_version of a lease.
const LeaseVersion = "job_lease.v1"

// JobDir is the folder of a job.
func JobDir(jobID string) string { return JobsDir + "/" + artifact.FileName(jobID) }

// AttemptDir is the folder of an attempt at a job, counted from 1.
func AttemptDir(jobID string, attempt int) string {
	return fmt.Sprintf("%s/%03d", JobDir(jobID), attempt)
}

// Concealed reports whether no agent is shown a file of a run, by its name or path: there
// stands what chose the twins that test a second reader, or which of them it was asked.
func Concealed(name string) bool {
	parts := strings.Split(strings.ToLower(path.Clean(filepath.ToSlash(name))), "/")
	name = strings.Join(parts[max(0, len(parts)-4):], "/")
	attempt, _ := path.Match(JobsDir+"/verify.*/*/attempt.json", name)
	seed, _ := path.Match("review/rounds/*/seed.json", name)
	return attempt || seed
}

// CheckGiven returns PATH_NOT_ALLOWED for a file that an agent names and is not shown.
func CheckGiven(ctx context.Context, arg, path string) error {
	if tidegate.ActorOf(ctx).Kind == tidegate.Agent && Concealed(path) {
		return tidegate.Errorf(tidegate.PathNotAllowed, tidegate.Pairs(arg, path), "what a run keeps of a reading is no document of an agent's")
	}
	return nil
}

// LeaseFile is the name of the lease of a job.
func LeaseFile(jobID string) string { return JobDir(jobID) + "/lease.json" }

// Lease says who holds a job. The token itself is known to the holder alone.
type Lease struct {
	SchemaVersion string  `json:"schema_version"`
	JobID         string  `json:"job_id"`
	Attempt       int     `json:"attempt"`
	Holder        string  `json:"holder"`
	Home          bool    `json:"home"` // taken by the process that drives the run
	TokenDigest   string  `json:"token_digest"`
	LeasedAt      string  `json:"leased_at"`
	ExpiresAt     string  `json:"expires_at"`
	JudgingSince  *string `json:"judging_since"` // an answer was handed in and is being judged
}

// judgingTime is how long judging an answer can take. A lease does not end
// during that time; if its judge was killed, it ends afterwards.
const judgingTime = 2 * time.Minute

// aheadAtMost is how far ahead of the clock something may have begun: the clocks of two
// machines differ a little. What began later than that was begun by a clock that has
// been set back since, and says nothing about how long it lasts.
const aheadAtMost = time.Hour

func tooFarAhead(at string, now time.Time) bool {
	began, ok := tidegate.ParseTime(at)
	return ok && began.After(now.Add(aheadAtMost))
}

// Lives reports whether the lease still holds. A lease by hand that began in the
// future does not, or setting the clock back would bring those of the past to life;
// those of a home are given up or taken over by its successor.
func (l *Lease) Lives(now time.Time) bool {
	if l == nil || !l.Home && tooFarAhead(l.LeasedAt, now) {
		return false
	}
	if expires, ok := tidegate.ParseTime(l.ExpiresAt); ok && now.Before(expires) {
		return true
	}
	return l.Judging(now)
}

// Judging reports whether an answer was handed in that may still be being judged.
func (l *Lease) Judging(now time.Time) bool {
	if l == nil || l.JudgingSince == nil || tooFarAhead(*l.JudgingSince, now) {
		return false
	}
	since, ok := tidegate.ParseTime(*l.JudgingSince)
	return ok && now.Before(since.Add(judgingTime))
}

// Jobs is what lies in the folder of jobs of a run, or of other work that agents do.
type Jobs struct{ folder *artifact.Folder }

// Jobs is the run's folder of jobs.
func (r *Run) Jobs() Jobs { return Jobs{r.folder} }

// JobsIn is the folder of jobs in another folder than a run's.
func JobsIn(folder *artifact.Folder) Jobs { return Jobs{folder} }

func (j Jobs) path(name string) string {
	return filepath.Join(j.folder.Path(), filepath.FromSlash(name))
}

// Lease reads the lease of a job, nil when nobody has one. It returns
// READ_FAILED, and INVALID_STATE for a file that is not a lease.
func (j Jobs) Lease(jobID string) (*Lease, error) {
	name := LeaseFile(jobID)
	data, err := j.folder.Read(name)
	if err != nil {
		return nil, artifact.UnlessMissing(err)
	}
	l := new(Lease)
	if err := json.Unmarshal(data, l); err != nil || l.SchemaVersion != LeaseVersion || l.JobID != jobID {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", j.path(name)), "%s is not the lease of %s", name, jobID)
	}
	return l, nil
}

// WaveJob is the id of the job that writes the output of a perspective.
func WaveJob(wave Stage, perspectiveID string) string { return string(wave) + "." + perspectiveID }

// Retried is the name of the file that says which attempts at a job no longer
// count.
func Retried(jobID string) string { return JobDir(jobID) + "/retry.json" }

// JobFolder is what the folder of a job has.
type JobFolder struct {
	Attempts []int // their numbers, in order
	Leased   bool  // there is a lease; it may have run out
	Retried  bool  // some attempts do not count any more
}

// Of lists the folder of a job. It returns READ_FAILED.
func (j Jobs) Of(jobID string) (JobFolder, error) {
	entries, err := j.folder.List(JobDir(jobID))
	if err != nil {
		return JobFolder{}, err
	}
	var has JobFolder
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		switch {
		case err == nil && n > 0 && e.IsDir():
			has.Attempts = append(has.Attempts, n)
		case e.Name() == path.Base(LeaseFile(jobID)):
			has.Leased = true
		case e.Name() == path.Base(Retried(jobID)):
			has.Retried = true
		}
	}
	slices.Sort(has.Attempts)
	return has, nil
}

// Accepted reports whether the last attempt at a job was accepted and still
// counts. It returns READ_FAILED.
func (j Jobs) Accepted(jobID string) (bool, error) {
	has, err := j.Of(jobID)
	if err != nil || len(has.Attempts) == 0 {
		return false, err
	}
	last := has.Attempts[len(has.Attempts)-1]
	data, err := j.folder.Read(AttemptDir(jobID, last) + "/attempt.json")
	if err != nil {
		return false, artifact.UnlessMissing(err)
	}
	doc, err := codec.Parse(data)
	if err != nil || doc.Get("outcome").Str() != "accepted" {
		return false, nil
	}
	after, err := j.RetriedAfter(jobID)
	return after < last, err
}

// RetriedAfter is the number of the last attempt that does not count any more,
// 0 when all do: a person gave the job its tries again, or replanned the wave.
func (j Jobs) RetriedAfter(jobID string) (int, error) {
	data, err := j.folder.Read(Retried(jobID))
	if err != nil {
		return 0, artifact.UnlessMissing(err)
	}
	doc, err := codec.ParseFile("path", j.path(Retried(jobID)), data)
	if err != nil {
		return 0, err
	}
	after, _ := doc.Get("after").Int()
	return int(after), nil
}

// ForgetAttempts stages that the attempts at a job so far do not count, and that
// nobody holds it. Note is for the next agent, "" for none.
func (u *Update) ForgetAttempts(jobID, note string) error {
	has, err := u.run.Jobs().Of(jobID)
	if err != nil || len(has.Attempts) == 0 {
		return err
	}
	if has.Leased {
		u.Remove(LeaseFile(jobID))
	}
	return u.WriteJSON(Retried(jobID), RetryDocument(jobID, has.Attempts[len(has.Attempts)-1], note, u.now))
}

// RetryDocument says that the attempts at a job up to one of them do not count any
// more.
func RetryDocument(jobID string, after int, note, at string) tidegate.Details {
	return tidegate.Pairs("schema_version", "job_retry.v1", "job_id", jobID, "after", after, "note", Note(note), "granted_at", at)
}

// LastTools are the tools that agents of the home of a run, or of a code change,
// used last, by job. It is empty where no home drives what lies in the folder.
func LastTools(folder *artifact.Folder) map[string]string {
	note, _, err := folder.Claimed(ToolsFile)
	tools := map[string]string{}
	if err != nil {
		return tools
	}
	for _, d := range note {
		if name, ok := d.Value.(*codec.Value); ok {
			tools[d.Key] = name.Str()
		}
	}
	return tools
}
