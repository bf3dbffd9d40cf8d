package summary

import (
	"path"
	"strconv"

	"github.com/tidegate/tidegate/codec"
)

// Pack is a summary_pack.v1 document.
type Pack struct {
	SchemaVersion        string    `json:"schema_version"`
	RunID                string    `json:"run_id"`
	GeneratedAt          string    `json:"generated_at"`
	InputsDigest         string    `json:"inputs_digest"`
	Limits               Limits    `json:"limits"`
	Summaries            []Summary `json:"summaries"`
	TotalEstimatedTokens int       `json:"total_estimated_tokens"`
}

// Summary is one summary as a pack lists it.
type Summary struct {
	PerspectiveID  string  `json:"perspective_id"`
	SourceArtifact string  `json:"source_artifact"`
	SummaryMD      string  `json:"summary_md"`
	SummaryDigest  string  `json:"summary_digest"`
	KeyClaims      []Claim `json:"key_claims"`
}

// pack is the document for what a plan has made. It returns
// SCHEMA_VALIDATION_FAILED when it would not be a summary_pack.v1.
func (p *plan) pack(runID, now string) ([]byte, error) {
	doc := Pack{
		SchemaVersion: PackVersion, RunID: runID, GeneratedAt: now, InputsDigest: p.digest, Limits: p.limits,
		TotalEstimatedTokens: (p.total + 3) / 4,
	}
	for _, s := range p.made {
		doc.Summaries = append(doc.Summaries, Summary{
			PerspectiveID: s.id, SourceArtifact: s.source, SummaryMD: p.summaryName(s.id), SummaryDigest: s.digest, KeyClaims: s.claims,
		})
	}
	data, err := codec.MarshalFile(doc)
	if err != nil {
		return nil, err
	}
	return data, checkPack(data)
}

// checkPack returns SCHEMA_VALIDATION_FAILED unless data is a summary_pack.v1. It
// looks at one summary after the other, because there may be thousands.
func checkPack(data []byte) error {
	shape := PackShape()
	entry := shape.Elem("summaries")
	var last *codec.Value
	top, err := codec.ParseEach(data, "summaries", func(i int, elem *codec.Value) error {
		last = elem
		return entry.CheckAt("$.summaries["+strconv.Itoa(i)+"]", elem)
	})
	if err != nil {
		return err
	}
	if last != nil { // the list that the shape looks at is not empty
		top.Get("summaries").Append(last)
	}
	return shape.Check(top)
}

// summaryName is the name of a summary in the run's folder.
func (p *plan) summaryName(id string) string { return path.Join(p.summariesDir, id+".md") }
