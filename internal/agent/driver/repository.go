package driver

import (
	"context"
	"path/filepath"
	"regexp"
	"sync"
)

// repositoryFolder is where an agent's own repository lies in its attempt's folder.
const repositoryFolder = "home/repository.git"

var commitID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`) })

// lendRepository gives an agent that works in a folder of a project a repository of
// its own: the project's objects to read, its commit as HEAD, no remote, and nothing
// of the project's configuration. What is committed there changes nothing. It returns
// the variables by which git finds it. Where there is no git, there is none.
func (h Host) lendRepository(ctx context.Context, f *folder, task Task, l *lodging) ([]string, error) {
	r := task.Repository
	if r == nil || h.Unconfined {
		return nil, nil
	}
	if !commitID().MatchString(r.Head) || !filepath.IsAbs(r.Objects) {
		return nil, failf(Unavailable, "the repository of the task is none")
	}
	version := "0"
	if r.Format == "sha256" {
		version = "1\n[extensions]\n\tobjectFormat = sha256"
	}
	for name, text := range map[string]string{
		"HEAD": r.Head + "\n", "config": "[core]\n\tbare = false\n\trepositoryFormatVersion = " + version + "\n",
		"objects/info/alternates": r.Objects + "\n", "refs/heads/.keep": "",
	} {
		if err := f.write(filepath.Join(repositoryFolder, name), []byte(text)); err != nil {
			return nil, failf(Unavailable, "the agent's repository cannot be made: %v", err)
		}
	}
	variables := []string{"GIT_DIR=" + f.in(repositoryFolder), "GIT_WORK_TREE=" + task.Folder, "GIT_CONFIG_NOSYSTEM=1"}
	path, err := find(h.Environ, "git")
	if err != nil {
		return nil, nil
	}
	c := l.command(path, []string{"read-tree", r.Head}, task.Folder)
	c.env, c.hand, c.cell.Listen = append(c.env, variables...), nil, nil
	a := &attempt{name: "git", task: Task{Limits: Limits{Deadline: probeLimit}}, stream: &text{}, output: DefaultAnswer, plain: true, now: h.Now, event: func(Event) {}}
	_, err = a.run(ctx, c, f)
	for _, name := range []string{"stdout", "stderr", "prompt"} {
		f.root.Remove(name)
	}
	if failure, ok := err.(*Error); ok && failure.Kind != Empty { // it has nothing to say
		return nil, failf(Unavailable, "the agent's repository cannot be made: %s", failure.Message)
	} else if !ok && err != nil {
		return nil, err
	}
	return variables, nil
}

// objects is the folder of the objects that the agent may read; "" for none.
func (t Task) objects() string {
	if t.Repository == nil {
		return ""
	}
	return t.Repository.Objects
}
