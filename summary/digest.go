package summary

import (
	"bufio"
	"crypto/sha256"
	"hash"

	"github.com/tidegate/tidegate/codec"
)

// inputs are what a pack is made from. Their digest is the inputs_digest.
type inputs struct {
	mode               Mode
	manifestDigest     string // of the canonical JSON
	perspectivesDigest string // likewise
	pool               *citationPool
	summaries          []made
}

const inputsSchema = "summary_pack_build.inputs.v1"

// digest is the digest of this object, in canonical JSON:
//
//	{"manifest_digest":…,"mode":…,"perspectives_digest":…,"schema":…,
//	 "summaries":{<perspective id>:<digest>,…},"validated_cids":[…]}
//
// It is written piece by piece, because the ids alone may be a million. A hash
// does not fail.
func (in inputs) digest() string {
	sum := sha256.New()
	write := func(parts ...string) {
		for _, part := range parts {
			_, _ = sum.Write([]byte(part))
		}
	}
	write(`{"manifest_digest":`, quoted(in.manifestDigest), `,"mode":`, quoted(string(in.mode)),
		`,"perspectives_digest":`, quoted(in.perspectivesDigest), `,"schema":`, quoted(inputsSchema), `,"summaries":`)
	summaries := codec.NewObject()
	for _, s := range in.summaries {
		summaries.Set(s.entry.PerspectiveID, codec.Of(s.entry.SummaryDigest))
	}
	canonical, err := codec.Canonical(summaries)
	if err != nil {
		panic("summary: " + err.Error())
	}
	write(string(canonical), `,"validated_cids":[`)
	in.writeCIDs(sum)
	write(`]}`)
	return codec.DigestOf(sum)
}

// writeCIDs writes the validated ids in byte order, without a copy of each.
func (in inputs) writeCIDs(sum hash.Hash) {
	out := bufio.NewWriter(sum)
	for i, ref := range in.pool.ids.sorted() {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		cid := in.pool.ids.text(ref)
		if !plain(cid) {
			_, _ = out.WriteString(quoted(string(cid)))
			continue
		}
		_ = out.WriteByte('"')
		_, _ = out.Write(cid)
		_ = out.WriteByte('"')
	}
	_ = out.Flush()
}

// quoted is a string in canonical JSON.
func quoted(s string) string {
	data, err := codec.Canonical(s)
	if err != nil {
		panic("summary: " + err.Error())
	}
	return string(data)
}

// plain reports whether a text stands in JSON as it is.
func plain(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
