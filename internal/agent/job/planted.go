package job

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/reading"
)

// Control is an error that was planted for a second reader.
type Control struct {
	Attempt  int    `json:"attempt"`
	Claim    int    `json:"claim" jsonschema:"its number in the prompt"`
	Sentence string `json:"sentence"`
	Verdict  string `json:"verdict" jsonschema:"what the reader said of it, empty without an answer; supported is a miss"`
}

// Controls are the errors that were planted in the attempts at a reading, from what these
// keep; nil while its round goes on, and for every other job. It returns JOB_NOT_FOUND
// and READ_FAILED.
func (b *Board) Controls(id string) ([]Control, error) {
	j, err := b.Job(id)
	if err != nil || j.Kind != verifyKind.name || !b.closed(&j) {
		return nil, err
	}
	claims, err := b.present().run.claims(j.round)
	if err != nil || claims == nil {
		return nil, err
	}
	shown := map[string]bool{}
	for i := range claims.Sentences {
		shown[reading.Shown(claims.Sentences[i].Text)] = true
	}
	var all []Control
	for _, a := range j.attempts {
		if a.ControlSeed == "" { // a person reads
			continue
		}
		prompt, err := b.Folder().Read(a.dir() + "/prompt.md")
		if tidegate.CodeOf(err) == tidegate.FileNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		said, err := b.verdictsOf(a)
		if err != nil {
			return nil, err
		}
		for i, sentence := range reading.SentencesOf(string(prompt)) {
			if !shown[sentence] {
				all = append(all, Control{a.Number, i + 1, sentence, said[int64(i+1)]})
			}
		}
	}
	return all, nil
}

// verdictsOf are those of the last answer of an attempt, by the number of the claim.
func (b *Board) verdictsOf(a *Attempt) (map[int64]string, error) {
	last, said := a.lastAnswer(), map[int64]string{}
	if last == nil {
		return said, nil
	}
	answer, err := b.Folder().Read(a.dir() + "/" + last.Answer)
	if err != nil {
		return nil, err
	}
	if doc, err := codec.Parse([]byte(AsJudged(a.Kind, answer))); err == nil {
		for _, v := range doc.Get("verdicts").Elems() {
			n, _ := v.Get("claim").Int()
			said[n] = v.Get("verdict").Str()
		}
	}
	return said, nil
}
