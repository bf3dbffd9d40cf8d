package synthesis

import (
	"crypto/sha256"
	"io"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

const packInputsSchema = "summary_pack_build.inputs.v1"

// Digest is the inputs_digest of the pack, the digest of this object in canonical
// JSON:
//
//	{"manifest_digest":…,"mode":…,"perspectives_digest":…,"schema":…,
//	 "summaries":{<perspective id>:<digest>,…},"validated_cids":[…]}
//
// The ids, which may be many, are written one by one. A hash does not fail.
func (s *Summaries) Digest(mode, manifestDigest, perspectivesDigest string) string {
	summaries := make(tidegate.Details, 0, len(s.Made))
	for _, m := range s.Made {
		summaries = append(summaries, tidegate.Detail{Key: m.PerspectiveID, Value: m.SummaryDigest})
	}
	sum := sha256.New()
	write := func(text string) { _, _ = io.WriteString(sum, text) }
	write(`{"manifest_digest":` + canonical(manifestDigest) + `,"mode":` + canonical(mode) +
		`,"perspectives_digest":` + canonical(perspectivesDigest) + `,"schema":` + canonical(packInputsSchema) +
		`,"summaries":` + canonical(summaries) + `,"validated_cids":[`)
	for i, cid := range s.Pool.CIDs() {
		if i > 0 {
			write(",")
		}
		write(canonical(cid))
	}
	write(`]}`)
	return codec.DigestOf(sum)
}

// canonical is a value that JSON can hold in canonical JSON.
func canonical(v any) string {
	data, err := codec.Canonical(v)
	if err != nil {
		panic("synthesis: " + err.Error())
	}
	return string(data)
}
