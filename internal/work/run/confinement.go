package run

import (
	"cmp"
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Confinement is how the agents of a run are kept, as its policy and its log have it. The
// zero value is for a run whose agents nobody here started.
type Confinement struct {
	Mode    string `json:"mode,omitzero"` // confined or unconfined
	System  string `json:"system,omitzero"`
	ABI     int    `json:"abi,omitzero"`     // of Landlock
	Network string `json:"network,omitzero"` // what agents reach by it, and how that holds
}

// The modes.
const (
	ModeConfined   = "confined"
	ModeUnconfined = "unconfined"
)

const confinementKey = "confinement"

// String says how agents were kept, in the words of plans and reports; "" for the zero
// value.
func (c Confinement) String() string {
	switch c.Mode {
	case "":
		return ""
	case ModeConfined:
		return fmt.Sprintf("Agents are confined to cells (%s, Landlock ABI %d; network: %s).", c.System, c.ABI, cmp.Or(c.Network, "none"))
	}
	return "Agents are not confined: they work with the rights of the person who starts them, on that person's files."
}

// ConfinementIn is what a policy or a line of the log says of confinement; what it does not
// know for confined is unconfined.
func ConfinementIn(v *codec.Value) Confinement {
	c := Confinement{Mode: v.Get("mode").Str(), System: v.Get("system").Str(), Network: v.Get("network").Str(), ABI: int(integer(v.Get("abi")))}
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
	entries, err := r.EventsOf(EventCreated, EventConfinement)
	if err != nil {
		return nil, err
	}
	list := []Confinement{}
	for _, e := range entries {
		said := e.Entry
		if e.Event == EventCreated {
			said = e.Entry.Get(argsKey).Get(confinementKey)
		}
		if c := ConfinementIn(said); c.Mode != "" && (len(list) == 0 || list[len(list)-1] != c) {
			list = append(list, c)
		}
	}
	return list, nil
}
