package wave

import (
	"github.com/tidegate/tidegate/internal/base/codec"
)

// PerspectivesVersion is the schema_version of a document of perspectives.
const PerspectivesVersion = "perspectives.v1"

// PerspectivesShape is the table of perspectives.v1.
func PerspectivesShape() codec.Shape {
	id := codec.Ruled("1 to 128 bytes of UTF-8, unique; no /, \\, control character, leading dot or white space at its ends", IDFault)
	contract := codec.Table(
		codec.Field{Name: "max_words", Shape: codec.NumberFrom(0), About: "most words an output may have; every token between white space counts"},
		codec.Field{Name: "max_sources", Shape: codec.NumberFrom(0), About: "most lines the Sources section may have"},
		codec.Field{Name: "must_include_sections", Shape: codec.List(codec.NotBlank(), 0), About: "titles that must occur as top-level headings"},
		codec.Field{Name: "tool_budget", Shape: codec.MapOf(codec.NumberFrom(0)), About: "most calls of each tool"},
	)
	return codec.Table(
		codec.Field{Name: "schema_version", Shape: codec.Version(PerspectivesVersion)},
		codec.Field{Name: "run_id", Shape: codec.NotBlank()},
		codec.Field{Name: "created_at", Shape: codec.NotBlank()},
		codec.Field{Name: "perspectives", Shape: codec.List(codec.Table(
			codec.Field{Name: "id", Shape: id, About: "becomes the name of the output file"},
			codec.Field{Name: "title", Shape: codec.NotBlank()},
			codec.Field{Name: "agent_type", Shape: codec.NotBlank()},
			codec.Field{Name: "track", Shape: codec.OneOf("standard", "independent", "contrarian")},
			codec.Field{Name: "prompt_contract", Shape: contract, About: "what an output must meet"},
			codec.Field{Name: "expected_platforms", Shape: codec.List(codec.Text(), 0), Optional: true},
			codec.Field{Name: "platform_requirements", Optional: true, Shape: codec.List(codec.Table(
				codec.Field{Name: "name", Shape: codec.NotBlank()},
				codec.Field{Name: "reason", Shape: codec.NotBlank()},
			), 0)},
			codec.Field{Name: "tool_policy", Optional: true, Shape: codec.Table(
				codec.Field{Name: "primary", Shape: codec.List(codec.Text(), 0), Optional: true},
				codec.Field{Name: "secondary", Shape: codec.List(codec.Text(), 0), Optional: true},
				codec.Field{Name: "forbidden", Shape: codec.List(codec.Text(), 0), Optional: true},
			)},
			codec.Field{Name: "source_artifact", Shape: codec.NotBlank(), Optional: true, About: "run-root-relative path of the output; default wave-1/<id>.md"},
		), 0)},
	)
}
