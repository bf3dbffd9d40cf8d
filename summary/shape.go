package summary

import "github.com/tidegate/tidegate/codec"

// The schema versions of the documents that this package reads and writes.
const (
	PackVersion     = "summary_pack.v1"
	CitationVersion = "citation.v1"
)

// The statuses of a citation that may be cited.
const (
	citationValid     = "valid"
	citationPaywalled = "paywalled"
)

// citationFields is the table of citation.v1: the type that a reader demands of
// each field, and the whole rule for those who write.
var citationFields = []struct {
	name     string
	kind     codec.Kind
	optional bool
	shape    codec.Shape
	about    string
}{
	{"schema_version", codec.String, false, codec.Version(CitationVersion), ""},
	{"normalized_url", codec.String, false, codec.NotBlank(), "the URL in its normal form; one record for each"},
	{"cid", codec.String, false, codec.NotBlank(), "what a citation [@cid] names"},
	{"url", codec.String, false, codec.NotBlank(), "the URL that was asked for, without secrets"},
	{"url_original", codec.String, false, codec.NotBlank(), "the URL as an output has it, without secrets"},
	{"status", codec.String, false, codec.OneOf(citationValid, citationPaywalled, "blocked", "mismatch", "invalid"), "only valid and paywalled citations may be cited"},
	{"checked_at", codec.String, false, codec.NotBlank(), "when the URL was checked"},
	{"found_by", codec.Array, false, codec.List(foundByShape, 0), "where the URL was found"},
	{"notes", codec.String, false, codec.Text(), ""},
	{"http_status", codec.Number, true, codec.IntegerFrom(0).OrNull(), ""},
	{"title", codec.String, true, codec.Text().OrNull(), ""},
	{"publisher", codec.String, true, codec.Text().OrNull(), ""},
	{"evidence_snippet", codec.String, true, codec.Text().OrNull(), ""},
}

var foundByShape = codec.Table(
	codec.Field{Name: "wave", Shape: codec.IntegerFrom(1)},
	codec.Field{Name: "perspective_id", Shape: codec.NotBlank()},
	codec.Field{Name: "agent_type", Shape: codec.NotBlank()},
	codec.Field{Name: "artifact_path", Shape: codec.NotBlank(), About: "the output, relative to the run root"},
	codec.Field{Name: "source_line", Shape: codec.Anything(), Optional: true},
)

// The fields of a citation that a build uses, as indices of citationFields.
var (
	fieldCID           = citationField("cid")
	fieldStatus        = citationField("status")
	fieldNormalizedURL = citationField("normalized_url")
	fieldURL           = citationField("url")
	fieldURLOriginal   = citationField("url_original")
)

func citationField(name string) int {
	for i, f := range citationFields {
		if f.name == name {
			return i
		}
	}
	panic("summary: citation.v1 has no field " + name)
}

// CitationShape is the schema of citation.v1, one line of a citation pool.
func CitationShape() codec.Shape {
	fields := make([]codec.Field, len(citationFields))
	for i, f := range citationFields {
		fields[i] = codec.Field{Name: f.name, About: f.about, Optional: f.optional, Shape: f.shape}
	}
	return codec.Table(fields...)
}

// PackShape is the schema of summary_pack.v1.
func PackShape() codec.Shape {
	claim := codec.Table(
		codec.Field{Name: "claim", Shape: codec.NotBlank(), About: "text of a list item or paragraph of the summary, without its citations, at most 200 characters"},
		codec.Field{Name: "citation_cids", Shape: codec.List(codec.NotBlank(), 1), About: "what it cites, in order of appearance"},
		codec.Field{Name: "confidence", Shape: codec.IntegerFrom(0), About: "from 0 to 100: 100 when every citation is valid, 60 when one is paywalled"},
	)
	entry := codec.Table(
		codec.Field{Name: "perspective_id", Shape: codec.NotBlank()},
		codec.Field{Name: "source_artifact", Shape: codec.NotBlank(), About: "the wave output, relative to the run root"},
		codec.Field{Name: "summary_md", Shape: codec.NotBlank(), About: "the summary, relative to the run root"},
		codec.Field{Name: "summary_digest", Shape: codec.NotBlank(), About: "sha256: and the hexadecimal digest of the summary's bytes"},
		codec.Field{Name: "key_claims", Shape: codec.List(claim, 0), About: "at most 20, in document order"},
	)
	return codec.Table(
		codec.Field{Name: "schema_version", Shape: codec.Version(PackVersion)},
		codec.Field{Name: "run_id", Shape: codec.NotBlank()},
		codec.Field{Name: "generated_at", Shape: codec.NotBlank()},
		codec.Field{Name: "inputs_digest", Shape: codec.NotBlank(), About: "over manifest, perspectives, validated citations and the bytes of the summaries"},
		codec.Field{Name: "limits", Shape: codec.Table(
			codec.Field{Name: "max_summary_kb", Shape: codec.NumberFrom(0), About: "largest summary, in units of 1,024 bytes"},
			codec.Field{Name: "max_total_summary_kb", Shape: codec.NumberFrom(0), About: "all summaries together, in units of 1,024 bytes"},
		)},
		codec.Field{Name: "summaries", Shape: codec.List(entry, 1), About: "in byte order of the perspective ids"},
		codec.Field{Name: "total_estimated_tokens", Shape: codec.IntegerFrom(0), About: "bytes of all summaries, divided by four and rounded up"},
	)
}
