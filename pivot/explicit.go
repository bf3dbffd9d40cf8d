package pivot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// explicitGaps normalises stated gaps and checks them one by one, in the order
// given. It returns INVALID_ARGS, DUPLICATE_GAP_ID and INVALID_GAP_PRIORITY.
func explicitGaps(values []*codec.Value) ([]Gap, error) {
	gaps := make([]Gap, 0, len(values))
	taken := make(map[string]bool, len(values))
	for i, v := range values {
		g, err := readGap(fmt.Sprintf("explicit_gaps[%d]", i), v)
		if err != nil {
			return nil, err
		}
		if taken[g.ID] {
			return nil, tidegate.Errorf(tidegate.DuplicateGapID, tidegate.Pairs("gap_id", g.ID), "explicit_gaps has the gap %q twice", tidegate.Cut(g.ID))
		}
		taken[g.ID] = true
		priority := v.Get("priority")
		if !slices.Contains(Priorities, priority.Str()) {
			return nil, tidegate.Errorf(tidegate.InvalidGapPriority, tidegate.Pairs("gap_id", g.ID, "priority", quoted(priority)),
				"the priority of the gap %q must be one of %s", tidegate.Cut(g.ID), strings.Join(Priorities, ", "))
		}
		g.Priority = priority.Str()
		gaps = append(gaps, g)
	}
	return gaps, nil
}

// readGap reads all of a gap but its priority, which must only be there: what it
// may be has a code of its own.
func readGap(name string, v *codec.Value) (Gap, error) {
	g := Gap{Source: Explicit}
	if v.Kind() != codec.Object {
		return g, wrongValue(name, v, "must be an object")
	}
	if err := checkText(name+".gap_id", v.Get("gap_id")); err != nil {
		return g, err
	}
	g.ID = strings.TrimSpace(v.Get("gap_id").Str())
	if given(v, "priority") == nil {
		return g, wrongValue(name+".priority", nil, "must be one of "+strings.Join(Priorities, ", "))
	}
	if err := checkText(name+".text", v.Get("text")); err != nil {
		return g, err
	}
	g.Text = collapse(v.Get("text").Str())
	tags := given(v, "tags")
	if tags != nil && tags.Kind() != codec.Array {
		return g, wrongValue(name+".tags", tags, "must be an array of strings")
	}
	for i, tag := range tags.Elems() {
		if err := checkText(fmt.Sprintf("%s.tags[%d]", name, i), tag); err != nil {
			return g, err
		}
		g.Tags = append(g.Tags, strings.TrimSpace(tag.Str()))
	}
	g.Tags = tagSet(g.Tags)
	if from := given(v, "from_perspective_id"); from != nil {
		if err := checkText(name+".from_perspective_id", from); err != nil {
			return g, err
		}
		g.From = from.Str()
	}
	return g, nil
}

// given is a member of an object; null counts as absent.
func given(v *codec.Value, key string) *codec.Value {
	if member := v.Get(key); member.Kind() != codec.Null {
		return member
	}
	return nil
}
