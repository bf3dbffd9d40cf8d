package source

import "github.com/tidegate/tidegate/internal/base/codec"

// version is the schema_version of a line of the citation pool.
const version = "citation.v1"

// fields is the table of citation.v1: the type that a reader demands of each
// field, and the whole rule for writers.
var fields = []struct {
	name     string
	kind     codec.Kind
	optional bool
	shape    codec.Shape
	about    string
}{
	{"schema_version", codec.String, false, codec.Version(version), ""},
	{"normalized_url", codec.String, false, codec.NotBlank(), "the URL in its normal form; one record for each"},
	{"cid", codec.String, false, codec.NotBlank(), "what a citation [@cid] names"},
	{"url", codec.String, false, codec.NotBlank(), "the URL that was asked for, without secrets"},
	{"url_original", codec.String, false, codec.NotBlank(), "the URL as an output has it, without secrets"},
	{"status", codec.String, false, codec.OneOf(string(Valid), string(Paywalled), string(Blocked), string(Mismatch), string(Invalid)), "only valid and paywalled citations may be cited"},
	{"checked_at", codec.String, false, codec.NotBlank(), "when the URL was checked"},
	{"found_by", codec.Array, false, codec.List(foundByShape, 0), "where the URL was found"},
	{"notes", codec.String, false, codec.Text(), ""},
	{"http_status", codec.Number, true, codec.IntegerFrom(0).OrNull(), ""},
	{"title", codec.String, true, codec.Text().OrNull(), ""},
	{"publisher", codec.String, true, codec.Text().OrNull(), ""},
	{"evidence_snippet", codec.String, true, codec.Text().OrNull(), ""},
	{"rule", codec.String, true, codec.Text().OrNull(), "the rule of `citations rules` that decided on the status"},
	{"author", codec.String, true, codec.Text().OrNull(), ""},
	{"published", codec.String, true, codec.Text().OrNull(), "a date as far as the page gives one: 2021-03-04, 2021-03 or 2021"},
	{"same_as", codec.String, true, codec.Text().OrNull(), "the cid of the same page under another URL"},
	{"replaced_by", codec.String, true, codec.Text().OrNull(), "the URL that a person named as the evidence, without secrets"},
	{"attached", codec.Bool, true, codec.Truth().OrNull(), "the evidence is a file that a person attached"},
	{"identifier", codec.String, true, codec.Text().OrNull(), "of a paper or book: doi:10.1000/182, arxiv:2101.00001, pmid:31452104, isbn:9780306406157"},
	{"origin", codec.Object, true, originShape.OrNull(), "where the URL comes from: a result of a search, a link on a page, the person, the agent's client, or not known"},
	{"undated", codec.Bool, true, codec.Truth().OrNull(), "the run asks for sources since a day, and the page has no date"},
}

var foundByShape = codec.Table(
	codec.Field{Name: "wave", Shape: codec.IntegerFrom(1)},
	codec.Field{Name: "perspective_id", Shape: codec.NotBlank()},
	codec.Field{Name: "agent_type", Shape: codec.NotBlank()},
	codec.Field{Name: "artifact_path", Shape: codec.NotBlank(), About: "the output, relative to the run root"},
	codec.Field{Name: "source_line", Shape: codec.Anything(), Optional: true},
)

// The fields of a citation that a pool uses, as indices of fields.
var (
	fieldCID           = fieldOf("cid")
	fieldStatus        = fieldOf("status")
	fieldNormalizedURL = fieldOf("normalized_url")
	fieldURL           = fieldOf("url")
	fieldURLOriginal   = fieldOf("url_original")
)

func fieldOf(name string) int {
	for i, f := range fields {
		if f.name == name {
			return i
		}
	}
	panic("source: citation.v1 has no field " + name)
}

func fieldNames() []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

// Shape is the schema of citation.v1, one line of a citation pool.
func Shape() codec.Shape {
	list := make([]codec.Field, len(fields))
	for i, f := range fields {
		list[i] = codec.Field{Name: f.name, About: f.about, Optional: f.optional, Shape: f.shape}
	}
	return codec.Table(list...)
}
