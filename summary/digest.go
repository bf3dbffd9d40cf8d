package summary

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/tidegate/tidegate/codec"
)

// inputs are what a pack is made from. Their digest is the inputs_digest.
type inputs struct {
	mode               Mode
	manifestDigest     string // of the canonical JSON
	perspectivesDigest string // likewise
	pool               *Pool
	summaries          []made
}

const inputsSchema = "summary_pack_build.inputs.v1"

// digest is the digest of this object, in canonical JSON:
//
//	{"manifest_digest":…,"mode":…,"perspectives_digest":…,"schema":…,
//	 "summaries":{<perspective id>:<digest>,…},"validated_cids":[…]}
//
// It is written piece by piece, because the ids alone may be a million.
func (in inputs) digest() string {
	sum := sha256.New()
	write := func(parts ...string) {
		for _, part := range parts {
			_, _ = sum.Write([]byte(part)) // a hash does not fail
		}
	}
	write(`{"manifest_digest":`, quoted(in.manifestDigest), `,"mode":`, quoted(string(in.mode)),
		`,"perspectives_digest":`, quoted(in.perspectivesDigest), `,"schema":`, quoted(inputsSchema), `,"summaries":`)
	summaries := codec.NewObject()
	for _, s := range in.summaries {
		summaries.Set(s.id, codec.Of(s.digest))
	}
	canonical, err := codec.Canonical(summaries)
	if err != nil {
		panic("summary: " + err.Error())
	}
	write(string(canonical), `,"validated_cids":[`)
	in.writeCIDs(sum)
	write(`]}`)
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

func (in inputs) writeCIDs(sum hash.Hash) {
	for i, ref := range in.pool.ids.sorted() {
		if i > 0 {
			_, _ = sum.Write([]byte(","))
		}
		_, _ = sum.Write([]byte(quoted(string(in.pool.ids.text(ref)))))
	}
}

// quoted is a string in canonical JSON.
func quoted(s string) string {
	if plain(s) {
		return `"` + s + `"`
	}
	data, err := codec.Canonical(s)
	if err != nil {
		panic("summary: " + err.Error())
	}
	return string(data)
}

// plain reports whether a string stands in JSON as it is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
