package run

import "github.com/tidegate/tidegate/codec"

// MergePatch is RFC 7396: objects merge, null removes, everything else
// replaces. Neither argument is changed; what the patch does not name keeps its
// place and its spelling.
func MergePatch(target, patch *codec.Value) *codec.Value {
	if patch.Kind() != codec.Object {
		return patch.Clone()
	}
	out := codec.NewObject()
	if target.Kind() == codec.Object {
		out = target.Clone()
	}
	for _, m := range patch.Members() {
		if m.Value.Kind() == codec.Null {
			out.Delete(m.Key)
		} else {
			out.Set(m.Key, MergePatch(out.Get(m.Key), m.Value))
		}
	}
	return out
}
