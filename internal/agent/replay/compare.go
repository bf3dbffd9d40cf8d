package replay

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// name is a line of the log as steps name it.
func (w *walk) name(l line) string { return fmt.Sprintf("line %d of the log: %s", l.number, l.kind) }

// ofTheLog are the fields that the log itself adds to a line; they follow from no
// rule.
var ofTheLog = []string{"ts", "run_id", "seq", "actor", "by", "who", "state", "clock", "prev", "kind", "event", "program", "tx"}

// ofTheRecord are the fields that can be compared only while manifest and gates are,
// byte for byte, what they were.
var ofTheRecord = []string{"manifest_digest", "gates_digest", "prev_digest", "patch_digest", "prev_revision", "new_revision", "evidence_digest"}

// packDigest is the field of a summary pack that covers the whole manifest.
const packDigest = "inputs_digest"

// samePack reports whether a summary pack is the one that the log has, except for
// the digest of what it was made from.
func (w *walk) samePack(digest string, again []byte) bool {
	kept, err := w.kept.Folder().Read(w.kept.Layout().SummaryPack)
	if err != nil || codec.DigestBytes(kept) != digest {
		return false
	}
	was, err := codec.Parse(kept)
	if err != nil {
		return false
	}
	made, err := codec.Parse(again)
	if err != nil {
		return false
	}
	made = made.Clone()
	made.Set(packDigest, was.Get(packDigest))
	data, err := codec.MarshalFile(made)
	return err == nil && codec.DigestBytes(data) == digest
}

// compareLines finds the line of the log for each line that was made again, and
// compares the two.
func (w *walk) compareLines(c change, again *rehearsed, given map[int]bool) {
	for _, made := range again.lines {
		if made.Get("event").Str() == string(run.EventFiles) {
			continue // its files are compared one by one
		}
		at := slices.IndexFunc(c.lines, func(l line) bool {
			return given[l.number] && l.kind == made.Get("kind").Str() && string(l.event) == made.Get("event").Str()
		})
		if at < 0 {
			w.step(w.name(c.lines[0]), "a line "+made.Get("kind").Str()+" belongs to it, and the log has none")
			continue
		}
		l := c.lines[at]
		given[l.number] = false
		w.step(w.name(l), w.lineDifference(l.entry, made, again.partial))
	}
}

func (w *walk) lineDifference(kept, made *codec.Value, partial bool) string {
	skip := func(key string) bool {
		ofTheManifest := slices.Contains(ofTheRecord, key) || key == packDigest && made.Get("kind").Str() == "summary_pack_build"
		ofTheLog := slices.Contains(ofTheLog, key) && (key != "by" || made.Get(key) == nil) // a move says who sent the run back
		return ofTheLog || !w.exact && ofTheManifest
	}
	for _, m := range made.Members() {
		if skip(m.Key) {
			continue
		}
		was := kept.Get(m.Key)
		if was == nil {
			return m.Key + " is missing"
		}
		if codec.Digest(was) != codec.Digest(m.Value) {
			return fmt.Sprintf("%s is %s and comes out as %s", m.Key, shown(was), shown(m.Value))
		}
	}
	for _, m := range kept.Members() {
		if signed := m.Key == "decision"; !partial && !signed && !skip(m.Key) && made.Get(m.Key) == nil {
			return m.Key + " is " + shown(m.Value) + " and does not come out"
		}
	}
	return ""
}

// compareFiles compares what a rule makes with the digests that the log has of it.
func (w *walk) compareFiles(c change, made map[string][]byte) {
	for _, name := range slices.Sorted(maps.Keys(made)) {
		data := made[name]
		if name == run.ManifestFile || name == w.kept.Layout().Gates {
			continue // their own lines have their digests
		}
		digest, named := c.files[name]
		switch {
		case !named && data == nil:
		case !named:
			w.step(name, "it is made again, and the log does not say that it was written")
		case data == nil && digest == "":
			w.step(name, "")
		case data == nil:
			w.step(name, "it was written, and is removed when it is done again")
		case codec.DigestBytes(data) == digest:
			w.step(name, "")
		case name == w.kept.Layout().SummaryPack && !w.exact && w.samePack(digest, data):
			w.step(name, "")
			w.leave("%s of %s: it covers a manifest of which the log keeps the digest only", packDigest, name)
		default:
			w.step(name, w.fileDifference(name, digest, data))
		}
	}
}

func (w *walk) fileDifference(name, digest string, again []byte) string {
	kept, err := w.kept.Folder().Read(name)
	if err != nil || codec.DigestBytes(kept) != digest {
		return "the log has " + digest + ", and " + codec.DigestBytes(again) + " comes out"
	}
	return firstDifference(kept, again)
}
