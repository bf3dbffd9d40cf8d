package synthesis

import (
	"github.com/tidegate/tidegate/internal/base/codec"
)

// packVersion is the schema_version of a summary pack.
const packVersion = "summary_pack.v1"

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
		codec.Field{Name: "schema_version", Shape: codec.Version(packVersion)},
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
