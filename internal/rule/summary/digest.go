package summary

import (
	"crypto/sha256"
	"io"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// inputs are what a pack is made from. Their digest is the inputs_digest.
type inputs struct {
	mode               Mode
	manifestDigest     string   // of the canonical JSON
	perspectivesDigest string   // likewise
	cids               []string // that may be cited, in byte order
	summaries          []made
}

const inputsSchema = "summary_pack_build.inputs.v1"

// digest is the digest of this object, in canonical JSON:
//
//	{"manifest_digest":…,"mode":…,"perspectives_digest":…,"schema":…,
//	 "summaries":{<perspective id>:<digest>,…},"validated_cids":[…]}
//
// The ids, which may be many, are written one by one. A hash does not fail.
func (in inputs) digest() string {
	summaries := make(tidegate.Details, 0, len(in.summaries))
	for _, s := range in.summaries {
		summaries = append(summaries, tidegate.Detail{Key: s.entry.PerspectiveID, Value: s.entry.SummaryDigest})
	}
	sum := sha256.New()
	write := func(text string) { _, _ = io.WriteString(sum, text) }
	write(`{"manifest_digest":` + canonical(in.manifestDigest) + `,"mode":` + canonical(in.mode) +
		`,"perspectives_digest":` + canonical(in.perspectivesDigest) + `,"schema":` + canonical(inputsSchema) +
		`,"summaries":` + canonical(summaries) + `,"validated_cids":[`)
	for i, cid := range in.cids {
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
		panic("summary: " + err.Error())
	}
	return string(data)
}
