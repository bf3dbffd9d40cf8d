package tool

import "github.com/tidegate/tidegate/internal/base/codec"

// portable is a schema in the spelling that every client takes. Some refuse the
// whole list of tools for a property whose schema is true, and some for a type
// that is a list; both have another spelling of the same meaning.
func portable(schema *codec.Value) *codec.Value {
	if schema.Kind() != codec.Object {
		return codec.NewObject()
	}
	properties := schema.Get("properties")
	for _, p := range properties.Members() {
		properties.Set(p.Key, portable(p.Value))
	}
	if items := schema.Get("items"); items != nil {
		schema.Set("items", portable(items))
	}
	if types := schema.Get("type"); types.Kind() == codec.Array {
		return oneBranchPerType(schema, types)
	}
	return schema
}

// oneBranchPerType splits a schema by its types. What describes the value stays
// with the whole, what constrains it goes to the branch that is not null.
func oneBranchPerType(schema, types *codec.Value) *codec.Value {
	whole, branches := codec.NewObject(), codec.Of([]any{})
	if about := schema.Get("description"); about != nil {
		whole.Set("description", about)
		schema.Delete("description")
	}
	for _, each := range types.Elems() {
		branch := codec.NewObject()
		branch.Set("type", each)
		if each.Str() != "null" {
			for _, m := range schema.Members() {
				if m.Key != "type" {
					branch.Set(m.Key, m.Value)
				}
			}
		}
		branches.Append(branch)
	}
	whole.Set("anyOf", branches)
	return whole
}
