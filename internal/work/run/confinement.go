package run

import (
	"cmp"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// Confinement is how the agents of a run are kept, as its policy and its log have it. The
// zero value is for a run whose agents nobody here started.
type Confinement struct {
	Mode    string `json:"mode,omitzero"` // confined or unconfined
	System  string `json:"system,omitzero"`
	ABI     int    `json:"abi,omitzero"`     // of Landlock
	Network string `json:"network,omitzero"` // what agents reach by it, and how that holds
	By      string `json:"said_by,omitzero"` // ByWorker, or empty for this home itself
}

// ByWorker says that a machine other than the home's says how it kept an agent. Nothing
// shows whether that is so.
const ByWorker = "worker"

// The modes.
const (
	ModeConfined   = "confined"
	ModeUnconfined = "unconfined"
)

const confinementKey = "confinement"

// String says how agents were kept, in the words of plans and reports; "" for the zero
// value.
func (c Confinement) String() string { return c.In("") }

// In is [Confinement.String] in a language.
func (c Confinement) In(language string) string {
	if by := c.By; by != "" && c.Mode != "" {
		c.By = ""
		return evidence.Say(language, "Said by the worker: %s", c.In(language))
	}
	switch c.Mode {
	case "":
		return ""
	case ModeConfined:
		return evidence.Say(language, "Agents are confined to cells (%s, Landlock ABI %d; network: %s).", c.System, c.ABI, cmp.Or(c.Network, evidence.Say(language, "none")))
	}
	return evidence.Say(language, "Agents are not confined: they work with the rights of the person who starts them, on that person's files.")
}

// ConfinementIn is what a policy or a line of the log says of confinement; what it does not
// know for confined is unconfined.
func ConfinementIn(v *codec.Value) Confinement {
	c := Confinement{Mode: v.Get("mode").Str(), System: v.Get("system").Str(), Network: v.Get("network").Str(), ABI: int(integer(v.Get("abi")))}
	if v.Get("said_by").Str() != "" {
		c.By = ByWorker
	}
	if c.Mode != "" && c.Mode != ModeConfined {
		c.Mode = ModeUnconfined
	}
	return c
}

// SetConfinement stages how the agents of the run are kept from now on.
func (u *Update) SetConfinement(c Confinement) error {
	return u.editPolicy(EventConfinement, func(policy *codec.Value) tidegate.Details {
		policy.Set(confinementKey, codec.Of(c))
		return tidegate.Pairs("mode", c.Mode, "system", c.System, "abi", c.ABI, "network", c.Network, argsKey, tidegate.Pairs())
	})
}

// Confinements are all that the log says of how the agents of the run were kept, without
// repetitions, oldest first. It returns READ_FAILED.
func (r *Run) Confinements() ([]Confinement, error) {
	entries, err := r.EventsOf(EventCreated, EventConfinement, EventAnswered)
	if err != nil {
		return nil, err
	}
	list := []Confinement{}
	for _, e := range entries {
		said := e.Entry
		switch e.Event {
		case EventCreated:
			said = e.Entry.Get(argsKey).Get(confinementKey)
		case EventAnswered:
			said = e.Entry.Get(confinementKey)
		}
		c := ConfinementIn(said)
		repeated := len(list) > 0 && list[len(list)-1] == c || c.By != "" && slices.Contains(list, c)
		if c.Mode != "" && !repeated {
			list = append(list, c)
		}
	}
	return list, nil
}
