package research

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
)

// lastFile keeps, in the user's folder, which run was last driven on this machine
// and by whom. It names a command to start, so it lies beside the files that a person
// trusts: a home of runs may have come with somebody else's runs in it.
const lastFile = "last.json"

const lastVersion = "last.v1"

// last is what a person typed about the run that was last driven.
type last struct {
	SchemaVersion string `json:"schema_version"`
	Manifest      string `json:"manifest"`
	Dir           string `json:"dir"`   // in which it was typed: names of agents may be relative to it
	Where         string `json:"where"` // the machines that the agents work on
	Agent         string `json:"agent"` // with --agent, "" where none was
	Model         string `json:"model"` // with --model, "" where none was
	// What their cells have besides: --agent-read and --agent-network. That agents had no
	// cells is not kept: a person says that each time.
	Read    []string     `json:"read,omitempty"`
	Network cell.Network `json:"network,omitempty"`
	Address string       `json:"model_address,omitempty"`
}

var lastShape = codec.Table(
	codec.Field{Name: "schema_version", Shape: codec.Version(lastVersion)},
	codec.Field{Name: "manifest", Shape: codec.NotBlank()},
	codec.Field{Name: "dir", Shape: codec.Text()},
	codec.Field{Name: "where", Shape: codec.NotBlank()},
	codec.Field{Name: "agent", Shape: codec.Text()},
	codec.Field{Name: "model", Shape: codec.Text()},
	codec.Field{Name: "read", Shape: codec.List(codec.NotBlank(), 0), Optional: true},
	codec.Field{Name: "network", Shape: codec.Text(), Optional: true},
	codec.Field{Name: "model_address", Shape: codec.Text(), Optional: true},
)

// remember keeps that the run is driven by the team. The run does not need it, so
// it goes on where it cannot be kept.
func (s *session) remember(manifest string, c *dispatch.Team) {
	if s.ConfigDir == "" {
		return
	}
	where, agent, model, cells := c.KeptBy()
	data, err := codec.MarshalFile(last{lastVersion, manifest, s.Dir, where, agent, model, cells.Read, cells.Network, cells.Address})
	if err == nil {
		err = config.Places{User: s.ConfigDir}.Write("last", lastFile, data)
	}
	if err != nil {
		fmt.Fprintf(s.Call.Stderr, "tidegate: `tidegate run continue` will ask for the run: %s\n", report.OneLine(tidegate.AsError(err).Message))
	}
}

// lastDriven is the run that was last driven on this machine. It returns INVALID_ARGS
// where none is known, where it is in another home, and where its agents worked on other machines than those of e.
func lastDriven(e *dispatch.Env) (last, error) {
	missing := func(why string) error {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("RUN", nil), "RUN is missing: the run, by its id or its folder%s", why)
	}
	if e.ConfigDir == "" {
		return last{}, missing("")
	}
	doc, err := artifact.Everywhere.ReadJSON("last", filepath.Join(e.ConfigDir, lastFile))
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return last{}, missing("; none was driven here yet")
	}
	if err == nil {
		err = lastShape.Check(doc)
	}
	if err != nil {
		return last{}, missing("; the one that was last driven is not known: " + tidegate.AsError(err).Message)
	}
	kept := last{
		Manifest: doc.Get("manifest").Str(), Dir: doc.Get("dir").Str(), Where: doc.Get("where").Str(),
		Agent: doc.Get("agent").Str(), Model: doc.Get("model").Str(), Network: cell.Network(doc.Get("network").Str()), Address: doc.Get("model_address").Str(),
	}
	for _, path := range doc.Get("read").Elems() {
		kept.Read = append(kept.Read, path.Str())
	}
	if here := e.Workers.Place(); kept.Where != here {
		return last{}, missing(fmt.Sprintf("; the one that was last driven, %s, had its agents on %s", filepath.Dir(kept.Manifest), kept.Where))
	}
	if folder := filepath.Dir(kept.Manifest); filepath.Dir(folder) != filepath.Clean(e.Home) {
		return last{}, missing(fmt.Sprintf("; the one that was last driven, %s, is in another home", folder))
	}
	return kept, nil
}

// said tells a person which run is taken, and with which agents.
func (l last) said() string {
	agents := "the agents that it had"
	if l.Agent != "" {
		agents = "--agent " + report.ShellWord(l.Agent)
	}
	if l.Model != "" {
		agents += " --model " + report.ShellWord(l.Model)
	}
	agents += l.cells().Flags()
	return fmt.Sprintf("No run is named: %s was last driven here, with %s, in %s.", report.Visible(filepath.Dir(l.Manifest)), report.Visible(agents), report.Visible(l.Dir))
}

// orTyped is l with what the person typed this time.
func (l last) orTyped(agent, model string, cells dispatch.CellChoice) last {
	if agent != "" {
		l.Agent, l.Model = agent, ""
	}
	l.Model = cmp.Or(model, l.Model)
	l.Network, l.Address = cmp.Or(cells.Network, l.Network), cmp.Or(cells.Address, l.Address)
	if len(cells.Read) > 0 {
		l.Read = cells.Read
	}
	return l
}

func (l last) cells() dispatch.CellChoice {
	return dispatch.CellChoice{Read: l.Read, Network: l.Network, Address: l.Address}
}
