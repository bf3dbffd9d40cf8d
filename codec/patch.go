package codec

// MergePatch is RFC 7396: objects merge, null removes, everything else
// replaces. Neither argument is changed; what the patch does not name keeps its
// place and its spelling.
func MergePatch(target, patch *Value) *Value {
	if patch.Kind() != Object {
		return patch.Clone()
	}
	out := NewObject()
	if target.Kind() == Object {
		out = target.Clone()
	}
	for _, m := range patch.Members() {
		if m.Value.Kind() == Null {
			out.Delete(m.Key)
		} else {
			out.Set(m.Key, MergePatch(out.Get(m.Key), m.Value))
		}
	}
	return out
}
