package codec

// MergePatch is RFC 7396: objects merge, null removes, everything else
// replaces. Neither argument is changed; what the patch does not name keeps its
// place and its spelling.
func MergePatch(target, patch *Value) *Value {
	if patch.Kind() != Object {
		return patch.Clone()
	}
	out := NewObject()
	for _, m := range target.Members() {
		if change := patch.Get(m.Key); change == nil {
			out.inner.add(m.Key, m.Value.Clone())
		} else if change.Kind() != Null {
			out.inner.add(m.Key, MergePatch(m.Value, change))
		}
	}
	for _, m := range patch.Members() {
		if m.Value.Kind() != Null && target.Get(m.Key) == nil {
			out.inner.add(m.Key, MergePatch(nil, m.Value))
		}
	}
	return out
}
