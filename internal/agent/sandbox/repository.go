package sandbox

import (
	"context"
	"path/filepath"
	"regexp"
	"sync"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// repositoryFolder is where an agent's own repository lies in its attempt's folder.
const repositoryFolder = "home/repository.git"

var commitID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`) })

// lendRepository gives an agent that works in a folder of a project a repository of
// its own: the project's objects to read, its commit as HEAD, no remote, and nothing
// of the project's configuration. What is committed there changes nothing. It returns
// the variables by which git finds it. Where there is no git, there is none.
func (m Machine) lendRepository(ctx context.Context, f *Folder, task driver.Task, l *Sandbox) ([]string, error) {
	r := task.Repository
	if r == nil || m.Unconfined {
		return nil, nil
	}
	if !commitID().MatchString(r.Head) || !filepath.IsAbs(r.Objects) {
		return nil, driver.Failf(driver.Unavailable, "the repository of the task is none")
	}
	version := "0"
	if r.Format == "sha256" {
		version = "1\n[extensions]\n\tobjectFormat = sha256"
	}
	for name, text := range map[string]string{
		"HEAD": r.Head + "\n", "config": "[core]\n\tbare = false\n\trepositoryFormatVersion = " + version + "\n",
		"objects/info/alternates": r.Objects + "\n", "refs/heads/.keep": "",
	} {
		if err := f.Write(filepath.Join(repositoryFolder, name), []byte(text)); err != nil {
			return nil, driver.Failf(driver.Unavailable, "the agent's repository cannot be made: %v", err)
		}
	}
	variables := []string{"GIT_DIR=" + f.In(repositoryFolder), "GIT_WORK_TREE=" + task.Folder, "GIT_CONFIG_NOSYSTEM=1"}
	path, err := Find(m.Environ, "git")
	if err != nil {
		return nil, nil
	}
	c := l.Command(path, []string{"read-tree", r.Head}, task.Folder)
	c.Env, c.handover, c.cell.Listen = append(c.Env, variables...), nil, nil
	a := &Attempt{Name: "git", Task: driver.Task{Limits: driver.Limits{Deadline: ProbeLimit}}, Stream: &Text{}, Output: driver.DefaultAnswer, Plain: true, Now: m.Now, Event: func(driver.Event) {}}
	_, err = a.run(ctx, c, f)
	for _, name := range []string{"stdout", "stderr", "prompt"} {
		f.Root.Remove(name)
	}
	if failure, ok := err.(*driver.Error); ok && failure.Kind != driver.Empty { // it has nothing to say
		return nil, driver.Failf(driver.Unavailable, "the agent's repository cannot be made: %s", failure.Message)
	} else if !ok && err != nil {
		return nil, err
	}
	return variables, nil
}

// objectsOf is the folder of the objects that the agent may read; "" for none.
func objectsOf(t driver.Task) string {
	if t.Repository == nil {
		return ""
	}
	return t.Repository.Objects
}
