package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/model"
	"github.com/tidegate/tidegate/internal/base/config"
)

// choose finds an agent where nobody named one: the first client that is installed and
// logged in, else the first service whose key is set, else a service that answers on
// this machine. It also returns why it was taken. A key that is set is a person's
// choice: whether it is right shows before anything is spent, and no other is tried in
// its place. A project's file has no say. It returns INVALID_ARGS with what
// to do where nothing is found.
func (e *Env) choose(ctx context.Context, wanted Wanted, loaded config.Config, cells driver.Cells) (name, why string, err error) {
	name, said, err := e.Installed(ctx, cells)
	if err != nil {
		return "", "", err
	}
	why = "it is installed and logged in"
	if name == "" && !slices.Contains(wanted.Roles, Implementer) {
		name, why, err = e.Answering(ctx, wanted.Model)
		if err != nil {
			return "", "", err
		}
	}
	if name == "" {
		return "", "", nothingFound(wanted, said, loaded)
	}
	return name, fmt.Sprintf("No agent is named: %s does the work, because %s%s.", name, why, untrusted(loaded.Project, "driver")), nil
}

// untrusted says that a project's file has keys of these names that do not count
// before a person trusts it, as the end of a sentence; "" where it has none.
func untrusted(project *config.Source, names ...string) string {
	if !project.Waits(names...) {
		return ""
	}
	return "; what " + project.Path + " says of it does not count before `tidegate config trust`"
}

// orTrust is untrusted as a way out of an error.
func orTrust(project *config.Source, names ...string) tidegate.Details {
	if !project.Waits(names...) {
		return nil
	}
	return tidegate.Pairs("or trust what "+project.Path+" says of it", "tidegate config trust")
}

// Installed is the first client that is installed and logged in, "" where there is
// none, and what is wrong with those that are installed. It returns NOT_CONFINED where
// they cannot be kept in cells.
func (e *Env) Installed(ctx context.Context, cells driver.Cells) (name string, said []string, err error) {
	for _, each := range client.Clients() {
		d, err := client.New(driver.Settings{Driver: each.Name}, driver.Host{Environ: e.Environ, Cells: cells})
		if err != nil {
			return "", nil, err
		}
		_, err = driver.Check(ctx, d)
		if err == nil {
			return each.Name, nil, nil
		}
		if ctx.Err() != nil {
			return "", nil, tidegate.Errorf(tidegate.Cancelled, nil, "stopped while looking for an agent: %w", context.Cause(ctx))
		}
		var failure *driver.Error
		if !errors.As(err, &failure) {
			return "", nil, err
		}
		if failure.Message != each.Name+" is not installed" {
			said = append(said, failure.Message+": "+failure.Help)
		}
	}
	return "", said, nil
}

// Answering is the first service whose key is set, else one that answers on this
// machine, and why it was taken; "" where there is none.
func (e *Env) Answering(ctx context.Context, wanted string) (name, why string, err error) {
	for _, endpoint := range model.Endpoints() {
		if endpoint.KeyEnv != "" {
			if e.Variable(endpoint.KeyEnv) != "" {
				return endpoint.Driver, endpoint.KeyEnv + " is set", nil
			}
			continue
		}
		d, err := client.New(driver.Settings{Driver: endpoint.Driver, Model: wanted}, driver.Host{Environ: e.Environ})
		if err != nil {
			return "", "", err
		}
		_, err = driver.Check(ctx, d)
		if ctx.Err() != nil {
			return "", "", tidegate.Errorf(tidegate.Cancelled, nil, "stopped while looking for an agent: %w", context.Cause(ctx))
		}
		var failure *driver.Error
		if err == nil || errors.As(err, &failure) && failure.Code == tidegate.ModelRequired {
			return endpoint.Driver, endpoint.Title + " answers on this machine", nil
		}
	}
	return "", "", nil
}

// nothingFound is the error for a role without an agent, with every way to have one.
func nothingFound(wanted Wanted, said []string, loaded config.Config) error {
	problem := "no agent is installed, no key of a service is set, and no model answers on this machine"
	if slices.Contains(wanted.Roles, Implementer) {
		problem = "no agent that can change files is installed"
	}
	if len(said) > 0 {
		problem = "no agent that is installed can be used, no key of a service is set, and no model answers on this machine"
	}
	details := tidegate.Pairs("agent", nil)
	add := func(key string, value any) { details = append(details, tidegate.Pairs(key, value)...) }
	if len(said) > 0 {
		add("installed", said)
	}
	details = append(details, orTrust(loaded.Project, "driver")...)
	var clients, keys, local []string
	for _, each := range client.Clients() {
		clients = append(clients, each.Name+": "+each.Get)
	}
	for _, endpoint := range model.Endpoints() {
		if endpoint.KeyEnv != "" {
			keys = append(keys, "export "+endpoint.KeyEnv+"=…")
		} else {
			local = append(local, endpoint.Title+": "+endpoint.Help)
		}
	}
	add("install one and log in", clients)
	names := "`" + wanted.Flag + " …` names one"
	if !slices.Contains(wanted.Roles, Implementer) {
		add("or set the key of a service", keys)
		add("or start a model on this machine", local)
		add("or name an endpoint", wanted.Flag+" model:http://127.0.0.1:11434/v1")
	}
	if wanted.Flag == "--agent" {
		add("or look at a finished run, without any agent", "tidegate demo")
		names = "`tidegate setup` asks what to use, and `--agent …` names it"
	}
	if wanted.Flag == "--reviewer" {
		add("or review without any agent", "`tidegate review prompt ID` prints what a reviewer is asked, `tidegate review create FILE` takes the answer")
	}
	return tidegate.Errorf(tidegate.InvalidArgs, append(details, Unavailable(problem)...), "%s; %s", problem, names)
}

// Unavailable says in the details of an error why agents could not work, so that a job
// in CI can tell it from a review that somebody has to look at.
func Unavailable(why string) tidegate.Details { return tidegate.Pairs("unavailable", why) }
